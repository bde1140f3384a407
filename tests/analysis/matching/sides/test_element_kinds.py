"""What tells elements of tuples apart."""

from collections.abc import Callable

from xlareport.analysis.matching.rules.stand_ins import are_reordered
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.element_kinds import kinds_of, kinds_of_both
from xlareport.hlo.model import HloModule
from xlareport.hlo.shape import Shape

Read = Callable[[str], HloModule]


def _shape(read: Read, text: str) -> Shape:
    module = read(
        f"HloModule m\n\nENTRY %main (p: {text}) -> {text} {{\n"
        f"  ROOT %p = {text} parameter(0)\n}}\n"
    )
    line = module.find("main", "p")
    assert line is not None
    return line.shape


def test_sizes_count_only_if_both_tuples_have_the_same_shapes(read: Read) -> None:
    first = _shape(read, "(s32[], f32[8,4], f32[2,3])")
    turned = _shape(read, "(s32[], f32[2,3], f32[8,4])")
    halved = _shape(read, "(s32[], f32[4,4], f32[2,3])")
    kinds = kinds_of_both(first, turned)
    assert kinds[0] != kinds[1]
    assert kinds_of_both(first, halved) == (kinds_of(first), kinds_of(halved))
    assert kinds_of(first) == kinds_of(turned) == kinds_of(halved)


_START = """
HloModule m

ENTRY %main (a: f32[8,4], b: f32[8,4], w: f32[2,3]) -> (f32[8,4], f32[8,4], f32[2,3]) {
  %a = f32[8,4]{1,0} parameter(0)
  %b = f32[8,4]{1,0} parameter(1)
  %w = f32[2,3]{1,0} parameter(2)
  %x.1 = f32[8,4]{1,0} add(%a, %b), metadata={op_name="x"}
  %y.1 = f32[8,4]{1,0} multiply(%a, %b), metadata={op_name="y"}
  ROOT %out = (f32[8,4]{1,0}, f32[8,4]{1,0}, f32[2,3]{1,0}) tuple(%x.1, %y.1, %w)
}
"""


def test_places_in_a_tuple_of_the_same_shapes_in_another_order_say_nothing(read: Read) -> None:
    after = (
        _START.replace("tuple(%x.1, %y.1, %w)", "tuple(%w, %x.2, %y.2)")
        .replace("(f32[8,4], f32[8,4], f32[2,3]) {", "(f32[2,3], f32[8,4], f32[8,4]) {")
        .replace(
            "(f32[8,4]{1,0}, f32[8,4]{1,0}, f32[2,3]{1,0})",
            "(f32[2,3]{1,0}, f32[8,4]{1,0}, f32[8,4]{1,0})",
        )
        .replace("%x.1 = f32[8,4]{1,0} add(", "%x.2 = f32[8,4]{1,0} subtract(")
        .replace("%y.1 = f32[8,4]{1,0} multiply(", "%y.2 = f32[8,4]{1,0} divide(")
    )
    search = start(read(_START), read(after))
    tuples = [
        side.homes["main"].node(side.homes["main"].computation.by_name["out"])
        for side in (search.before, search.after)
    ]
    assert are_reordered(*tuples)
    assert not are_reordered(tuples[0], tuples[0])
