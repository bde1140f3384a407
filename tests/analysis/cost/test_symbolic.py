"""Integers of a loop are followed without running them, and given up where that is not sure."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import pytest

from xlareport.analysis.cost.symbolic import (
    Affine,
    CallFrame,
    Conjunction,
    Evaluator,
    IntegerComparison,
    Value,
    element,
)
from xlareport.hlo.model import HloModule

ReadModule: TypeAlias = Callable[[str], HloModule]

STATE = "  s = (s32[], (s32[], s32[])) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
I, NESTED = Affine((0,)), Affine((1, 0))
NO_CONSTANTS: Mapping[tuple[int, ...], int] = MappingProxyType({})


@pytest.fixture
def root_of(module_of: ReadModule) -> Callable[..., Value]:
    def evaluate(
        lines: str, *computations: str, constants: Mapping[tuple[int, ...], int] = NO_CONSTANTS
    ) -> Value:
        module = module_of("\n\n".join([*computations, f"ENTRY e {{\n{STATE}{lines}\n}}"]))
        assert module.entry is not None
        frame = CallFrame(Evaluator(module, constants), module.entry, {0: Affine(())})
        return frame.root()

    return evaluate


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        ("  n = s32[] constant(3)\n  ROOT r = s32[] add(i, n)", Affine((0,), 3)),
        ("  n = s32[] constant(3)\n  ROOT r = s32[] subtract(i, n)", Affine((0,), -3)),
        ("  n = s32[] constant(3)\n  ROOT r = s32[] subtract(n, i)", None),
        ("  ROOT r = s32[] add(i, i)", None),
        ("  c = s32[] copy(i)\n  ROOT r = s64[] convert(c)", I),
        (
            "  p = (s32[], s32[]) get-tuple-element(s), index=1\n"
            "  ROOT r = s32[] get-tuple-element(p), index=0",
            NESTED,
        ),
        ("  ROOT r = s32[] multiply(i, i)", None),
    ],
)
def test_sums_with_a_number_are_followed(
    root_of: Callable[..., Value], lines: str, value: Value
) -> None:
    assert root_of(lines) == value


def test_a_state_element_that_never_changes_is_its_number(root_of: Callable[..., Value]) -> None:
    lines = "  n = s32[] constant(3)\n  ROOT r = s32[] add(i, n)"
    assert root_of(lines, constants={(0,): 4}) == Affine(None, 7)


def test_comparisons_of_an_and_are_collected_and_other_tests_left_out(
    root_of: Callable[..., Value],
) -> None:
    lines = (
        "  n = s32[] constant(9)\n  less = pred[] compare(i, n), direction=LT\n"
        "  more = pred[] compare(n, i), direction=GE\n  other = pred[] custom-call(s)\n"
        "  both = pred[] and(less, other)\n  ROOT r = pred[] and(both, more)"
    )
    nine = Affine(None, 9)
    value = root_of(lines)
    assert isinstance(value, Conjunction)
    assert set(value.comparisons) == {
        IntegerComparison(I, "LT", nine),
        IntegerComparison(nine, "GE", I),
    }


def test_a_fusion_is_entered_with_its_operands(root_of: Callable[..., Value]) -> None:
    inside = (
        "f {\n  a = s32[] parameter(0)\n  one = s32[] constant(1)\n  ROOT t = s32[] add(a, one)\n}"
    )
    assert root_of("  ROOT r = s32[] fusion(i), kind=kLoop, calls=f", inside) == Affine((0,), 1)
    assert root_of("  ROOT r = s32[] fusion(i), kind=kLoop, calls=missing", inside) is None


def test_an_element_of_a_sum_is_not_known() -> None:
    assert element(Affine((2,)), (0, 1)) == Affine((2, 0, 1))
    assert element(Affine((2,), 1), (0,)) is None
    assert element(Affine(None, 5), (0,)) is None


def test_a_value_that_depends_on_itself_is_given_up(root_of: Callable[..., Value]) -> None:
    lines = "  a = s32[] copy(b)\n  b = s32[] copy(a)\n  ROOT r = s32[] copy(a)"
    assert root_of(lines) is None
