"""The records of compare.json: what is compared, and what is said where a side is missing."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.analysis.compare.conftest import compared

from xlareport.analysis.compare.comparison import OptionChange
from xlareport.analysis.compare.time_changes import ComparedTimes
from xlareport.records.compare import ComparedRecord, ComparisonRecord, find_main

HLO = """HloModule jit_{name}

ENTRY %main (a: f32[4,4]) -> f32[4,4] {{
  %a = f32[4,4]{{1,0}} parameter(0)
  %d = f32[4,4]{{1,0}} dot(%a, %a), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT %r = f32[4,4]{{1,0}} {opcode}(%d)
}}
"""


def dump(folder: Path, *, given: bool = True, **opcodes: str) -> Path:
    folder.mkdir()
    for number, (name, opcode) in enumerate(opcodes.items()):
        stem = f"module_{number:04d}.jit_{name}"
        final = HLO.format(name=name, opcode=opcode)
        (folder / f"{stem}.cpu_after_optimizations.txt").write_text(final)
        if given:
            first = HLO.format(name=name, opcode="tanh")
            (folder / f"{stem}.before_optimizations.txt").write_text(first)
    return folder


def only(view: ComparisonRecord) -> ComparedRecord:
    (module,) = view.modules
    return module


def test_equal_dumps_are_identical(tmp_path: Path) -> None:
    view = compared(dump(tmp_path / "a", f="tanh"), dump(tmp_path / "b", f="tanh"))
    module = only(view)
    assert view.identical
    assert (module.identical, module.same, module.has_page) == (True, True, False)
    assert module.divergence.where == "nowhere"
    assert (module.operations, module.contrasts, view.causes) == ((), (), ())
    assert view.main is module
    assert (view.schema, view.breaches, view.unchecked) == (2, (), ())


def test_a_module_that_ends_otherwise_has_counts_operations_and_places(tmp_path: Path) -> None:
    view = compared(dump(tmp_path / "a", f="tanh"), dump(tmp_path / "b", f="negate"))
    module = only(view)
    assert (module.identical, module.same, module.has_page) == (False, False, True)
    assert {name: counts for name, *counts in module.counts} == {
        "dot": [1, 1],
        "negate": [0, 1],
        "parameter": [1, 1],
        "tanh": [1, 0],
    }
    assert module.opcodes == (("negate", 0, 1), ("tanh", 1, 0))
    assert [place.id for place in module.contrasts][-1] == "end"
    assert (module.not_optimized, module.only_optimized) == ((), ())
    ((kind, base, head),) = module.precisions
    assert (kind, base, head) == ("f32", 128, 128)


def test_dumps_of_the_end_alone_say_so(tmp_path: Path) -> None:
    module = only(
        compared(dump(tmp_path / "a", given=False, f="tanh"), dump(tmp_path / "b", f="negate"))
    )
    assert (module.only_optimized, module.divergence.where) == (("base",), "unknown")


@pytest.mark.parametrize(("side", "other"), [("base", "head"), ("head", "base")])
def test_a_module_of_one_side_has_no_key_and_no_figures_of_the_other(
    side: str, other: str, tmp_path: Path
) -> None:
    folders = {
        side: dump(tmp_path / "a", f="tanh", g="cosine"),
        other: dump(tmp_path / "b", f="tanh"),
    }
    view = compared(folders["base"], folders["head"])
    (alone,) = (module for module in view.modules if module.name == "jit_g")
    assert getattr(alone, other) is None
    assert getattr(alone, side) == "module_0001.jit_g"
    assert alone.slug.startswith("base-") == (side == "base")
    assert (alone.divergence.where, alone.divergence.base) == ("nowhere", None)
    assert alone.divergence.sentence.endswith(".")
    assert {name: count for name, *count in alone.counts}["cosine"] == (
        [1, 0] if side == "base" else [0, 1]
    )
    assert not view.identical


def test_the_main_program_is_that_of_the_head_else_of_the_base(tmp_path: Path) -> None:
    assert find_main([], ("a", "b")) is None
    view = compared(
        dump(tmp_path / "a", f="tanh", g="cosine"), dump(tmp_path / "b", f="tanh", g="cosine")
    )
    assert sum(module.main for module in view.modules) == 1


def test_a_page_is_made_where_there_is_anything_to_show(tmp_path: Path) -> None:
    module = only(compared(dump(tmp_path / "a", f="tanh"), dump(tmp_path / "b", f="tanh")))
    times = ComparedTimes(1, 1, 1.0, 1.0, "exact", 0, (), 0, ())
    assert replace(module, times=times).has_page
    assert replace(module, identical=False).has_page
    assert not replace(module, options=(OptionChange("x", None, "1"),)).has_page


def test_a_module_for_autotuning_without_a_counterpart_is_not_paired(tmp_path: Path) -> None:
    module = only(compared(dump(tmp_path / "a", f="tanh"), dump(tmp_path / "b", f="tanh")))
    assert not replace(module, extracted=True).not_paired
    assert replace(module, extracted=True, base=None).not_paired
    assert not replace(module, base=None).not_paired
