"""Another compiler: the clearest sign of it, from builds in names down to another result."""

from pathlib import Path

import pytest
from tests.analysis.compare.conftest import compared

from xlareport.analysis.compare.causes import Cause
from xlareport.analysis.compare.comparison import Comparison
from xlareport.analysis.compare.compilers import diverges_at_autotuning, find_other_compiler
from xlareport.analysis.compare.divergence import Divergence, SnapshotDigest, Where
from xlareport.analysis.compare.module_pairing import ModulePair
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
