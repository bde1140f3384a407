"""Pads and maximums in the place of a concatenate."""

from tests.modules import parse_module

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place

_BEFORE = """HloModule m

ENTRY main {
  a = f32[8,4] parameter(0)
  b = f32[8,4] parameter(1)
  x = f32[8,4] sine(a)
  y = f32[8,4] cosine(b)
  both = f32[8,8] concatenate(x, y), dimensions={1}
  ROOT out = f32[8,8] negate(both)
}
"""
_PADS = """  low = f32[] constant(-inf)
  left = f32[8,8] pad(x, low), padding=0_0x0_4
  right = f32[8,8] pad(y, low), padding=0_0x4_0
  wide = f32[8,8] convert(right)
  most = f32[8,8] maximum(left, wide)
"""
_AFTER = _BEFORE.replace("  both = f32[8,8] concatenate(x, y), dimensions={1}\n", _PADS).replace(
    "negate(both)", "negate(most)"
)
_WORDS = "part of what took the place of %both: its operands, padded and joined"


def _reason(after: str, name: str) -> str:
    pairing = match(parse_module(_BEFORE), parse_module(after)).pairing_after(Place("main", name))
    return "" if pairing is None else str(pairing.reason)


def test_a_further_copy_names_the_concatenate_whose_place_it_took() -> None:
    again = "".join(
        f"  {line.split()[0]}.2 {line.split(' ', 3)[-1]}\n" for line in _PADS.splitlines()
    )
    for name in ("left", "right", "wide", "most"):
        again = again.replace(f"({name}", f"({name}.2").replace(f", {name})", f", {name}.2)")
    again = again.replace(", low)", ", low.2)")
    after = _AFTER.replace(
        "  ROOT out = f32[8,8] negate(most)", f"{again}  ROOT out = f32[8,8] add(most, most.2)"
    )
    for name in ("low.2", "left.2", "right.2", "wide.2", "most.2"):
        assert _reason(after, name) == _WORDS


def test_what_joins_other_values_takes_no_place() -> None:
    other = _AFTER.replace("pad(y, low)", "pad(b, low)")
    assert all("place of" not in _reason(other, name) for name in ("left", "right", "most"))
