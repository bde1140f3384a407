"""Asynchronous starts that lose their operands to an update."""

from tests.modules import parse_module

from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.step import step

STARTED = """HloModule m, is_scheduled=true

wrapped {
  p = bf16[128] parameter(0)
  ROOT g = bf16[1024] all-gather(p), replica_groups={}, dimensions={0}
}

ENTRY e {
  a = f32[128] parameter(0)
  c = bf16[128] convert(a)
  s = ((bf16[128]), bf16[1024]) async-start(c), calls=wrapped
  d = bf16[1024] async-done(s)
  ROOT o = bf16[1024] negate(d)
}"""
EARLIER = """HloModule m, is_scheduled=true

wrapped {
  p = bf16[128] parameter(0)
  ROOT g = bf16[1024] all-gather(p), replica_groups={}, dimensions={0}
}

ENTRY e {
  s = ((), ()) async-start(), calls=wrapped
  a = f32[128] parameter(0)
  c = bf16[128] convert(a)
  u = ((bf16[128]), bf16[1024]) async-update(s, c)
  d = bf16[1024] async-done(u)
  ROOT o = bf16[1024] negate(d)
}"""


def test_the_operands_of_a_start_are_given_by_an_update() -> None:
    """Its shape, which lists them, is no change of its own."""
    change = step(parse_module(STARTED), parse_module(EARLIER))
    told = " ".join((change.headline, *change.account))
    assert "the async-start `%s` in `e` uses no operands: `%u` gives it `%c` later" in told
    assert "changed shape" not in told


def test_the_history_of_the_start_says_so_too() -> None:
    snapshots = SnapshotSequence([parse_module(STARTED), parse_module(EARLIER)])
    events = history(snapshots, 0, Place("e", "s"))
    assert [event.why for event in events[1:-1]] == ["uses no operands: %u gives it %c later"]


def test_a_start_that_keeps_its_operand_has_another_shape() -> None:
    wider = STARTED.replace("bf16[128]", "bf16[128,1]").replace("bf16[1024]", "bf16[1024,1]")
    change = step(parse_module(STARTED), parse_module(wider))
    assert "uses no operands" not in " ".join((change.headline, *change.account))
