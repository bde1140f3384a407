"""The graph of a snapshot for the page script, which lays out parts of it itself.

One index has all that a picture needs of every instruction: name, opcode, shape, operands, calls.
Lines as written, sources and costs are in pieces that are loaded on demand.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct, field

from xlareport.analysis.cost.work import InstructionCost, ModuleCost
from xlareport.analysis.profile.instruction_times import NO_TIMES, PICOSECOND, OpTime
from xlareport.hlo.graph import control_predecessors
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.pictures.boxes import (
    attribute_words,
    family,
    is_worth_opening,
    shape_line,
    source_words,
    summary,
    work_mix,
    working,
)
from xlareport.pictures.shade import NO_COLOR_DATA, ColorData, Shade, shade_of
from xlareport.snapshots import ParsedSnapshot
from xlareport.storage.payloads import Payload, make_payload
from xlareport.storage.rows import flat
from xlareport.storage.string_folding import fold_strings

_LONGEST_ARGUMENT = 12
_WITH_ARGUMENT = frozenset({"parameter", "constant", "get-tuple-element"})


class Interned(Struct):
    """Values by their numbers, each once, in the order of their first use."""

    values: dict[Any, int] = field(default_factory=dict)

    def number(self, value: Any) -> int:
        """Return the number of a value."""
        return self.values.setdefault(value, len(self.values))


class ShownInstruction(Struct, frozen=True):
    """An instruction with its module; `fused` where it is in a fusion."""

    instruction: Instruction
    module: HloModule
    fused: bool = False


def columns(rows: Iterable[ShownInstruction], known: ColorData) -> Mapping[str, Any]:
    """Return columns of names, opcodes, shapes and other content or colors of boxes.

    A shape has its elements and bytes, if these are known.
    """
    names: list[str] = []
    looks, shapes, shades = Interned(), Interned(), Interned()
    cells: list[tuple[int, int, int]] = []
    arguments: list[str] = []
    for row in rows:
        instruction = row.instruction
        size = instruction.shape.element_count, instruction.shape.byte_size
        shade = shade_of(instruction, known)
        names.append(instruction.name)
        arguments.append(describe_arguments(instruction))
        cells.append(
            (
                looks.number(look(row)),
                shapes.number((shape_line(instruction), *size)),
                shades.number(_shade(shade)),
            )
        )
    return {
        "names": fold_strings(names).listed(),
        "arguments": _arguments(arguments),
        "look": [number for number, _, _ in cells],
        "shape": [number for _, number, _ in cells],
        "shade": [number for _, _, number in cells],
        "looks": [list(value) for value in looks.values],
        "shapes": [list(value) for value in shapes.values],
        "shades": [list(value) for value in shades.values],
    }


def _shade(shade: Shade) -> tuple[Any, ...]:
    """Return cost, sharding and scope, and the measured time only where there is one."""
    timed = () if shade.time is None else (short(shade.time),)
    return (short(shade.cost), shade.sharding, "\n".join(shade.scope), *timed)


def short(part: float | None) -> float | None:
    """Return a share with as many digits as readers need."""
    return None if part is None else float(f"{part:.3g}")


def look(row: ShownInstruction) -> tuple[str, str, str, str]:
    """Return opcode, the kind of a fusion, the color, and the attribute that is worth a line."""
    instruction = row.instruction
    message = "".join(attribute_words(instruction))
    return (
        instruction.opcode,
        instruction.attributes.get("kind", ""),
        family(instruction, row.module, fused=row.fused),
        message,
    )


def _arguments(words: list[str]) -> list[Any]:
    """Return the distinct texts, and each instruction's text by number, from 1; 0 for none."""
    texts = Interned()
    texts.number("")
    numbers = list(map(texts.number, words))
    return [fold_strings(list(texts.values)).listed(), numbers]


def describe_arguments(instruction: Instruction) -> str:
    """Return the number of a parameter, a short constant, or which element is taken."""
    argument = instruction.argument or instruction.attributes.get("index", "")
    is_shown = instruction.opcode in _WITH_ARGUMENT and len(argument) <= _LONGEST_ARGUMENT
    return argument if is_shown else ""


def interned(values: Iterable[Any]) -> list[Any]:
    """Return the distinct values, and for each place the index of its value."""
    distinct = Interned()
    numbers = list(map(distinct.number, values))
    return [list(distinct.values), numbers]


_MOST_INSTRUCTIONS = 200_000
"""Limit on instructions of one module; further computations are left out, as the page says."""
_PIECE = 10_000
_LONGEST_LINE = 4000


class _Placed(Struct, frozen=True):
    """An instruction, and where it is."""

    computation: Computation
    instruction: Instruction


def graph_payloads(
    key: str,
    snapshot: ParsedSnapshot,
    cost: ModuleCost | None,
    known: ColorData = NO_COLOR_DATA,
    times: Mapping[str, OpTime] = NO_TIMES,
) -> Iterator[Payload]:
    """Yield the index, called `key`, and the pieces as files.

    `cost`, `known` and `times`, by the names of instructions, are those of this snapshot.
    """
    module = snapshot.hlo
    computations = list(fitting(module))
    placed = [
        _Placed(computation, line)
        for computation in computations
        for line in computation.instructions
    ]
    yield make_payload(key, _index(snapshot, computations, known))
    costs = cost.instructions if cost else {}
    for number, first in enumerate(range(0, len(placed), _PIECE)):
        some = placed[first : first + _PIECE]
        piece = _details(some, module, costs) | _times(some, module.name, known, times)
        yield make_payload(f"{key}-{number}", piece)


def fitting(module: HloModule) -> Iterator[Computation]:
    """Yield the entry, then the other computations, up to a limit."""
    room = _MOST_INSTRUCTIONS
    for computation in sorted(
        module.computations, key=lambda computation: computation is not module.entry
    ):
        if len(computation.instructions) <= room:
            room -= len(computation.instructions)
            yield computation


def _index(
    snapshot: ParsedSnapshot, computations: Sequence[Computation], known: ColorData
) -> dict[str, Any]:
    module = snapshot.hlo
    numbers = {computation.name: number for number, computation in enumerate(computations)}
    fused = _fused(computations)
    lines = [line for computation in computations for line in computation.instructions]
    seen = (
        ShownInstruction(line, module, computation.name in fused)
        for computation in computations
        for line in computation.instructions
    )
    return {
        "label": snapshot.stage.label,
        "text": snapshot.stage.key if snapshot.read_from.name.kind == "hlo-text" else None,
        "piece": _PIECE,
        "complete": len(computations) == len(module.computations),
        "computations": [
            [computation.name, len(computation.instructions), summary(computation)]
            for computation in computations
        ],
        "inside": interned(
            _fused_colors(computation, module, fused) for computation in computations
        ),
        "roots": [_position(computation, computation.root) for computation in computations],
        "operands": flat(used for computation in computations for used in _operands(computation)),
        "controls": dict(_controls(computations)),
        "calls": dict(_calls(lines, numbers)),
        **columns(seen, known),
    }


def _fused_colors(
    computation: Computation, module: HloModule, fused: frozenset[str]
) -> tuple[bool, tuple[Any, ...]]:
    """Return whether a computation has a picture worth opening, and the colors in a fused one."""
    mix = work_mix(module, working(computation)) if computation.name in fused else ()
    return is_worth_opening(computation), tuple(chain(*mix))


def _fused(computations: Iterable[Computation]) -> frozenset[str]:
    """Return the names of the computations that fusions call."""
    return frozenset(
        name
        for computation in computations
        for line in computation.instructions
        if line.opcode == "fusion"
        for _, name in line.called
    )


def _position(computation: Computation, wanted: Instruction | None) -> int | None:
    """Return where an instruction is in its computation; None for none."""
    positions = (
        place for place, instruction in enumerate(computation.instructions) if instruction is wanted
    )
    return next(positions, None)


def _operands(computation: Computation) -> Iterator[list[int | str]]:
    """Yield for each instruction how far above it each operand is.

    A negative distance is below; `3#1` is element 1 of a tuple. Names that do not exist are left
    out.
    """
    places = {instruction.name: place for place, instruction in enumerate(computation.instructions)}
    for place, instruction in enumerate(computation.instructions):
        yield list(distances(instruction.operands, place, places))


def distances(
    operands: Iterable[str], place: int, places: Mapping[str, int]
) -> Iterator[int | str]:
    """Yield how far above `place` each operand is."""
    for operand in operands:
        name, _, element = operand.partition("#")
        if name in places:
            distance = place - places[name]
            yield f"{distance}#{element}" if element else distance


def _controls(computations: Iterable[Computation]) -> Iterator[tuple[int, list[int]]]:
    """Yield the control predecessors of instructions, by number."""
    first = 0
    for computation in computations:
        places = {line.name: place for place, line in enumerate(computation.instructions, first)}
        for place, line in enumerate(computation.instructions, first):
            if "control-predecessors" in line.attributes_text:
                names = control_predecessors(line)
                yield place, [places[name] for name in names if name in places]
        first += len(computation.instructions)


def _calls(
    lines: Iterable[Instruction], numbers: Mapping[str, int]
) -> Iterator[tuple[int, list[tuple[str, int]]]]:
    """Yield the calls of instructions: attributes and computation numbers, by number."""
    for place, line in enumerate(lines):
        called = [(attribute, numbers[name]) for attribute, name in line.called if name in numbers]
        if called:
            yield place, called


def _details(
    placed: Sequence[_Placed],
    module: HloModule,
    costs: Mapping[tuple[str, str], InstructionCost],
) -> dict[str, Any]:
    """Return columns of line parts, shapes, op_names, sources and costs of one execution."""
    lines = [box.instruction for box in placed]
    lengths, parts = flat(map(_parts, lines))
    box_costs = (costs.get((box.computation.name, box.instruction.name)) for box in placed)
    return {
        "lines": [lengths, fold_strings(parts).listed()],
        "shapes": interned(_cut(line.shape.text) for line in lines),
        "scopes": interned(line.metadata.op_name for line in lines),
        "sources": interned(source_words(line, module) for line in lines),
        "figures": interned(_cost_figures(cost) for cost in box_costs),
    }


def _times(
    placed: Sequence[_Placed], module: str, known: ColorData, times: Mapping[str, OpTime]
) -> dict[str, Any]:
    """Return the measured times of instructions, and the module's name; empty if none ran."""
    words = interned(_time(box.instruction.name, known, times) for box in placed)
    return {} if words[0] in ([], [None]) else {"times": words, "module": module}


def _time(name: str, known: ColorData, times: Mapping[str, OpTime]) -> tuple[Any, ...] | None:
    """Return count, seconds in total, own and on average, part of all runs, first microsecond."""
    op_time = times.get(name)
    if op_time is None:
        return None
    seconds = (
        short(picoseconds * PICOSECOND)
        for picoseconds in (op_time.total, op_time.own, op_time.mean)
    )
    return (op_time.count, *seconds, short(known.time.get(name)), op_time.first / 1_000_000)


def _cost_figures(cost: InstructionCost | None) -> tuple[Any, ...] | None:
    return (cost.flops, cost.bytes_accessed, cost.executions, cost.grade) if cost else None


def _parts(instruction: Instruction) -> list[str]:
    """Return the line as written, cut before each attribute where that gives the line again."""
    attributes = [f"{name}={value}" for name, value in instruction.attributes.items()]
    head = instruction.text[
        : len(instruction.text) - len(instruction.attributes_text)
    ].removesuffix(", ")
    parts = [head, *attributes]
    whole = ", ".join(parts) == instruction.text and len(instruction.text) <= _LONGEST_LINE
    return parts if whole else [_cut(instruction.text)]


def _cut(text: str) -> str:
    over = len(text) - _LONGEST_LINE
    return f"{text[:_LONGEST_LINE]}… {over:,} more characters" if over > 0 else text
