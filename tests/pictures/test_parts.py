"""What a part says of itself: how many are alike, how large, and what it begins with."""

import pytest
from tests.modules import parse_module

from xlareport.hlo.model import HloModule
from xlareport.pictures.parts import (
    TIMES,
    InstructionGroup,
    PartKind,
    Things,
    alike_words,
    first_of,
    instructions_of,
    name_of,
    size_of,
)


@pytest.fixture(scope="module")
def module() -> HloModule:
    lines = "\n".join(f"  i{n} = f32[] negate(i{n - 1})" for n in range(1, 6))
    text = f"HloModule m\n\nENTRY e {{\n  i0 = f32[] parameter(0)\n{lines}\n}}\n"
    return parse_module(text)


def part(title: str, kind: PartKind, things: Things) -> InstructionGroup:
    return InstructionGroup(f"g={title}", title, kind, things, sum(map(size_of, things)))


def test_parts_alike_say_how_many_and_how_large(module: HloModule) -> None:
    instructions = [*module.instructions]
    small = part("h_0", "scope", instructions[:2])
    large = part("h_1", "scope", instructions[2:5])
    alike = part("h_0 … h_1", "alike", (small, large))
    assert alike_words(alike) == [f"{TIMES} 2, 2 to 3 instructions each"]
    assert alike_words(part("h_0 …", "alike", (small,))) == [f"{TIMES} 1, 2 instructions each"]
    assert alike_words(small) == []
    assert alike_words(part(f"5 {TIMES} negate", "alike", instructions[:5])) == []


def test_a_thing_is_a_part_or_an_instruction(module: HloModule) -> None:
    first, second, *_ = module.instructions
    whole = part("e", "scope", (part("in", "scope", (first,)), second))
    assert first_of(whole) is first
    assert [*instructions_of(whole)] == [first, second]
    assert [*instructions_of(second)] == [second]
    assert (name_of(whole), name_of(second), size_of(whole), size_of(second)) == ("e", "i1", 2, 1)
