import pytest

from xlareport.analysis.steps.arithmetic import narrows, rounds_otherwise
from xlareport.analysis.steps.numbers_changed import ARITHMETIC, TYPE, numbers_changed
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader


def modules(*bodies: str) -> list[HloModule]:
    reader = TextReader()
    found = []
    for body in bodies:
        text = f"HloModule m\n\n{HEADER}{body}\n}}\n"
        module = reader.read(text.encode(), "m")
        assert module is not None
        found.append(module)
    return found


HEADER = """\
ENTRY %main (x: f32[8], y: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
"""
RECIPROCAL = """\
  %one = f32[] constant(1)
  %ones = f32[8]{0} broadcast(%one), dimensions={}
  %inverse = f32[8]{0} divide(%ones, %y)
  ROOT %r = f32[8]{0} multiply(%x, %inverse)"""
GROUPED = """\
  %s = f32[8]{0} multiply(%x, %y)
  %t = f32[8]{0} add(%OF, %y)
  ROOT %r = f32[8]{0} add(%t, %s)"""


def scaled(opcode: str, literal: str) -> str:
    return (
        f"  %c = f32[] constant({literal})\n  %b = f32[8]{{0}} broadcast(%c), dimensions={{}}\n"
        f"  ROOT %r = f32[8]{{0}} {opcode}(%x, %b)"
    )


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        (scaled("divide", "3"), scaled("multiply", "0.333333343"), True),
        (scaled("divide", "8"), scaled("multiply", "0.125"), False),
        (
            "  ROOT %r = f32[8]{0} divide(%x, %y)",
            RECIPROCAL,
            True,
        ),
        (
            "  ROOT %r = f32[8]{0} subtract(%x, %y)",
            "  %n = f32[8]{0} negate(%y)\n  ROOT %r = f32[8]{0} add(%x, %n)",
            False,
        ),
        (GROUPED.replace("OF", "x"), GROUPED.replace("OF", "s"), True),
        (
            GROUPED.replace("add(%t, %s)", "add(%s, %t)").replace("OF", "x"),
            GROUPED.replace("OF", "x"),
            False,
        ),
        ("  ROOT %r = f32[8]{0} tanh(%x)", "  ROOT %r = f32[8]{0} logistic(%x)", True),
    ],
)
def test_other_arithmetic_is_named_where_it_may_round_otherwise(
    before: str, after: str, *, named: bool
) -> None:
    changes = numbers_changed(step(*modules(before, after)))
    assert [one.what for one in changes] == [ARITHMETIC] * named


def test_a_convert_that_keeps_every_digit_is_not_named() -> None:
    def call(operand: str) -> str:
        return f'custom-call({operand}), custom_call_target="f", custom_call_has_side_effect=true'

    plain, wide, narrow = modules(
        "  ROOT %r = f32[8]{0} negate(%x)",
        f"  %w = f64[8]{{0}} convert(%x)\n  %f = f32[8]{{0}} {call('%w')}\n"
        "  ROOT %r = f32[8]{0} negate(%x)",
        f"  %n = bf16[8]{{0}} convert(%x)\n  %f = f32[8]{{0}} {call('%n')}\n"
        "  ROOT %r = f32[8]{0} negate(%x)",
    )
    assert numbers_changed(step(plain, wide)) == ()
    [found] = numbers_changed(step(plain, narrow))
    assert found.what == TYPE
    assert "a convert from f32 to bf16 was added" in found.example


@pytest.mark.parametrize(
    ("before", "after", "may"),
    [
        ("f32", "bf16", True),
        ("bf16", "f32", False),
        ("f16", "bf16", True),
        ("bf16", "f16", True),
        ("f8e4m3fn", "f16", False),
        ("f8e4m3fn", "f8e5m2", True),
        ("f32", "f4", True),
        ("f32", "s32", False),
    ],
)
def test_which_conversions_lose_digits_or_range(before: str, after: str, *, may: bool) -> None:
    assert narrows(before, after) == may


def test_the_same_operation_rounds_alike() -> None:
    [module] = modules("  ROOT %r = f32[8]{0} divide(%x, %y)")
    line = module.find("main", "r")
    assert line is not None
    assert not rounds_otherwise(line, line, module.entry)


def reduced(shape: str, dimensions: str) -> str:
    return (
        f"  %z = f32[] constant(0)\n  %s = f32[{shape}] reshape(%x)\n"
        f"  %t = f32[4] reduce(%s, %z), dimensions={{{dimensions}}}, to_apply=%sum\n"
        "  ROOT %r = f32[8]{0} negate(%x)"
    )


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        (reduced("2,4", "0"), reduced("2,1,4", "0,1"), False),
        (reduced("2,3,4", "0,1"), reduced("2,3,4", "1,0"), True),
    ],
)
def test_a_dimension_of_one_has_no_order(before: str, after: str, *, named: bool) -> None:
    changes = numbers_changed(step(*modules(before, after)))
    assert bool(changes) is named
