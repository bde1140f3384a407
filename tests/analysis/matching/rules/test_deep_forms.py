"""Long chains of arithmetic that begin and end in another way."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


_PATTERN = "12112221121112221212"
"""The constant of each round: two values in an order in which no five repeat."""


def _chain(first: str, ending: str, pattern: str) -> str:
    """Return rounds of arithmetic by one of two constants, of the elements that a name has."""
    letters = ["k", "v", "q", "t", "y"] if ending else ["c", "w", "p", "s", "x"]
    constant, wide, product, shift, result = letters
    lines, last = "", first
    for value in "12":
        lines += f"  %{constant}.{value}{ending} = u32[] constant({value})\n"
        lines += f"  %{wide}.{value}{ending} = u32[8]{{0}} broadcast"
        lines += f"(%{constant}.{value}{ending}), dimensions={{}}\n"
    for number, value in enumerate(pattern):
        names = [f"%{letter}.{number}{ending}" for letter in (product, shift, result)]
        lines += f"""  {names[0]} = u32[8]{{0}} multiply(%{last}, %{last})
  {names[1]} = u32[8]{{0}} shift-left({names[0]}, %{wide}.{value}{ending})
  {names[2]} = u32[8]{{0}} xor({names[1]}, {names[0]})
"""
        last = names[2].removeprefix("%")
    return lines


def _module(first: str, chain: str, last: str) -> str:
    return f"""HloModule m

ENTRY %main (a: u32[4], b: u32[4]) -> u32[4] {{
  %a = u32[4]{{0}} parameter(0)
  %b = u32[4]{{0}} parameter(1)
{first}{chain}{last}}}
"""


BEFORE = _module(
    "  %begin = u32[8]{0} concatenate(%a, %b), dimensions={0}\n",
    _chain("begin", "", _PATTERN),
    "  %low = u32[4]{0} slice(%x.19), slice={[0:4]}\n  ROOT %out = u32[4]{0} popcnt(%low)\n",
)


def _after(pattern: str) -> str:
    return _module(
        "  %low.9 = u32[4]{0} subtract(%a, %b)\n  %zero.9 = u32[] constant(0)\n"
        "  %begin.9 = u32[8]{0} pad(%low.9, %zero.9), padding=0_4\n",
        _chain("begin.9", ".9", pattern),
        "  %all.9 = u32[8]{0} clz(%y.19.9)\n"
        "  ROOT %end.9 = u32[4]{0} slice(%all.9), slice={[4:8]}\n",
    )


def test_rounds_are_told_apart_by_what_they_read_many_operations_deep(read: Read) -> None:
    matching = match(read(BEFORE), read(_after(_PATTERN)))
    for number in (9, 14, 19):
        for name, new in (("p", "q"), ("s", "t"), ("x", "y")):
            place = Place("main", f"{name}.{number}")
            assert matching.partner_after(place) == Place("main", f"{new}.{number}.9")


def test_other_rounds_are_no_counterparts(read: Read) -> None:
    matching = match(read(BEFORE), read(_after("12" * 10)))
    pairing = matching.pairing_before(Place("main", "x.14"))
    assert pairing is None or "operations deep" not in str(pairing.reason)
