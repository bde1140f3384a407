"""Tuples of two halves: which stands for which wide value of the old module."""

from collections.abc import Callable

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.account.word_halves import (
    Halves,
    halves_of,
    is_complex,
    is_wide,
    written,
)
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

WHOLE = """
ENTRY %main (a: u32[4]) -> u32[4] {
  %a = u32[4]{0} parameter(0)
  %wide = u64[4]{0} convert(%a)
  %three = u64[] constant(3)
  %many = u64[4]{0} broadcast(%three), dimensions={}
  %sum = u64[4]{0} add(%wide, %many)
  %short = u32[4]{0} convert(%sum)
  ROOT %out = u32[4]{0} xor(%a, %short)
}
"""
HALVED = """
ENTRY %main (a: u32[4]) -> u32[4] {
  %a = u32[4]{0} parameter(0)
  %low.1 = u32[4]{0} bitcast-convert(%a)
  %zero = u32[] constant(0)
  %high.1 = u32[4]{0} broadcast(%zero), dimensions={}
  %tuple.1 = (u32[4]{0}, u32[4]{0}) tuple(%low.1, %high.1)
  %low.2 = u32[] constant(3)
  %high.2 = u32[] constant(0)
  %tuple.2 = (u32[], u32[]) tuple(%low.2, %high.2)
  %low.3 = u32[4]{0} broadcast(%low.2), dimensions={}
  %high.3 = u32[4]{0} broadcast(%high.2), dimensions={}
  %tuple.3 = (u32[4]{0}, u32[4]{0}) tuple(%low.3, %high.3)
  %low.4 = u32[4]{0} add(%low.1, %low.3)
  %less = pred[4]{0} compare(%low.4, %low.1), direction=LT
  %carry = u32[4]{0} convert(%less)
  %part = u32[4]{0} add(%high.1, %high.3)
  %high.4 = u32[4]{0} add(%part, %carry)
  %tuple.4 = (u32[4]{0}, u32[4]{0}) tuple(%low.4, %high.4)
  %short = u32[4]{0} convert(%low.4)
  ROOT %out = u32[4]{0} xor(%a, %short)
}
"""


def halves(read: Read, halved: str = HALVED) -> dict[str, Halves]:
    """Return the halves by the names of the wide values."""
    search = start(read(WHOLE), read(halved))
    search.evaluate()
    return by_name(search)


def by_name(search: Search) -> dict[str, Halves]:
    new = dict.fromkeys(search.after.open())
    return {node.instruction.name: known for node, known in halves_of(search, new).items()}


def node(side: Side, name: str) -> Node:
    home = side.homes["main"]
    return home.node(home.computation.by_name[name])


@pytest.mark.parametrize(
    ("shape", "wide", "complexes"),
    [("u64[4]", True, False), ("c64[]", True, True), ("f64[4]", False, False)],
)
def test_integers_of_64_bits_and_complex_numbers_have_halves(
    shape: str, *, wide: bool, complexes: bool
) -> None:
    text = f"HloModule m\n\nENTRY %main {{\n  ROOT %a = {shape} parameter(0)\n}}\n"
    module = parse_module(text)
    assert is_wide(module.parameters[0]) is wide
    other = parse_module(text.replace("%a", "%b"))
    side = start(module, other, same_program=False).before
    assert is_complex(side.nodes[0]) is complexes


def test_each_wide_value_has_the_tuple_in_its_place(read: Read) -> None:
    known = halves(read)
    assert {name: one.whole.instruction.name for name, one in known.items()} == {
        "wide": "tuple.1",
        "three": "tuple.2",
        "many": "tuple.3",
        "sum": "tuple.4",
    }
    assert [one.place for one in known.values()] == sorted(one.place for one in known.values())


def test_halves_are_low_and_high_around_their_tuple(read: Read) -> None:
    total = halves(read)["sum"]
    names = [part.instruction.name for part in total.nodes]
    assert names == ["low.4", "tuple.4", "high.4"]
    assert total.value == (total.low, ())


def test_a_tuple_that_is_read_holds_no_halves(read: Read) -> None:
    taken = "  %taken = u32[4]{0} get-tuple-element(%tuple.4), index=0\n  %short"
    known = halves(
        read, HALVED.replace("  %short", taken).replace("convert(%low.4)", "abs(%taken)")
    )
    assert "tuple.4" not in {one.whole.instruction.name for one in known.values()}


def test_a_module_without_wide_values_has_none(read: Read) -> None:
    narrow = WHOLE.replace("u64", "u16")
    search = start(read(narrow), read(HALVED))
    search.evaluate()
    assert by_name(search) == {}


def test_operands_are_as_written_or_none_of_them(read: Read) -> None:
    search = start(read(WHOLE), read(HALVED))
    names = [part.instruction.name for part in written(node(search.after, "tuple.4"))]
    assert names == ["low.4", "high.4"]
    lost = start(
        read(WHOLE), read(HALVED.replace("tuple(%low.4, %high.4)", "tuple(%low.4, %gone)"))
    )
    assert written(node(lost.after, "tuple.4")) == []
