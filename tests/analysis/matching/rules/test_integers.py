"""Integers as constant folding computes them."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.rules.integers import (
    folded_integer,
    is_wider_integer,
    written_integer,
)
from xlareport.hlo.model import HloModule, Instruction

Read = Callable[[str], HloModule]


def _line(read: Read, text: str) -> Instruction:
    module = read(
        f"HloModule m\n\nENTRY %main (a: u32[], b: u32[]) -> u32[] {{\n"
        f"  %a = u32[] parameter(0)\n  %b = u32[] parameter(1)\n  ROOT {text}\n}}\n"
    )
    assert module.entry is not None
    assert module.entry.root is not None
    return module.entry.root


@pytest.mark.parametrize(
    ("text", "integers", "expected"),
    [
        ("%r = u32[] add(%a, %b)", [2**32 - 1, 2], 1),
        ("%r = u32[] multiply(%a, %b)", [2**31, 2], 0),
        ("%r = u32[] subtract(%a, %b)", [1, 2], 2**32 - 1),
        ("%r = u32[] shift-left(%a, %b)", [3, 31], 2**31),
        ("%r = u32[] shift-right-logical(%a, %b)", [8, 32], 0),
        ("%r = s32[] convert(%a)", [2**32 - 1], -1),
        ("%r = s32[] add(%a, %b)", [1, 2], None),
        ("%r = u32[] shift-right-arithmetic(%a, %b)", [8, 1], None),
        ("%r = u32[] divide(%a, %b)", [8, 2], None),
        ("%r = f32[] convert(%a)", [8], None),
        ("%r = u32[] add(%a, %b)", [8], None),
    ],
)
def test_an_operation_on_integers(
    read: Read, text: str, integers: list[int], expected: int | None
) -> None:
    assert folded_integer(_line(read, text), integers) == expected


def test_a_written_integer(read: Read) -> None:
    assert written_integer(_line(read, "%r = s32[] constant(-3)")) == -3
    assert written_integer(_line(read, "%r = s32[1]{0} constant({7})")) == 7
    assert written_integer(_line(read, "%r = f32[] constant(1)")) is None
    assert written_integer(_line(read, "%r = u32[] constant(true)")) is None


def test_a_wider_type_holds_every_integer() -> None:
    assert is_wider_integer("u64", "u32")
    assert not is_wider_integer("u32", "u64")
    assert not is_wider_integer("f32", "u32")
