"""What no scope holds is divided where its data flow falls apart or repeats itself."""

from collections.abc import Callable

import pytest

from xlareport.hlo.model import HloModule
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.flow import FlowDivider, Repeat, find_repeat
from xlareport.pictures.grouper import InstructionGrouper
from xlareport.pictures.parts import InstructionGroup, Thing

Divide = Callable[..., list[Thing]]


@pytest.fixture
def divided(module_of: Callable[[str], HloModule]) -> Divide:
    """Return a function that divides an entry of these lines."""

    def divide(lines: list[str], *, crowded: bool = False) -> list[Thing]:
        text = "\n".join(f"  {line}" for line in lines)
        module = module_of(f"ENTRY e {{\n  x = f32[8] parameter(0)\n{text}\n}}")
        assert module.entry is not None
        folding = Folding(module.entry, inputs=False)
        flow = FlowDivider(module, folding, InstructionGrouper(folding))
        own = [
            instruction
            for instruction in module.entry.instructions
            if not folding.is_folded(instruction.name)
        ]
        return flow.divide(own, "e", crowded=crowded)

    return divide


def chain(name: str, length: int, opcodes: tuple[str, ...] = ("abs", "negate")) -> list[str]:
    """Return instructions that follow one another."""
    return [
        f"{name}{n} = f32[8] {opcodes[n % len(opcodes)]}({f'{name}{n - 1}' if n else 'x'})"
        for n in range(length)
    ]


def told(things: list[Thing]) -> list[tuple[str, int]]:
    return [
        (thing.kind, thing.size) if isinstance(thing, InstructionGroup) else (thing.name, 1)
        for thing in things
    ]


def test_a_crowd_falls_into_pieces(divided: Divide) -> None:
    lines = [*chain("a", 5), *chain("b", 7), *chain("c", 1)]
    assert told(divided(lines, crowded=True)) == [("flow", 7), ("flow", 5), ("c0", 1)]


def test_few_instructions_stay_as_they_are(divided: Divide) -> None:
    assert told(divided([*chain("a", 2), *chain("b", 1)])) == [("a0", 1), ("a1", 1), ("b0", 1)]


def test_pieces_alike_are_one_part(divided: Divide) -> None:
    lines = [one for name in "abc" for one in chain(name, 4)]
    [alike] = divided(lines)
    assert isinstance(alike, InstructionGroup)
    assert (alike.kind, alike.title, alike.size) == ("alike", "a3 …", 12)
    assert [thing.title for thing in alike.things if isinstance(thing, InstructionGroup)] == [
        "subgraph ending at a3",
        "subgraph ending at b3",
        "subgraph ending at c3",
    ]


def test_what_everybody_reads_holds_nothing_together(divided: Divide) -> None:
    shared = ["shared = f32[8] abs(x)"]
    users = [f"u{n} = f32[8] negate(shared)" for n in range(9)]
    assert told(divided([*shared, *users], crowded=True)) == [("alike", 9), ("shared", 1)]


def test_layers_are_found_in_a_long_piece(divided: Divide) -> None:
    layer = ("abs", "negate", "tanh", "cosine", "sine", "exponential", "log", "sqrt")
    lines = [*chain("a", 3, ("floor", "ceil", "sign")), *chain("b", 8 * 6, layer)]
    lines[3] = "b0 = f32[8] abs(a2)"
    [piece] = divided(lines, crowded=True)
    assert isinstance(piece, InstructionGroup)
    assert told(list(piece.things)) == [("a0", 1), ("a1", 1), ("a2", 1), ("alike", 48)]
    alike = piece.things[3]
    assert isinstance(alike, InstructionGroup)
    assert told(list(alike.things)) == [("stretch", 8)] * 6


def test_many_small_pieces_are_put_together(divided: Divide) -> None:
    opcodes = ("abs", "negate", "tanh", "cosine", "sine", "exponential", "log", "sqrt", "floor")
    lines = [
        line
        for n in range(30)
        for line in chain(f"p{n}x", 2 + n % 5, (opcodes[n % 9], opcodes[(n // 9 + n) % 9]))
    ]
    things = divided(lines, crowded=True)
    assert len(things) < 30
    assert sum(thing.size if isinstance(thing, InstructionGroup) else 1 for thing in things) == len(
        lines
    )


LAYER = ["norm", "dot", "softmax", "dot", "add", "norm", "dot", "gelu", "dot", "add"]


@pytest.mark.parametrize("layers", [3, 12, 80])
def test_layers_between_other_things(layers: int) -> None:
    repeat = find_repeat(["embed", "split", *LAYER * layers, "loss"])
    assert repeat == Repeat(2, 10, layers)


def test_two_are_not_repeated() -> None:
    assert find_repeat(LAYER * 2) is None


def test_the_shortest_period_is_found() -> None:
    assert find_repeat(LAYER * 12) == Repeat(0, 10, 12)


def test_the_repeat_that_covers_most() -> None:
    short = ["a", "b", "c", "d", "e", "f"]
    repeat = find_repeat([*short * 3, "x", *LAYER * 5])
    assert repeat == Repeat(19, 10, 5)


def test_nothing_repeats_in_what_is_all_different_or_all_the_same() -> None:
    assert find_repeat(list(range(100))) is None
    assert find_repeat([]) is None
    same = find_repeat(["add"] * 30)
    assert same is None


def test_a_layer_that_differs_ends_the_repeat() -> None:
    other = [*LAYER[:4], "reshape", *LAYER[5:]]
    assert find_repeat([*LAYER * 4, *other, *LAYER * 2]) == Repeat(0, 10, 4)


def test_layers_in_which_something_repeats_itself() -> None:
    layer = [*["dot", "add", "tanh", "log", "abs", "sine", "exp"] * 3, "norm", "mul", "sqrt"]
    assert find_repeat(layer * 9) == Repeat(0, 24, 9)


def test_the_shortest_period_of_a_repeat_is_told() -> None:
    assert find_repeat([*"ab" * 30, *"xyz"]) == Repeat(0, 2, 30)
    assert find_repeat([*"abcabd" * 20]) == Repeat(0, 6, 20)
