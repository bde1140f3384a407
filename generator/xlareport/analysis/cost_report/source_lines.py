"""The instructions that each line of the user's program became, and their cost."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Struct, field

from xlareport.analysis.cost.breakdown import CostPart, divide
from xlareport.analysis.cost.fusion_shares import Shares
from xlareport.analysis.cost.residency import Share
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.source.locations import (
    SourcePlace,
    find_call_site,
    find_user_frame,
    places_of,
    user_functions,
)
from xlareport.analysis.source.member_places import LineShares, MemberPlaces
from xlareport.analysis.source.served_ops import OpShares
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.readers.stablehlo import StablehloOperation

ReadLines = Callable[[str], Sequence[str] | None]
"""Returns the lines of a source file; None where it cannot or must not be read."""

MOST_LINES = 300
_MOST_OF_EACH = 40
_AROUND = 3


class LineInstruction(Struct, frozen=True):
    """An instruction of the final module that does work for a line."""

    computation: str
    instruction: str
    operations: tuple[tuple[str, int], ...]
    """(opcode, count) of the instructions of the line in it; several inside a fusion."""


class SourceLine(Struct, frozen=True):
    """A line of the user's program."""

    place: SourcePlace
    cost: CostPart
    peak_bytes: int | None
    """Bytes of its values that are live at the peak; None if unknown."""
    stablehlo: tuple[str, ...]
    """Operations that the framework handed to XLA for it, the first few."""
    stablehlo_count: int
    before: tuple[str, ...]
    """Instructions in the first snapshot, without attributes, the first few."""
    before_count: int
    became: tuple[LineInstruction, ...]
    """In the final module, the first few."""
    became_count: int
    callers: tuple[str, ...] = ()
    """The other functions of the user's program in the stacks of its instructions in the final
    module, the innermost first."""
    call_sites: tuple[str, ...] = ()
    """The lines of the user's program that call its function, in these stacks."""
    excerpt: tuple[tuple[int, str], ...] = ()
    """The line with those around it; empty where sources are not read."""


class SourceReport(Struct, frozen=True):
    """All source lines that the module names."""

    lines: tuple[SourceLine, ...] = ()
    """Sorted by estimated time, the longest first."""
    count: int = 0
    """How many there are."""
    unplaced: CostPart = field(default_factory=lambda: CostPart(""))
    """The cost of instructions without a source line."""
    has_stablehlo: bool = False


class SourceEvidence(Struct, frozen=True):
    """The dump's information about a module's source lines."""

    first: HloModule | None
    """The first snapshot; None where the final one is alone."""
    final: HloModule
    stablehlo: Sequence[StablehloOperation]
    peak: Sequence[Share] | None
    """The peak of memory by line; None where it is not known."""
    served: Mapping[InstructionKey, OpShares] = field(default_factory=dict)
    """The ops that instructions work for: a combined collective for those of its members."""


def report_source_lines(
    evidence: SourceEvidence, cost: ModuleCost, shares: Shares, read: ReadLines | None
) -> SourceReport:
    """Return each source line with its instructions; `read` returns source texts."""
    final, peak = evidence.final, evidence.peak
    part_of = {part.name: part for part in _divide_by_line(evidence, cost, shares)}
    places = _source_places(final)
    given = _given(evidence.stablehlo)
    before = _instructions(evidence.first) if evidence.first else {}
    became = _became(final, cost, shares)
    living = {share.name: share.size for share in peak} if peak is not None else None
    callers = _callers(final)
    named = [name for name in part_of if name in places]
    lines = tuple(
        SourceLine(
            place=places[name],
            cost=part_of[name],
            peak_bytes=None if living is None else living.get(name, 0),
            stablehlo=tuple(given.get(name, ())[:_MOST_OF_EACH]),
            stablehlo_count=len(given.get(name, ())),
            before=tuple(map(_short_text, before.get(name, ())[:_MOST_OF_EACH])),
            before_count=len(before.get(name, ())),
            became=tuple(became.get(name, ())[:_MOST_OF_EACH]),
            became_count=len(became.get(name, ())),
            callers=tuple(
                caller for caller in callers[name].functions if caller != places[name].function
            ),
            call_sites=tuple(callers[name].call_sites),
            excerpt=_excerpt(places[name], read) if read else (),
        )
        for name in named[:MOST_LINES]
    )
    return SourceReport(lines, len(named), part_of.get("", CostPart("")), has_stablehlo=bool(given))


def _divide_by_line(
    evidence: SourceEvidence, cost: ModuleCost, shares: Shares
) -> tuple[CostPart, ...]:
    """Sum up the module's cost by line; a combined collective counts to those of its members."""
    places = MemberPlaces(evidence.final)

    def lines_of(computation: Computation, instruction: Instruction) -> LineShares:
        ops = evidence.served.get((computation.name, instruction.name), ())
        return places.shares(computation, instruction, ops)

    return divide(evidence.final, cost, lines_of, shares)


def _source_places(module: HloModule) -> Mapping[str, SourcePlace]:
    place = places_of(module)
    places: dict[str, SourcePlace] = {}
    for instruction in module.instructions:
        where = place(instruction)
        # One without its stack has the line alone: others of the line name the function.
        if where is not None and not (where.text in places and places[where.text].function):
            places[where.text] = where
    return places


class _Callers(NamedTuple):
    """What is in the stacks of the instructions of a line, each once."""

    functions: dict[str, None]
    call_sites: dict[str, None]


def _callers(module: HloModule) -> Mapping[str, _Callers]:
    """Return the functions and the direct call sites in the stacks of each line's instructions."""
    place = places_of(module)
    callers: defaultdict[str, _Callers] = defaultdict(lambda: _Callers({}, {}))
    seen: set[tuple[str, int | None]] = set()
    for instruction in module.instructions:
        where = place(instruction)
        if where is None:
            continue
        stack = where.text, instruction.metadata.stack_frame_id
        if stack in seen:
            continue
        seen.add(stack)
        functions, call_sites = callers[where.text]
        functions |= dict.fromkeys(user_functions(instruction, module))
        site = find_call_site(instruction, module, where)
        call_sites |= {site.short: None} if site is not None else {}
    return callers


def _given(operations: Sequence[StablehloOperation]) -> Mapping[str, list[str]]:
    operations_of: dict[str, list[str]] = {}
    for operation in operations:
        where = find_user_frame(SourcePlace(file, line) for file, line in operation.frames)
        if where is not None:
            operations_of.setdefault(where.text, []).append(operation.text)
    return operations_of


def _instructions(module: HloModule) -> Mapping[str, list[Instruction]]:
    place = places_of(module)
    instructions: dict[str, list[Instruction]] = {}
    for instruction in module.instructions:
        where = place(instruction) if instruction.opcode != "parameter" else None
        if where is not None:
            instructions.setdefault(where.text, []).append(instruction)
    return instructions


def _short_text(instruction: Instruction) -> str:
    inside = ", ".join(f"%{name}" for name in instruction.operands) or instruction.argument
    return f"%{instruction.name} = {instruction.shape.text} {instruction.opcode}({inside})"


def _became(
    module: HloModule, cost: ModuleCost, shares: Shares
) -> Mapping[str, list[LineInstruction]]:
    """Return the instructions of each line, fused ones as their fusion.

    Those come first in which the line takes most time, not those that take most as a whole.
    """
    place, around = places_of(module), dict(_fusions(module))
    counts: dict[str, dict[tuple[str, str], Counter[str]]] = {}
    times: defaultdict[tuple[str, InstructionKey], float] = defaultdict(float)
    for part, instruction in module.placed:
        where = place(instruction) if (part.name, instruction.name) in cost.instructions else None
        if where is None or instruction.opcode in ("parameter", "constant", "tuple", "fusion"):
            continue
        holder = _outermost((part.name, instruction.name), around)
        counts.setdefault(where.text, {}).setdefault(holder, Counter())[instruction.opcode] += 1
        seconds = shares.seconds.get((part.name, instruction.name), 0.0)
        times[where.text, holder] += seconds

    def dearest(line: str, holder: InstructionKey) -> tuple[float, float]:
        return -times[line, holder], -shares.whole.get(holder, 0.0)

    return {
        line: [
            LineInstruction(*key, tuple(held[key].most_common()))
            for key in sorted(held, key=partial(dearest, line))
        ]
        for line, held in counts.items()
    }


def _outermost(key: tuple[str, str], around: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """Follow fusions outwards to the one that runs as a whole; a circle ends the walk."""
    for _ in range(len(around)):
        if key[0] not in around:
            break
        key = around[key[0]]
    return key


def _fusions(module: HloModule) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield fused computations with the fusion that runs each: (computation, instruction)."""
    for part, instruction in module.placed:
        if instruction.opcode == "fusion":
            yield from ((name, (part.name, instruction.name)) for _, name in instruction.called)


def _excerpt(place: SourcePlace, read: ReadLines) -> tuple[tuple[int, str], ...]:
    lines = read(place.file) if place.line is not None else None
    if lines is None or place.line is None or not 0 < place.line <= len(lines):
        return ()
    first, last = max(1, place.line - _AROUND), min(len(lines), place.line + _AROUND)
    return tuple((number, lines[number - 1]) for number in range(first, last + 1))
