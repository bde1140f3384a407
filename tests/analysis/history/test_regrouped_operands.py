"""Products whose constants were folded into one."""

from tests.modules import parse_module

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.search.pairing import Place
from xlareport.knowledge.grades import Grade

CHAIN = """HloModule m

ENTRY main {
  a = f32[8] parameter(0)
  half = f32[] constant(0.5)
  third = f32[] constant(0.25)
  halves = f32[8] broadcast(half), dimensions={}
  thirds = f32[8] broadcast(third), dimensions={}
  first = f32[8] multiply(a, halves)
  second = f32[8] multiply(first, thirds)
  ROOT o = (f32[8], f32[8]) tuple(first, second)
}"""
FOLDED = CHAIN.replace(
    "  second = f32[8] multiply(first, thirds)",
    """  both = f32[] multiply(half, third)
  eighths = f32[8] broadcast(both), dimensions={}
  second = f32[8] multiply(a, eighths)""",
)


def test_a_product_tells_that_the_factors_of_another_were_folded_in() -> None:
    """Its line has other operands, and its number another meaning."""
    snapshots = SnapshotSequence([parse_module(CHAIN), parse_module(FOLDED)])
    [change] = history(snapshots, 0, Place("main", "second"))[1:-1]
    told = change.event, change.confidence, change.why
    why = "uses %a instead of %first, %eighths instead of %thirds"
    why += ": the same factors, multiplied in another order"
    assert told == (Event.CHANGED, Grade.MATCHED, why)


def test_a_product_that_stands_as_before_tells_nothing() -> None:
    snapshots = SnapshotSequence([parse_module(CHAIN), parse_module(FOLDED)])
    assert len(history(snapshots, 0, Place("main", "first"))) == 2
