"""Computations that a step cloned, nested ones too."""

from collections.abc import Callable

from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEADER = "HloModule m\n"
_INNER = """%inner{mark} (x{mark}: f32[4]) -> f32[4] {{
  %x{mark} = f32[4] parameter(0)
  %sine{mark} = f32[4] sine(%x{mark})
  %twice{mark} = f32[4] add(%sine{mark}, %x{mark})
  ROOT %root{mark} = f32[4] copy(%twice{mark})
}}
"""
_USER = """%{name}{mark} (z{mark}: f32[4]) -> f32[4] {{
  %z{mark} = f32[4] parameter(0)
  %c{mark} = f32[] constant(2)
  %b{mark} = f32[4] broadcast(%c{mark}), dimensions={{}}
  %scaled{mark} = f32[4] multiply(%z{mark}, %b{mark})
  %flat{mark} = f32[4] reshape(%z{mark})
  %call{mark} = f32[4] call(%flat{mark}), to_apply=%{callee}
  ROOT %sum{mark} = f32[4] add(%call{mark}, %scaled{mark})
}}
"""
_TOP = """%top{mark} (t{mark}: f32[4]) -> f32[4] {{
  %t{mark} = f32[4] parameter(0)
  %n{mark} = f32[4] negate(%t{mark})
  ROOT %called{mark} = f32[4] call(%n{mark}), to_apply=%mid{mark}
}}
"""
_MAIN = """ENTRY %main (a: f32[4], b: f32[4], c: f32[4]) -> f32[4] {{
  %a = f32[4] parameter(0)
  %b = f32[4] parameter(1)
  %c = f32[4] parameter(2)
  %t1 = f32[4] call(%a), to_apply=%top
  %t2 = f32[4] call(%b), to_apply=%top{first}
  %t3 = f32[4] call(%c), to_apply=%top{second}
  %o1 = f32[4] call(%a), to_apply=%other
  %o2 = f32[4] call(%b), to_apply=%other{first}
  %s1 = f32[4] add(%t1, %t2)
  %s2 = f32[4] add(%s1, %t3)
  %s3 = f32[4] add(%s2, %o1)
  ROOT %s4 = f32[4] add(%s3, %o2)
}}
"""
_MARKS = ("", ".clone", ".clone.1")


def _user(name: str, mark: str, callee: str) -> str:
    return _USER.format(name=name, mark=mark, callee=callee)


_BEFORE = (
    _HEADER
    + _INNER.format(mark="")
    + _user("mid", "", "inner")
    + _user("other", "", "inner")
    + _TOP.format(mark="")
    + _MAIN.format(first="", second="")
)
_AFTER = (
    _HEADER
    + "".join(_INNER.format(mark=mark) for mark in (*_MARKS, ".clone.clone", ".clone.clone.1"))
    + _user("mid", "", "inner.clone")
    + _user("mid", ".clone", "inner.clone.clone")
    + _user("mid", ".clone.1", "inner.clone.clone.1")
    + _user("other", "", "inner")
    + _user("other", ".clone", "inner.clone.1")
    + "".join(_TOP.format(mark=mark) for mark in _MARKS)
    + _MAIN.format(first=".clone", second=".clone.1")
)


def test_clones_in_clones_are_neither_inlined_nor_outlined(read: Read) -> None:
    change = step(read(_BEFORE), read(_AFTER))
    words = " ".join((change.headline, *change.account))
    assert "cloned 4 computations of 21 instructions (9 clones)" in words
    assert "changed attributes of 4 calls" in words
    assert "inlined" not in words
    assert "outlined" not in words
    assert len(change.added) == 43
    assert not change.removed


_BODY = """%body (p: f32[4], k: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  %k = f32[4] parameter(1)
  %g = f32[4] negate(%p)
  %f = f32[4] call(%g), to_apply=%inner
  %h = f32[4] add(%f, %k)
  %l = f32[4] call(%k), to_apply=%inner
  ROOT %r = f32[4] multiply(%l, %h)
}
"""
_ENTRY = """ENTRY %main (q: f32[4], w: f32[4]) -> f32[4] {
  %q = f32[4] parameter(0)
  %w = f32[4] parameter(1)
  %start = f32[4] cosine(%q)
"""
_CALLED = """  %r.2 = f32[4] call(%start, %w), to_apply=%body
  ROOT %out = f32[4] tanh(%r.2)
}
"""
_INLINED = """  %g.2 = f32[4] negate(%start)
  %f.2 = f32[4] call(%g.2), to_apply=%inner
  %h.2 = f32[4] add(%f.2, %w)
  %l.2 = f32[4] call(%w), to_apply=%inner
  %r.2 = f32[4] multiply(%l.2, %h.2)
  ROOT %out = f32[4] tanh(%r.2)
}
"""


def test_calls_of_a_shared_computation_move_with_what_is_inlined(read: Read) -> None:
    shared = _HEADER + _INNER.format(mark="")
    change = step(read(shared + _BODY + _ENTRY + _CALLED), read(shared + _ENTRY + _INLINED))
    words = " ".join((change.headline, *change.account))
    assert "inlined 1 call into 5 instructions" in words
    assert "replaced" not in words
