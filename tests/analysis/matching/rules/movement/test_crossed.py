"""Moves that read what another move made before it passed something."""

from collections.abc import Callable, Iterable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import StepChange, step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


def _module(lines: Iterable[str]) -> str:
    return "\n".join(
        (
            "ENTRY %main (a: f32[4,2], b: f32[4,2], c: f32[4,2]) -> f32[4,2] {",
            "  %a = f32[4,2]{1,0} parameter(0)",
            "  %b = f32[4,2]{1,0} parameter(1)",
            "  %c = f32[4,2]{1,0} parameter(2)",
            *lines,
            "}\n",
        )
    )


_SUMS = (
    _module(
        (
            "  %flat.1 = f32[8]{0} reshape(%a)",
            "  %flat.2 = f32[8]{0} reshape(%b)",
            "  %sub.1 = f32[8]{0} subtract(%flat.1, %flat.2)",
            "  %wide.1 = f32[4,2]{1,0} reshape(%sub.1)",
            "  %sub.2 = f32[4,2]{1,0} subtract(%wide.1, %c)",
            "  ROOT %out = f32[4,2]{1,0} sine(%sub.2)",
        )
    ),
    _module(
        (
            "  %sub.3 = f32[4,2]{1,0} subtract(%a, %b)",
            "  %flat.3 = f32[8]{0} reshape(%sub.3)",
            "  %flat.4 = f32[8]{0} reshape(%c)",
            "  %sub.4 = f32[8]{0} subtract(%flat.3, %flat.4)",
            "  %wide.2 = f32[4,2]{1,0} reshape(%sub.4)",
            "  ROOT %out = f32[4,2]{1,0} sine(%wide.2)",
        )
    ),
)
_CONVERTS = (
    _module(
        (
            "  %both = f32[4,4]{1,0} concatenate(%a, %b), dimensions={1}",
            "  %narrow = bf16[4,4]{1,0} convert(%both)",
            "  %turned = bf16[4,4]{0,1} transpose(%narrow), dimensions={1,0}",
            "  %again = f32[4,4]{1,0} convert(%narrow)",
            "  %flat = f32[16]{0} reshape(%again)",
            "  ROOT %out = (f32[16]{0}, bf16[4,4]{0,1}) tuple(%flat, %turned)",
        )
    ),
    _module(
        (
            "  %left = bf16[4,2]{1,0} convert(%a)",
            "  %right = bf16[4,2]{1,0} convert(%b)",
            "  %both.1 = bf16[4,4]{1,0} concatenate(%left, %right), dimensions={1}",
            "  %turned = bf16[4,4]{0,1} transpose(%both.1), dimensions={1,0}",
            "  %flat.1 = bf16[16]{0} reshape(%both.1)",
            "  %again.1 = f32[16]{0} convert(%flat.1)",
            "  ROOT %out = (f32[16]{0}, bf16[4,4]{0,1}) tuple(%again.1, %turned)",
        )
    ),
)


def _moves(made: StepChange) -> dict[str, tuple[str, str]]:
    """Return what moved past something, with its new name and the reason."""
    return {
        change.before.instruction: (change.after.instruction, str(change.reason))
        for change in made.changes
        if change.kind is Kind.SWAPPED and change.before and change.after
    }


def test_a_reshape_that_reads_what_another_passed_is_moved(read: Read) -> None:
    moves = _moves(step(read(_SUMS[0]), read(_SUMS[1])))
    assert moves["wide.1"] == ("wide.2", "past %sub.2")
    assert moves["flat.1"] == ("flat.3", "past %sub.1")


def test_the_reverse_is_a_move_too(read: Read) -> None:
    moves = _moves(step(read(_SUMS[1]), read(_SUMS[0])))
    assert moves["wide.2"] == ("wide.1", "past %sub.4")


def test_a_convert_of_a_convert_that_moved_moves_past_a_reshape(read: Read) -> None:
    made = step(read(_CONVERTS[0]), read(_CONVERTS[1]))
    moves = _moves(made)
    assert moves["again"] == ("again.1", "past %flat")
    gone = {change.before.instruction for change in made.removed if change.before}
    assert gone.isdisjoint({"again", "flat"})


@pytest.mark.parametrize("texts", [_SUMS, _CONVERTS], ids=["sums", "converts"])
def test_the_growth_is_what_is_added_less_what_is_removed(
    texts: tuple[str, str], read: Read
) -> None:
    before, after = map(read, texts)
    made = step(before, after)
    growth = after.instruction_count - before.instruction_count
    assert len(made.added) - len(made.removed) == growth


def test_what_reads_the_moved_value_itself_is_no_move_of_it(read: Read) -> None:
    other = _SUMS[1].replace("subtract(%flat.3, %flat.4)", "subtract(%flat.4, %flat.4)")
    matching = match(read(_SUMS[0]), read(other))
    moved = [
        item for item in matching.pairings if "wide.1" in {at.instruction for at in item.before}
    ]
    assert all("past" not in str(item.reason) for item in moved)
