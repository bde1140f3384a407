"""Of users that look alike, one of another framework op took the place of another user."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


def _module(lines: str) -> str:
    return (
        "HloModule step\nENTRY %main (a: f32[4,8], b: f32[8]) -> f32[8] {\n"
        "  %a = f32[4,8]{1,0} parameter(0)\n  %b = f32[8]{0} parameter(1)\n"
        f"{lines}}}\n"
    )


def test_a_user_of_another_framework_op_is_what_replaced_the_instruction_of_that_op(
    read: Read,
) -> None:
    """`divide(%a, %root)` became a multiplication, and `multiply(%a, %twos)` was folded."""
    divide, multiply = 'metadata={op_name="step/div"}', 'metadata={op_name="step/mul"}'
    before = _module(
        "  %c = f32[] constant(2)\n"
        "  %twos = f32[4,8]{1,0} broadcast(%c), dimensions={}\n"
        "  %half = f32[4,8]{1,0} negate(%a)\n"
        "  %root = f32[4,8]{1,0} broadcast(%b), dimensions={1}\n"
        f"  %div = f32[4,8]{{1,0}} divide(%half, %root), {divide}\n"
        f"  %mul = f32[4,8]{{1,0}} multiply(%half, %twos), {multiply}\n"
        "  %product = f32[4,8]{1,0} multiply(%mul, %root)\n"
        "  %sine = f32[4,8]{1,0} sine(%div)\n"
        "  ROOT %out = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%sine, %product)\n"
    )
    after = _module(
        "  %ones = f32[8]{0} constant({1,1,1,1,1,1,1,1})\n"
        f"  %inverse = f32[8]{{0}} divide(%ones, %b), {divide}\n"
        "  %half = f32[4,8]{1,0} negate(%a)\n"
        f"  %repeated = f32[4,8]{{1,0}} broadcast(%inverse), dimensions={{1}}, {divide}\n"
        f"  %multiply = f32[4,8]{{1,0}} multiply(%half, %repeated), {divide}\n"
        "  %doubled = f32[8]{0} add(%b, %b)\n"
        "  %root = f32[4,8]{1,0} broadcast(%doubled), dimensions={1}\n"
        "  %product = f32[4,8]{1,0} multiply(%half, %root)\n"
        "  %sine = f32[4,8]{1,0} sine(%multiply)\n"
        "  ROOT %out = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%sine, %product)\n"
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "div")) == Place("main", "multiply")
    assert matching.partner_after(Place("main", "mul")) != Place("main", "multiply")
