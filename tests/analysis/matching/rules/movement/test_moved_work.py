"""Elementwise work on a result that is done on an operand now."""

from collections.abc import Callable

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_TEMPLATE = """
%sum (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] add(%p, %q)
}

ENTRY %main (x: f32[9,8], i: s32[4,1], u: f32[4,8]) -> f32[9,8] {
  %x = f32[9,8]{1,0} parameter(0)
  %i = s32[4,1]{1,0} parameter(1)
  %u = f32[4,8]{1,0} parameter(2)
  %zero = f32[] constant(0)
  %zeros = f32[9,8]{1,0} broadcast(%zero), dimensions={}
LINES
}
"""
_NUMBERS = (
    ", update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
    "index_vector_dim=1, to_apply=%sum"
)


def _module(*lines: str) -> str:
    return _TEMPLATE.replace("LINES", "\n".join(f"  {line}" for line in lines))


_BEFORE = _module(
    "%there = f32[9,8]{1,0} scatter(%zeros, %i, %u)" + _NUMBERS,
    "%total = f32[9,8]{1,0} add(%x, %there)",
    "ROOT %out = f32[9,8]{1,0} tanh(%total)",
)
_AFTER = _module(
    "%add.1 = f32[9,8]{1,0} add(%x, %zeros)",
    "%there = f32[9,8]{1,0} scatter(%add.1, %i, %u)" + _NUMBERS,
    "ROOT %out = f32[9,8]{1,0} tanh(%there)",
)


def test_an_add_that_is_before_the_scatter_now_moved_past_it(read: Read) -> None:
    """It gives another value now, and the scatter what the add gave."""
    made = step(read(_BEFORE), read(_AFTER), "`algsimp`")
    moved = [change for change in made.changes if change.kind is Kind.SWAPPED]
    assert [(str(change.before), str(change.reason)) for change in moved] == [
        ("main/%total", "past %there")
    ]
    assert "moved 1 add past other instructions" in made.headline


def test_it_may_be_what_the_module_gives(read: Read) -> None:
    before = _BEFORE.replace("%total =", "ROOT %total =").replace("  ROOT %out", "  %out")
    after = _AFTER.replace("%there =", "ROOT %there =").replace("  ROOT %out", "  %out")
    made = step(read(before), read(after), "`algsimp`")
    assert Kind.SWAPPED in {change.kind for change in made.changes}


def test_an_add_whose_result_the_scatter_does_not_give_did_not_move(read: Read) -> None:
    after = _AFTER.replace("tanh(%there)", "tanh(%add.1)")
    made = step(read(_BEFORE), read(after), "`algsimp`")
    assert Kind.SWAPPED not in {change.kind for change in made.changes}


def test_of_equal_adds_the_scatter_that_reads_each_tells_which_is_which(read: Read) -> None:
    """The initial values and the added ones are the same for both scatters."""
    pair = (
        ("%there.1", "scatter({}, %i, %u)", "%total.1", "%add.1"),
        ("%there.2", "scatter({}, %i, %v)", "%total.2", "%add.2"),
    )
    head = "%v = f32[2,8]{1,0} negate(%u)"
    tail = "ROOT %out = f32[9,8]{1,0} divide(%out.1, %out.2)"
    before, after = [head], [head]
    for number, (there, scatter, total, add) in enumerate(pair, 1):
        before += [
            f"{there} = f32[9,8]{{1,0}} {scatter.format('%zeros')}{_NUMBERS}",
            f"{total} = f32[9,8]{{1,0}} add({there}, %x)",
            f"%out.{number} = f32[9,8]{{1,0}} tanh({total})",
        ]
        after += [
            f"{add} = f32[9,8]{{1,0}} add(%zeros, %x)",
            f"{there} = f32[9,8]{{1,0}} {scatter.format(add)}{_NUMBERS}",
            f"%out.{number} = f32[9,8]{{1,0}} tanh({there})",
        ]
    made = step(read(_module(*before, tail)), read(_module(*after, tail)), "`algsimp`")
    moved = {
        (str(change.before), str(change.after), str(change.reason))
        for change in made.changes
        if change.kind is Kind.SWAPPED
    }
    assert moved == {
        ("main/%total.1", "main/%add.1", "past %there.1"),
        ("main/%total.2", "main/%add.2", "past %there.2"),
    }
