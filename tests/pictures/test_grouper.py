"""Parts stand in the order of the file, have targets of their own, and are never too large."""

from collections.abc import Callable

import pytest

from xlareport.hlo.model import Computation, HloModule
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.grouper import InstructionGrouper
from xlareport.pictures.parts import MOST_THINGS, InstructionGroup


@pytest.fixture
def row(module_of: Callable[[str], HloModule]) -> Computation:
    """Return a computation of a thousand instructions, one after the other."""
    lines = "\n".join(f"  i{n} = f32[] negate(i{n - 1})" for n in range(1, 1000))
    module = module_of(f"ENTRY e {{\n  i0 = f32[] parameter(0)\n{lines}\n}}")
    assert module.entry is not None
    return module.entry


def test_things_stand_in_the_order_of_the_file(row: Computation) -> None:
    maker = InstructionGrouper(Folding(row))
    first, second, third = row.instructions[:3]
    inner = maker.make("scope", "inner", "e/inner", [third])
    whole = maker.make("scope", "e", "e", [inner, second, first])
    assert whole.things == (first, second, inner)
    assert list(whole.instructions()) == [first, second, third]
    assert whole.size == 3


def test_targets_are_unique(row: Computation) -> None:
    maker = InstructionGrouper(Folding(row))
    targets = [maker.make("scope", "h", "e/h", row.instructions[:1]).target for _ in range(3)]
    assert targets == ["g=e/h", "g=e/h'", "g=e/h''"]


def test_neighbours_are_put_together_where_there_are_too_many(row: Computation) -> None:
    whole = InstructionGrouper(Folding(row)).make("scope", "e", "e", row.instructions)
    assert list(whole.instructions()) == list(row.instructions)
    for part in whole.parts():
        assert len(part.things) <= MOST_THINGS
    kinds = {part.kind for part in whole.parts() if part is not whole}
    assert kinds == {"run"}
    assert isinstance(whole.things[0], InstructionGroup)
    assert whole.things[0].title == "i0 … i33"


def test_all_parts_are_told(row: Computation) -> None:
    maker = InstructionGrouper(Folding(row))
    inner = maker.make("flow", "a", "e/a", row.instructions[:2])
    outer = maker.make("scope", "e", "e", [inner])
    assert list(outer.parts()) == [outer, inner]


def test_neighbours_are_parted_where_one_value_goes_across(
    module_of: Callable[[str], HloModule],
) -> None:
    lines = ["  a0 = f32[8] abs(a0)"]
    for block in range(60):
        first = f"b{block}.0"
        lines.append(f"  {first} = f32[8] abs(a0)")
        lines += [f"  b{block}.{n} = f32[8] add({first}, b{block}.{n - 1})" for n in range(1, 7)]
    [main] = module_of("\n".join(["ENTRY e {", *lines, "}"])).computations
    maker = InstructionGrouper(Folding(main))
    part = maker.make("scope", "e", "e", main.instructions)
    firsts = [
        next(thing.instructions()).name
        for thing in part.things
        if isinstance(thing, InstructionGroup)
    ]
    assert len(firsts) > 20
    assert all(name.endswith(".0") for name in firsts[1:])
