"""Copies of one of several equal values: the original is the one that the reader read."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule


def _repeated(number: int, value: str) -> str:
    """Return a value that is repeated in a roundabout way, as frameworks write it."""
    op = f'metadata={{op_name="{"fg"[number - 1]}/mul"}}'
    return f"""  q.{number} = f32[1,8] reshape({value})
  v.{number} = f32[1,8] broadcast(q.{number}), dimensions={{0,1}}, {op}
  w.{number} = f32[8] reshape(v.{number})
  y.{number} = f32[4,8] broadcast(w.{number}), dimensions={{1}}, {op}
"""


def _before(*, again: bool) -> HloModule:
    """Return a module with two equal values; the second may be behind a barrier."""
    barrier = """  one = (f32[8]) tuple(x)
  held = (f32[8]) opt-barrier(one)
  x.2 = f32[8] get-tuple-element(held), index=0
  r.2 = f32[8] rsqrt(x.2)
"""
    return parse_module(f"""HloModule m

ENTRY main {{
  x = f32[8] parameter(0)
  a = f32[4,8] parameter(1)
  r = f32[8] rsqrt(x)
{_repeated(1, "r")}  m.1 = f32[4,8] multiply(a, y.1), metadata={{op_name="f/mul"}}
  n.1 = f32[4,8] sine(m.1)
{barrier if again else ""}{_repeated(2, "r.2" if again else "r")}  m.2 = f32[4,8] divide(n.1, y.2)
  l.2 = f32[4,8] log(y.2)
  e.1 = f32[4,8] add(m.2, l.2)
  t.1 = f32[4,8] tanh(m.1)
  ROOT out = (f32[4,8], f32[4,8], f32[4,8]) tuple(n.1, e.1, t.1)
}}
""")


_AFTER = parse_module("""HloModule m

first {
  p.0 = f32[4,8] parameter(0)
  p.1 = f32[8] parameter(1)
  y.3 = f32[4,8] broadcast(p.1), dimensions={1}, metadata={op_name="f/mul"}
  m.3 = f32[4,8] multiply(p.0, y.3), metadata={op_name="f/mul"}
  ROOT n.3 = f32[4,8] sine(m.3)
}

second {
  p.2 = f32[4,8] parameter(0)
  p.3 = f32[8] parameter(1)
  y.4 = f32[4,8] broadcast(p.3), dimensions={1}, metadata={op_name="g/mul"}
  m.4 = f32[4,8] divide(p.2, y.4)
  l.4 = f32[4,8] log(y.4)
  ROOT e.4 = f32[4,8] add(m.4, l.4)
}

third {
  p.4 = f32[4,8] parameter(0)
  p.5 = f32[8] parameter(1)
  y.5 = f32[4,8] broadcast(p.5), dimensions={1}, metadata={op_name="f/mul"}
  m.5 = f32[4,8] multiply(p.4, y.5), metadata={op_name="f/mul"}
  ROOT t.5 = f32[4,8] tanh(m.5)
}

ENTRY main {
  x = f32[8] parameter(0)
  a = f32[4,8] parameter(1)
  r = f32[8] rsqrt(x)
  f.1 = f32[4,8] fusion(a, r), kind=kLoop, calls=first
  f.2 = f32[4,8] fusion(f.1, r), kind=kLoop, calls=second
  f.3 = f32[4,8] fusion(a, r), kind=kLoop, calls=third
  ROOT out = (f32[4,8], f32[4,8], f32[4,8]) tuple(f.1, f.2, f.3)
}
""")


@pytest.mark.parametrize("again", [False, True])
def test_a_copy_is_of_the_equal_value_that_its_reader_read(*, again: bool) -> None:
    matching = match(_before(again=again), _AFTER)
    for copy, original in (("m.5", "m.1"), ("y.5", "y.1")):
        pairing = matching.pairing_after(Place("third", copy))
        assert pairing is not None
        assert pairing.before == (Place("main", original),)
