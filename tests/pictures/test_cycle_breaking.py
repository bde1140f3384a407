"""Values between two parts of any picture go in one direction only."""

from collections.abc import Callable
from random import Random

import pytest

from xlareport.hlo.model import HloModule
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.cycle_breaking import numbered, order_without_cycles
from xlareport.pictures.division import divide
from xlareport.pictures.grouper import InstructionGrouper
from xlareport.pictures.labels import PathFinder
from xlareport.pictures.parts import InstructionGroup, instructions_of, name_of
from xlareport.pictures.value_flow import ValueFlow, find_cycles, quotient

SCOPES = ("jvp(model)/h_{}", "transpose(jvp(model))/h_{}", "update", "jvp(model)", "x/y", "")


def cycles(part: InstructionGroup, flow: ValueFlow) -> int:
    """Return how many things of a part are in a cycle."""
    owner = {
        instruction.name: at
        for at, thing in enumerate(part.things)
        for instruction in instructions_of(thing)
    }
    return len(find_cycles(quotient(sorted(owner, key=flow.places.__getitem__), owner, flow)))


@pytest.mark.parametrize("seed", range(4))
def test_no_picture_of_a_module_has_parts_in_a_circle(
    seed: int, module_of: Callable[[str], HloModule]
) -> None:
    chosen = Random(seed)  # noqa: S311 - a test's own input
    lines = ["  i0 = f32[8] parameter(0)"]
    for n in range(1, 400):
        used = ", ".join(f"i{max(0, n - chosen.randint(1, 60))}" for _ in range(2))
        scope = chosen.choice(SCOPES).format(n // 40)
        metadata = f', metadata={{op_name="jit(f)/{scope}/add"}}' if scope else ""
        lines.append(f"  i{n} = f32[8] add({used}){metadata}")
    module = module_of("\n".join(["ENTRY e {", *lines, "}"]))
    assert module.entry is not None
    folding = Folding(module.entry, inputs=False)
    whole = divide(module, folding, PathFinder(module))
    flow = ValueFlow(folding)
    assert len(whole.things) <= 25
    assert {part.target for part in whole.parts() if cycles(part, flow)} == set()
    assert sorted(instruction.name for instruction in whole.instructions()) == sorted(
        f"i{n}" for n in range(1, 400)
    )
    targets = [part.target for part in whole.parts()]
    assert len(targets) == len(set(targets))


def test_a_part_in_a_cycle_is_split(module_of: Callable[[str], HloModule]) -> None:
    lines = [f"  i{n} = f32[8] abs(i{n - 1})" for n in range(1, 10)]
    module = module_of("\n".join(["ENTRY e {", "  i0 = f32[8] parameter(0)", *lines, "}"]))
    assert module.entry is not None
    made = InstructionGrouper(Folding(module.entry, inputs=False))
    one = module.entry.instructions[1:]
    outer = made.make("scope", "outer", "e/outer", [*one[:3], *one[6:]])
    inner = made.make("scope", "inner", "e/inner", one[3:6])
    things = order_without_cycles([outer, inner], made.flow, str)
    assert [name_of(thing) for thing in things] == ["outer", "inner", "outer (2)"]


def test_the_first_piece_keeps_the_title() -> None:
    assert (numbered("forward", 1), numbered("forward", 2)) == ("forward", "forward (2)")
