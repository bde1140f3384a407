"""Another compiler: the clearest sign of it, from builds in names down to another result."""

from pathlib import Path

import pytest
from tests.analysis.compare.conftest import compared

from xlareport.analysis.compare.causes import Cause
from xlareport.analysis.compare.comparison import Comparison
from xlareport.analysis.compare.compilers import diverges_at_autotuning, find_other_compiler
from xlareport.analysis.compare.divergence import Divergence, SnapshotDigest, Where
from xlareport.analysis.compare.module_pairing import ModulePair
from xlareport.hlo.protos.schema import message_class
from xlareport.knowledge.grades import Grade

HLO = """HloModule jit_f

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0), metadata={op_name="x"}
  ROOT %t = f32[8]{0} tanh(%x), metadata={op_name="jit(f)/tanh"}
}
"""
OTHER = HLO.replace("tanh(", "sine(")
OPTIONS = "xla_backend_optimization_level: 1\n"


def dump(
    folder: Path, *begun: str, final: str = HLO, options: str = OPTIONS, build: str = ""
) -> Path:
    """Return a dump whose pipelines begin with these passes: `fusion: dce`."""
    folder.mkdir()
    stem = f"module_0001.jit_f.{build}"
    texts = {"before_optimizations.txt": HLO, "cpu_after_optimizations.txt": final}
    for number, (pipeline, first) in enumerate(pair.split(": ") for pair in begun):
        name = f"{number + 1:04d}.{pipeline}.after_pipeline-start.before_{first}.txt"
        texts[name] = HLO
    if options:
        texts["debug_options"] = options
    for ending, text in texts.items():
        (folder / f"{stem}{ending}").write_text(text)
    return folder


def compiler(base: Path, head: Path) -> Cause | None:
    causes = compared(base, head).causes
    return next((cause for cause in causes if cause.kind == "compiler"), None)


def test_equal_dumps_are_of_one_compiler(tmp_path: Path) -> None:
    base, head = dump(tmp_path / "a", "fusion: dce"), dump(tmp_path / "b", "fusion: dce")
    assert compiler(base, head) is None
    assert find_other_compiler([]) is None


def test_builds_in_names_are_exact(tmp_path: Path) -> None:
    base, head = (
        dump(tmp_path / side, build=f"cl_{build}.", final=final)
        for side, build, final in (("a", 800000001, HLO), ("b", 800000002, OTHER))
    )
    cause = compiler(base, head)
    assert cause is not None
    assert (cause.grade, cause.base, cause.head) == (Grade.EXACT, "cl_800000001", "cl_800000002")


def test_one_build_is_one_compiler_whatever_it_made(tmp_path: Path) -> None:
    base, head = (
        dump(tmp_path / side, f"fusion: {first}", build="cl_800000001.", final=final)
        for side, first, final in (("a", "dce", HLO), ("b", "cse", OTHER))
    )
    assert compiler(base, head) is None


def test_a_pipeline_that_begins_otherwise_is_a_sign(tmp_path: Path) -> None:
    base = dump(tmp_path / "a", "fusion: dce")
    cause = compiler(base, dump(tmp_path / "b", "fusion: cse", final=OTHER))
    assert cause is not None
    assert (cause.subject, cause.base, cause.head) == ("fusion", "dce", "cse")
    assert cause.grade is Grade.MATCHED


def test_a_pass_that_was_disabled_is_none(tmp_path: Path) -> None:
    disabled = f'{OPTIONS}xla_disable_hlo_passes: "dce"\n'
    base = dump(tmp_path / "a", "fusion: dce")
    cause = compiler(base, dump(tmp_path / "b", "fusion: cse", final=OTHER, options=disabled))
    assert cause is None or cause.subject != "fusion"


def test_pipelines_of_one_side_are_a_guess(tmp_path: Path) -> None:
    base = dump(tmp_path / "a", "fusion: dce", "layout: dce", "remat: dce")
    cause = compiler(base, dump(tmp_path / "b", "fusion: dce", final=OTHER))
    assert cause is not None
    assert (cause.grade, cause.base) == (Grade.GUESSED, "layout, remat")


@pytest.mark.parametrize("options", [OPTIONS, ""])
def test_another_result_is_a_sign_only_where_the_options_are_known(
    options: str, tmp_path: Path
) -> None:
    base = dump(tmp_path / "a", "fusion: dce", options=options)
    cause = compiler(base, dump(tmp_path / "b", "fusion: dce", final=OTHER, options=options))
    assert (cause is not None) == bool(options)


@pytest.mark.parametrize(
    ("after", "picked"), [("gemm-algorithm-picker", True), ("autotuner", True), ("dce", False)]
)
def test_compilations_that_part_where_kernels_are_timed(after: str, *, picked: bool) -> None:
    digest = SnapshotDigest("0001", "", b"", "fusion", after, None, b"")
    pair = ModulePair(0, 0, Grade.EXACT, "same name")
    comparison = Comparison(pair, None, None, Divergence(Where.PASS, 0, 0))
    assert not diverges_at_autotuning(comparison)
    side = Sided((digest,))
    assert diverges_at_autotuning(Comparison(pair, side, side, comparison.divergence)) is picked  # type: ignore[arg-type]


class Sided:
    """A side of a comparison, with its snapshots alone."""

    def __init__(self, snapshots: tuple[SnapshotDigest, ...]) -> None:
        self.snapshots = snapshots


TABLES = """
FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
"""


def as_proto() -> bytes:
    shape = {"element_type": 11, "dimensions": [8], "layout": {"minor_to_major": [0]}}
    lines = [
        {"name": b"x", "opcode": b"parameter", "id": 1, "shape": shape},
        {"name": b"t", "opcode": b"tanh", "id": 2, "operand_ids": [1], "shape": shape},
    ]
    lines[1]["metadata"] = {"op_name": b"jit(f)/tanh"}
    main = {"name": b"main", "id": 5, "root_id": 2, "instructions": lines}
    module = {"name": b"jit_f", "entry_computation_id": 5, "computations": [main]}
    return bytes(message_class("HloProto")(hlo_module=module).SerializeToString())


def test_stack_frames_tell_compilers_apart_only_in_one_form(tmp_path: Path) -> None:
    """A text of jaxlib 0.4.30 has none, and the proto of the same compilation has them."""
    framed = HLO.replace("jit_f\n", f"jit_f\n{TABLES}", 1)
    base, head, proto = (dump(tmp_path / side, options="") for side in "abp")
    (base / "module_0001.jit_f.before_optimizations.txt").write_text(framed)
    cause = compiler(base, head)
    assert cause is not None
    assert "only one side has stack frames" in cause.sentence
    (proto / "module_0001.jit_f.before_optimizations.txt").unlink()
    (proto / "module_0001.jit_f.before_optimizations.hlo.pb").write_bytes(as_proto())
    assert compiler(base, proto) is None
