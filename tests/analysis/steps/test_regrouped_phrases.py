"""Headlines of steps that multiply the same factors in another order."""

from tests.modules import parse_module

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.regrouped_phrases import headline_phrase
from xlareport.analysis.steps.step import step

_TEXT = """HloModule m

ENTRY e {
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  x = f32[] parameter(2)
  y = f32[] parameter(3)
LINES
  ROOT o = f32[8] exponential(m)
}"""
FIRST = _TEXT.replace(
    "LINES",
    """  xs = f32[8] broadcast(x), dimensions={}
  ys = f32[8] broadcast(y), dimensions={}
  n = f32[8] multiply(a, xs)
  m = f32[8] multiply(n, ys)""",
)
SECOND = _TEXT.replace(
    "LINES",
    """  k = f32[] multiply(x, y)
  ks = f32[8] broadcast(k), dimensions={}
  m = f32[8] multiply(a, ks)""",
)
MORE = SECOND.replace("exponential(m)", "add(m, q)").replace(
    "  ROOT", "  q = f32[8] sine(b)\n  ROOT"
)


def test_products_within_a_regrouped_one_are_counted_once() -> None:
    change = step(parse_module(FIRST), parse_module(SECOND), "`algsimp`")
    assert "regrouped 1 multiply" in change.headline
    assert "added 1 multiply" not in change.headline
    told = " ".join(change.account)
    assert "Added 1 multiply: the multiply `%k` in `e` was added: part of `%m`" in told


def test_what_else_was_added_is_counted_apart() -> None:
    change = step(parse_module(FIRST), parse_module(MORE), "`algsimp`")
    every = {
        kind: [group for group in change.groups if group.kind is kind]
        for kind in {group.kind for group in change.groups}
    }
    assert headline_phrase(Kind.REMOVED, every).startswith("regrouped 1 multiply")
    assert headline_phrase(Kind.ADDED, every) == "added 1 sine"
