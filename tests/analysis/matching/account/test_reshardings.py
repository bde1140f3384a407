"""New copies to another sharding say so, and count as the collectives that they become."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.reasons import Resharded
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_ROWS = "{devices=[8,1]<=[8]}"
_COLUMNS = "{devices=[1,8]<=[8]}"
_BEFORE = f"""
HloModule m

ENTRY %main (a: f32[64,64]) -> f32[64,64] {{
  %a = f32[64,64]{{1,0}} parameter(0), sharding={_ROWS}
  %tanh = f32[64,64]{{1,0}} tanh(%a), sharding={_ROWS}
  %dot = f32[64,64]{{1,0}} dot(%tanh, %a), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT %exp = f32[64,64]{{1,0}} exponential(%dot)
}}
"""
_AFTER = _BEFORE.replace(
    "  %dot = f32[64,64]{1,0} dot(%tanh, %a)",
    f"  %tanh.1 = f32[64,64]{{1,0}} copy(%tanh), sharding={_COLUMNS}\n"
    "  %dot = f32[64,64]{1,0} dot(%tanh.1, %a)",
)


def _reason(read: Read, after: str) -> object:
    pairing = match(read(_BEFORE), read(after)).pairing_after(Place("main", "tanh.1"))
    assert pairing is not None
    return pairing.reason


def test_a_copy_to_another_sharding_reshards(read: Read) -> None:
    assert _reason(read, _AFTER) == Resharded("tanh", _ROWS, _COLUMNS)


def test_a_copy_in_the_same_sharding_does_not(read: Read) -> None:
    assert str(_reason(read, _AFTER.replace(_COLUMNS, _ROWS))).startswith("inserted between")
    assert str(_reason(read, _AFTER.replace(f", sharding={_COLUMNS}", ""))).startswith("inserted")


def test_copies_to_another_sharding_are_told_before_lighter_changes(read: Read) -> None:
    """What Shardy does at once: it drops layouts, and marks where data moves."""
    after = _AFTER.replace("f32[64,64]{1,0} exponential", "f32[64,64]{0,1} exponential")
    headline = step(read(_BEFORE), read(after), "shardy-xla").headline
    assert headline.startswith("shardy-xla added 1 copy and changed the layout of 1 exponential")
    assert f"`%tanh.1` in `main` was added: reshards `%tanh`: {_ROWS} → {_COLUMNS}" in headline
