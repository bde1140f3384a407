"""Converts on the other side of data movement round the same."""

from tests.analysis.small_modules import modules

from xlareport.analysis.steps.numbers_changed import TYPE, numbers_changed
from xlareport.analysis.steps.step import step

_HALVES = "  %y = f32[8,4]{1,0} negate(%x)\n"


def test_a_convert_on_the_other_side_of_a_concatenate_rounds_the_same() -> None:
    before, after = modules(
        f"{_HALVES}  %c = f32[16,4]{{1,0}} concatenate(%x, %y), dimensions={{0}}\n"
        "  ROOT %h = bf16[16,4]{1,0} convert(%c)",
        f"{_HALVES}  %xh = bf16[8,4]{{1,0}} convert(%x)\n  %yh = bf16[8,4]{{1,0}} convert(%y)\n"
        "  ROOT %c = bf16[16,4]{1,0} concatenate(%xh, %yh), dimensions={0}",
    )
    assert numbers_changed(step(before, after)) == ()


def test_a_convert_of_a_part_alone_rounds_anew() -> None:
    before, after = modules(
        f"{_HALVES}  ROOT %c = f32[16,4]{{1,0}} concatenate(%x, %y), dimensions={{0}}",
        f"{_HALVES}  %xh = bf16[8,4]{{1,0}} convert(%x)\n  %xw = f32[8,4]{{1,0}} convert(%xh)\n"
        "  ROOT %c = f32[16,4]{1,0} concatenate(%xw, %y), dimensions={0}",
    )
    (change,) = numbers_changed(step(before, after))
    assert change.what == TYPE
    assert change.example.endswith("a convert from f32 to bf16 was added")
