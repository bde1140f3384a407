"""What new instructions that give results are given in place of, and what they convert."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
%region (p: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {
  %p = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %a = f32[8]{0} get-tuple-element(%p), index=1
  %b = f32[8]{0} get-tuple-element(%p), index=2
  %in = (s32[], f32[8]{0}) tuple(%n, %b)
  %inner = (s32[], f32[8]{0}) while(%in), condition=%until, body=%body
  %last = s32[] get-tuple-element(%inner), index=0
  %sine = f32[8]{0} sine(%a)
  ROOT %out = (s32[], f32[8]{0}, f32[8]{0}) tuple(%last, %sine, %b)
}

%body (q: (s32[], f32[8])) -> (s32[], f32[8]) {
  %q = (s32[], f32[8]{0}) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  %c = f32[8]{0} get-tuple-element(%q), index=1
  %more = s32[] add(%k, %k)
  ROOT %next = (s32[], f32[8]{0}) tuple(%more, %c)
}

%until (r: (s32[], f32[8])) -> pred[] {
  %r = (s32[], f32[8]{0}) parameter(0)
  %l = s32[] get-tuple-element(%r), index=0
  ROOT %ends = pred[] compare(%l, %l), direction=LT
}

%again (s: (s32[], f32[8], f32[8])) -> pred[] {
  %s = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %m = s32[] get-tuple-element(%s), index=0
  ROOT %stops = pred[] compare(%m, %m), direction=LT
}

ENTRY %main (x: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {
  %x = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  ROOT %while = (s32[], f32[8]{0}, f32[8]{0}) while(%x), condition=%again, body=%region
}
"""


def _reason(read: Read, texts: tuple[str, str], place: Place) -> str:
    pairing = match(*map(read, texts)).pairing_after(place)
    assert pairing is not None
    return str(pairing.reason)


def test_an_element_of_a_loop_is_given_in_place_of_what_went_around_it(read: Read) -> None:
    after = _BEFORE.replace("tuple(%last, %sine, %b)", "tuple(%last, %sine, %b.1)").replace(
        "  %sine =", "  %b.1 = f32[8]{0} get-tuple-element(%inner), index=1\n  %sine ="
    )
    words = "gives a value to %out in place of %b"
    assert _reason(read, (_BEFORE, after), Place("region", "b.1")) == words


_TYPED = """
%inner (p: bf16[8], q: bf16[8]) -> bf16[8] {
  %p = bf16[8]{0} parameter(0)
  %q = bf16[8]{0} parameter(1)
  ROOT %multiply = bf16[8]{0} multiply(%p, %q)
}

%outer (a: bf16[8], b: bf16[8]) -> bf16[8] {
  %a = bf16[8]{0} parameter(0)
  %b = bf16[8]{0} parameter(1)
  %held = bf16[8]{0} fusion(%a, %b), kind=kLoop, calls=%inner
  ROOT %sine = bf16[8]{0} sine(%held)
}

ENTRY %main (x: bf16[8], y: bf16[8]) -> bf16[8] {
  %x = bf16[8]{0} parameter(0)
  %y = bf16[8]{0} parameter(1)
  ROOT %fusion = bf16[8]{0} fusion(%x, %y), kind=kLoop, calls=%outer
}
"""


def test_a_root_that_converts_back_says_so(read: Read) -> None:
    wide = "".join(f"  %w{name} = f32[8]{{0}} convert(%{name})\n" for name in "pq")
    after = _TYPED.replace(
        "  ROOT %multiply = bf16[8]{0} multiply(%p, %q)",
        f"{wide}  %multiply = f32[8]{{0}} multiply(%wp, %wq)\n"
        "  ROOT %convert = bf16[8]{0} convert(%multiply)",
    )
    words = "it is the root of its computation and converts %multiply back to bf16"
    assert _reason(read, (_TYPED, after), Place("inner", "convert")) == words


_FILLED = """
%filled (z: f32[]) -> f32[8] {
  %z = f32[] parameter(0)
  ROOT %fill = f32[8]{0} broadcast(%z), dimensions={}
}

ENTRY %main (x: f32[8]) -> (f32[8], f32[8]) {
  %x = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  %filling = f32[8]{0} fusion(%zero), kind=kLoop, calls=%filled
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%x, %filling)
}
"""


def test_a_new_fusion_that_only_fills_gives_a_value(read: Read) -> None:
    before = """
ENTRY %main (x: f32[8]) -> (f32[8]) {
  %x = f32[8]{0} parameter(0)
  ROOT %out = (f32[8]{0}) tuple(%x)
}
"""
    reason = _reason(read, (before, _FILLED), Place("main", "filling"))
    assert reason == "gives a value to %out"
