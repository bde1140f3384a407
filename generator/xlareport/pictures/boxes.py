"""The box of one instruction: its lines, tooltip and color."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import cast

from xlareport.analysis.cost.loops import Loops
from xlareport.analysis.source.locations import PLACEHOLDERS
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import Shape
from xlareport.knowledge import opcodes
from xlareport.pictures.boxless_instructions import constant_words, short_shape
from xlareport.pictures.drawing import Family, Opening
from xlareport.pictures.metrics import LONGEST_LINE, shorten
from xlareport.pictures.style_values import folding_rules
from xlareport.runtime.units import plural

_MOST_OPERAND_LINES = 3
_TOOLTIP_VALUE = 160
_BOOKKEEPING = folding_rules().bookkeeping

_SHOWN = dict.fromkeys(
    (
        "custom_call_target",
        "dimensions",
        "direction",
        "slice",
        "dynamic_slice_sizes",
        "window",
        "replica_groups",
        "padding",
        "iota_dimension",
    )
)
"""The attributes worth a line: the first one that an instruction has."""


def family(instruction: Instruction, module: HloModule, *, fused: bool = False) -> Family:
    """Return the color of an instruction; asynchronous ones have that of the wrapped one."""
    if instruction.opcode == "parameter":
        large = (instruction.shape.element_count or 0) >= folding_rules().large_input
        return "dark-orange" if large else "orange"
    if instruction.opcode == "bitcast":
        return "green" if fused else "white"
    if instruction.opcode.startswith("async-"):
        wrapped = called_computation(instruction, module)
        return family(wrapped.root, module) if wrapped and wrapped.root else "white"
    known = opcodes.find(instruction.opcode)
    return cast("Family", known.color) if known and known.color else "white"


def called_computation(instruction: Instruction, module: HloModule) -> Computation | None:
    """Return the computation that defines an instruction's work, if the module has it."""
    called = [name for attribute, name in instruction.called if attribute != "condition"]
    return module.by_name.get(called[0]) if called else None


def lines(
    instruction: Instruction,
    module: HloModule,
    folded: Sequence[tuple[int, str]],
    times: int | None = None,
) -> list[str]:
    """Return the lines of a box.

    `folded` are the operands without a box, by their numbers; `times` is how often a loop runs.
    """
    inside = tuple(called_words(instruction, module)) if instruction.called else ()
    return [*_box_lines(instruction, inside, tuple(folded), times)]


_KEPT = 1 << 13
"""Limit on cached words of instructions, which are in pictures of many steps."""


@lru_cache(maxsize=_KEPT)
def _box_lines(
    instruction: Instruction,
    inside: tuple[str, ...],
    folded: tuple[tuple[int, str], ...],
    times: int | None,
) -> tuple[str, ...]:
    result = [instruction.name]
    if not instruction.name.startswith(instruction.opcode) or instruction.opcode == "fusion":
        result.append(_opcode_words(instruction))
    if instruction.opcode == "constant":
        result.append(constant_words(instruction))
    result += inside
    if times is not None:
        result.append(f"runs {plural(times, 'time')}")
    result += attribute_words(instruction)
    result += operand_words(folded)
    result.append(shape_line(instruction))
    return tuple(map(shorten, result))


def shape_line(instruction: Instruction) -> str:
    """Return the last line of a box: the shape, with its layout where that is unusual."""
    return _shape_line(instruction.shape)


@lru_cache(maxsize=_KEPT)
def _shape_line(shape: Shape) -> str:
    return _laid_out(shape) or short_shape(shape, LONGEST_LINE)


def _laid_out(shape: Shape) -> str:
    """Return a shape with its layout where that is not row-major, and there is room for it."""
    usual = ",".join(map(str, reversed(range(len(shape.dimensions)))))
    if shape.elements or shape.layout.strip("{}") in {"", usual}:
        return ""
    return shape.text if len(shape.text) <= LONGEST_LINE else ""


def loop_count(module: HloModule, computation: Computation, instruction: Instruction) -> int | None:
    """Return how often a loop that is in a computation runs, where that is known."""
    return (
        Loops(module).trip_count(computation, instruction).count
        if instruction.opcode == "while"
        else None
    )


def frame_title(instruction: Instruction, times: int | None) -> str:
    """Return the title of a frame with what an instruction calls."""
    runs = "" if times is None else f", runs {plural(times, 'time')}"
    return f"{instruction.name} {instruction.attributes.get('kind', instruction.opcode)}{runs}"


def _opcode_words(instruction: Instruction) -> str:
    if instruction.opcode == "parameter":
        return f"parameter {instruction.argument}"
    kind = instruction.attributes.get("kind", "")
    return f"{instruction.opcode} {kind}".strip()


def called_words(instruction: Instruction, module: HloModule) -> list[str]:
    """Return a line on each called computation: `body region_0.5: 12 add, 3 dot`."""
    result = []
    for attribute, name in instruction.called[:2]:
        if attribute == "condition":
            continue
        computation = module.by_name.get(name)
        inside = summary(computation) if computation else "not in this file"
        result.append(inside if instruction.opcode == "fusion" else f"{attribute} {inside}")
    if len(instruction.called) > 2:
        result.append(f"{len(instruction.called) - 2} more computations")
    return result


def working(computation: Computation) -> list[Instruction]:
    """Return the instructions that compute: no inputs, constants and tuples."""
    return [
        instruction
        for instruction in computation.instructions
        if instruction.opcode not in _BOOKKEEPING
    ]


def work_mix(
    module: HloModule, instructions: Iterable[Instruction]
) -> tuple[tuple[Family, int], ...]:
    """Count instructions by their color, the most frequent first."""
    counts = Counter(family(instruction, module, fused=True) for instruction in instructions)
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def is_worth_opening(computation: Computation) -> bool:
    """Return whether a picture of a computation shows more than a line with its opcodes."""
    inside = working(computation)
    return len(inside) > 1 or any(instruction.called for instruction in inside)


def openings(instruction: Instruction, module: HloModule, besides: str = "") -> tuple[Opening, ...]:
    """Return the pictures of the computations that an instruction calls, except trivial ones.

    `besides` names one that is drawn open and also has a picture of its own.
    """
    openings = []
    for attribute, name in instruction.called:
        computation = module.by_name.get(name)
        if computation is not None and is_worth_opening(computation):
            alone = ", alone" if name == besides else ""
            openings.append(Opening(f"c={name}", f"{attribute} {name}{alone}"))
    return tuple(dict.fromkeys(openings))


@lru_cache(maxsize=4096)
def summary(computation: Computation) -> str:
    """Return the work of a computation: `add` for a trivial one, else its most frequent opcodes."""
    return count_words(Counter(instruction.opcode for instruction in computation.instructions))


def count_words(counts: Counter[str]) -> str:
    """Return `12: 5 add, 4 multiply, …` for opcodes and their counts."""
    work = Counter({name: count for name, count in counts.items() if name not in _BOOKKEEPING})
    total = sum(work.values())
    if total <= 1:
        return next(iter(work), "no-op")
    most = sorted(work.items(), key=lambda item: (_rank(item[0]), -item[1], item[0]))
    kinds = [f"{count} {name}" if count > 1 else name for name, count in most]
    lines = (f"{total}: {', '.join(kinds[:end])}{', …' * (end < len(kinds))}" for end in (3, 2, 1))
    return next((line for line in lines if len(line) <= LONGEST_LINE), f"{total}: {kinds[0]}, …")


_HEAVY = ("dark-blue", "dark-green", "brown", "gray", "purple")


def _rank(opcode: str) -> int:
    """Return the sort key of an opcode by importance to the reader."""
    known = opcodes.find(opcode)
    color = known.color if known else None
    return _HEAVY.index(color) if color in _HEAVY else len(_HEAVY)


def attribute_words(instruction: Instruction) -> list[str]:
    """Return the most important attribute as a line; empty if there is none."""
    values = instruction.attributes
    if _SHOWN.keys().isdisjoint(values):
        return []
    return [f"{name}={values[name]}" for name in _SHOWN if name in values][:1]


def operand_words(folded: Sequence[tuple[int, str]]) -> list[str]:
    """Return a line for each folded operand, and one for those beyond the third."""
    result = [f"operand {number} = {words}" for number, words in folded[:_MOST_OPERAND_LINES]]
    rest = folded[_MOST_OPERAND_LINES:]
    if len(rest) == 1:
        result += [f"operand {number} = {words}" for number, words in rest]
    elif rest:
        result.append(f"{len(rest)} more operands folded")
    return result


def tooltip(instruction: Instruction, module: HloModule, folded: Iterable[tuple[int, str]]) -> str:
    """Return the details that are too long for the box, one per line."""
    return _tooltip(instruction, source_words(instruction, module), tuple(folded)[:12])


@lru_cache(maxsize=_KEPT)
def _tooltip(instruction: Instruction, source: str, folded: tuple[tuple[int, str], ...]) -> str:
    result = [instruction.name, f"{instruction.opcode} {instruction.shape.text}"]
    operands = [f"operand {number} = {words}" for number, words in folded]
    result += [
        line
        for place, line in enumerate(operands)
        if place >= _MOST_OPERAND_LINES or len(line) > LONGEST_LINE
    ]
    result += [
        f"{name}={value}"
        for name, value in instruction.attributes.items()
        if name not in {"metadata", "backend_config", "calls", "kind"}
    ][:8]
    result += [instruction.metadata.op_name, source]
    return "\n".join(shorten(line, _TOOLTIP_VALUE) for line in result if line)


def source_words(instruction: Instruction, module: HloModule) -> str:
    """Return `file.py:12 in f`; empty if the module does not have it."""
    metadata = instruction.metadata
    frame = module.stack_frames.get(metadata.stack_frame_id or 0)
    if frame is not None:
        return f"{frame.file}:{frame.line} in {frame.function}"
    if metadata.source_file not in PLACEHOLDERS:
        return f"{metadata.source_file}:{metadata.source_line or '?'}"
    return ""
