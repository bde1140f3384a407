"""Two modules side by side: which places are shown, and which snapshots are read for them."""

from pathlib import Path

from msgspec.structs import replace

from xlareport.analysis.compare.divergence import Divergence, Where
from xlareport.dump.grouping import group_source
from xlareport.dump.source import open_source
from xlareport.pages.compare.module_diff import (
    DiffSide,
    DiffTask,
    diff_modules,
    failed_diff,
)

HLO = """HloModule jit_f

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %t = f32[4]{0} tanh(%a)
  ROOT %r = f32[4]{0} negate(%t)
}
"""
OTHER = HLO.replace("tanh", "sine")
STAGES = (
    "before_optimizations",
    "0001.fusion.after_dce.before_cse",
    "0002.fusion.after_cse.before_end",
    "cpu_after_optimizations",
)
COMPILED = Divergence(Where.PASS, 2, 2, (1, 1))


def side(folder: Path, *texts: str) -> DiffSide:
    folder.mkdir()
    for stage, text in zip(STAGES, texts, strict=True):
        (folder / f"module_0000.jit_f.{stage}.txt").write_text(text)
    with open_source(folder) as source:
        (files,) = group_source(source).grouped.modules
    return DiffSide(files, files.stages, len(files.stages) - 1)


def task(tmp_path: Path, divergence: Divergence, *head: str) -> DiffTask:
    base = side(tmp_path / "a", HLO, HLO, HLO, HLO)
    given = divergence.where is Where.INPUT
    return DiffTask(
        base,
        side(tmp_path / "b", *head),
        "jit_f",
        divergence,
        inputs_differ=given,
        ends_differ=head[-1] != HLO,
    )


def test_a_program_that_differs_is_shown_as_given_and_at_the_end(tmp_path: Path) -> None:
    shown = diff_modules(task(tmp_path, Divergence(Where.INPUT, 0, 0), *[OTHER] * 4))
    assert [(row.id, row.label) for row in shown.rows] == [
        ("given", "before_optimizations"),
        ("end", "after_optimizations"),
    ]
    assert shown.rows[0].headline.startswith("The head ")
    assert (shown.problem, shown.slug) == ("", "jit_f")
    assert any(request.drawings for request in shown.requests)


def test_compilations_are_shown_where_they_part(tmp_path: Path) -> None:
    shown = diff_modules(task(tmp_path, COMPILED, HLO, HLO, OTHER, OTHER))
    assert [row.id for row in shown.rows] == ["parted", "base", "head", "end"]
    parted, base, head, _ = shown.rows
    assert parted.label.startswith("First divergence: ")
    assert base.label.startswith("Changes in the base: ")
    assert head.headline.startswith("The compiler ")
    assert (base.added, base.removed, base.modified) == (0, 0, 0)
    assert head.added + head.removed + head.modified > 0


def test_ends_that_are_equal_are_not_shown(tmp_path: Path) -> None:
    shown = diff_modules(task(tmp_path, COMPILED, HLO, HLO, OTHER, HLO))
    assert [row.id for row in shown.rows] == ["parted", "base", "head"]


def test_a_step_of_a_pass_is_shown_with_its_side(tmp_path: Path) -> None:
    asked = replace(task(tmp_path, COMPILED, HLO, HLO, OTHER, OTHER), passes=(("head", 2),))
    row = diff_modules(asked).rows[3]
    assert row.id == "pass-head-2"
    assert row.label.endswith(" in the head")


def test_the_snapshots_that_are_read_are_those_of_the_places(tmp_path: Path) -> None:
    parted = task(tmp_path, COMPILED, HLO, HLO, OTHER, OTHER)
    assert parted.shown() == ({1, 2, 3}, {1, 2, 3})
    assert replace(parted, passes=(("base", 1),)).shown()[0] == {0, 1, 2, 3}
    given = replace(parted, inputs_differ=True, divergence=Divergence(Where.INPUT, 0, 0))
    assert given.shown() == ({0, 3}, {0, 3})
    assert [*parted.base.read([1, None])] == [1, 3]


def test_files_that_were_restored_take_the_place_of_others(tmp_path: Path) -> None:
    base = task(tmp_path, COMPILED, HLO, HLO, OTHER, OTHER).base
    old = base.stages[0].artifacts[0]
    new = replace(old)
    restored = base.with_texts({old.path: new})
    assert restored.stages[0].artifacts[0] is new
    assert restored.stages[1:] == base.stages[1:]


def test_a_pair_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    asked = task(tmp_path, COMPILED, HLO, HLO, OTHER, OTHER)
    lost = replace(asked, base=replace(asked.base, stages=()))
    shown = diff_modules(lost)
    assert shown.rows == ()
    assert shown.problem.startswith("module_0000.jit_f could not be compared: ")
    assert failed_diff(asked, "no reason").problem.endswith("compared: no reason.")
