"""A large computation is divided by scopes, by alikeness, by data flow, by place."""

from collections.abc import Callable, Iterable

import pytest

from xlareport.hlo.model import HloModule
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.division import divide
from xlareport.pictures.labels import PathFinder
from xlareport.pictures.parts import InstructionGroup

Lines = Iterable[str]


def line(name: str, opcode: str, operands: str, scope: str, shape: str = "f32[8,8]") -> str:
    return (
        f'  {name} = {shape} {opcode}({operands}), metadata={{op_name="jit(f)/{scope}/{opcode}"}}'
    )


def layers(count: int, scope: str, start: str) -> list[str]:
    """Return layers of five instructions, each after the one before."""
    found, last = [], start
    for n in range(count):
        for m, opcode in enumerate(("dot", "add", "tanh", "negate", "multiply")):
            name = f"{scope.strip('(){}')}{n}.{m}"
            operands = f"{last}, {last}" if opcode in {"dot", "add", "multiply"} else last
            found.append(line(name, opcode, operands, scope.format(n)))
            last = name
    return found


@pytest.fixture
def divided(module_of: Callable[[str], HloModule]) -> Callable[[Lines], InstructionGroup]:
    """Return a function that divides an entry of these lines."""

    def read(lines: Lines) -> InstructionGroup:
        text = "\n".join(lines)
        module = module_of(f"ENTRY e {{\n  x = f32[8,8] parameter(0)\n{text}\n}}")
        assert module.entry is not None
        return divide(module, Folding(module.entry, inputs=False), PathFinder(module))

    return read


def titles(part: InstructionGroup) -> list[str]:
    return [
        thing.title if isinstance(thing, InstructionGroup) else thing.name for thing in part.things
    ]


def test_scopes_alike_become_one_part(divided: Callable[[Lines], InstructionGroup]) -> None:
    whole = divided([line("a", "abs", "x", "in"), *layers(12, "model/h_{}", "a")])
    assert titles(whole) == ["a", "model"]
    model = whole.things[1]
    assert isinstance(model, InstructionGroup)
    assert titles(model) == ["h_0 … h_11"]
    [alike] = model.things
    assert isinstance(alike, InstructionGroup)
    assert (alike.kind, alike.size, len(alike.things)) == ("alike", 60, 12)
    assert alike.target == "g=e/model/h_#"


def test_three_scopes_alike_stay_apart(divided: Callable[[Lines], InstructionGroup]) -> None:
    whole = divided([line("a", "abs", "x", "in"), *layers(3, "h_{}", "a")])
    assert titles(whole) == ["a", "h_0", "h_1", "h_2"]


def test_a_scope_around_a_single_scope_is_one_with_it(
    divided: Callable[[Lines], InstructionGroup],
) -> None:
    whole = divided([line("a", "abs", "x", "in"), *layers(1, "outer/inner/layer", "a")])
    assert titles(whole) == ["a", "outer/inner/layer"]


def test_a_scope_of_two_instructions_is_no_box(
    divided: Callable[[Lines], InstructionGroup],
) -> None:
    lines = [line(f"{name}{n}", "abs", "x", name) for name in "ab" for n in range(2)]
    assert titles(divided(lines)) == ["a0", "a1", "b0", "b1"]


def test_updates_of_weights_are_one_box(divided: Callable[[Lines], InstructionGroup]) -> None:
    lines = []
    for n in range(20):
        lines.append(f"  g{n} = f32[8,8] abs(x)")
        lines.append(f"  m{n} = f32[8,8] multiply(g{n}, g{n})")
        lines.append(f"  s{n} = f32[8,8] subtract(g{n}, m{n})")
    whole = divided(lines)
    assert titles(whole) == ["s0 …"]
    [alike] = whole.things
    assert isinstance(alike, InstructionGroup)
    assert (alike.kind, alike.size, len(alike.things)) == ("alike", 60, 20)


def test_layers_without_scopes_are_found(divided: Callable[[Lines], InstructionGroup]) -> None:
    lines = layers(9, "", "x")
    lines = [
        f"  first = f32[8,8] abs(x)\n{lines[0].replace('(x, x)', '(first, first)')}",
        *lines[1:],
    ]
    whole = divided(f"{one}\n  r{n} = f32[8,8] reshape({n}.0)" for n, one in enumerate(lines))
    assert {part.kind for part in whole.parts()} >= {"scope"}
    sizes = {part.size for part in whole.parts()}
    assert max(sizes) == whole.size


def test_single_numbers_are_one_box(divided: Callable[[Lines], InstructionGroup]) -> None:
    numbers = [f"  n{n} = f32[] cosine(n{n - 1})" for n in range(1, 20)]
    others = [f"  o{n} = f32[8,8] abs(x)" for n in range(6)]
    whole = divided(['  n0 = f32[] custom-call(x), custom_call_target="f"', *numbers, *others])
    assert titles(whole) == ["single numbers", *(f"o{n}" for n in range(6))]


def test_a_loop_is_a_box_of_its_own(divided: Callable[[Lines], InstructionGroup]) -> None:
    lines = layers(8, "model", "x")
    loop = "  loop = f32[8,8] while(x), condition=c, body=b"
    assert "loop" in titles(divided([*lines, loop, "  y = f32[8,8] abs(loop)"]))


def test_nothing_is_lost(divided: Callable[[Lines], InstructionGroup]) -> None:
    lines = [*layers(30, "a/h_{}", "x"), *layers(40, "b", "x"), *layers(40, "", "x")]
    whole = divided(lines)
    names = [instruction.name for instruction in whole.instructions()]
    assert len(names) == len(set(names)) == len(lines) == whole.size
