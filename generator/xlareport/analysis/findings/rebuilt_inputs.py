"""Donated input rebuilt by a loop.

A loop reads the slices of a donated input and writes as many new ones into a second buffer of the
same shape. That buffer becomes the output that is aliased with the input, maybe after other loops,
or as the carry of a loop around this one. `jax.lax.scan` does this with a cache that is both its
`xs` and its `ys`. An array in the loop's carry is updated in place. The finding appears if the
second buffer is 1% or more of the peak, or its copies take 2% or more of the roofline time.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.cost.donation import find_donations
from xlareport.analysis.cost.layout_spaces import space_of
from xlareport.analysis.cost.stacked import StackedBuffer, find_stacked_buffers
from xlareport.analysis.findings.arguments import copy_path
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.runtime import units

LEAST_SHARE = 0.02
"""Of the module's roofline time."""
LEAST_MEMORY = 0.01
"""Of the peak memory."""
_DEEPEST = 16
"""Loops in loops and after loops that are followed."""


class _Rebuilt(Struct, frozen=True):
    """A loop that writes the new values of what it reads into a buffer of its own."""

    loop: Instruction
    buffer: StackedBuffer
    copies: tuple[InstructionKey, ...] = ()
    """They move the buffer of the loop on, the last first."""


class _Loops(Struct, frozen=True):
    """The loops of a module, and what is known of values that they return."""

    module: HloModule
    stacked: Mapping[tuple[str, str, int], StackedBuffer]
    """By computation, loop and place in its state."""
    traced: dict[tuple[str, str, int], tuple[_Rebuilt, ...] | None] = field(default_factory=dict)
    """By computation, value and number of what is given to the computation."""


def rebuilt_inputs(case: Case) -> Iterator[Finding]:
    """Report donated inputs whose slices a loop reads and writes into another buffer."""
    entry = case.module.entry
    for parameter, rebuilt in _find_rebuilt(case, entry) if entry else ():
        costs = [case.cost.instructions.get(copy) for copy in rebuilt.copies]
        seconds = sum(case.least(cost) for cost in costs if cost)
        size = 0 if space_of(rebuilt.buffer.shape) else rebuilt.buffer.bytes or 0
        peak = case.occupancy.peak if case.occupancy else None
        is_large = size > 0 and peak is not None and size >= LEAST_MEMORY * peak
        if entry and (is_large or case.is_noticeable(seconds, LEAST_SHARE)):
            yield _finding(case, (entry, parameter), rebuilt, seconds, size)


def _finding(
    case: Case,
    given: tuple[Computation, Instruction],
    rebuilt: _Rebuilt,
    seconds: float,
    size: int,
) -> Finding:
    entry, parameter = given
    name = parameter.metadata.op_name or parameter.name
    is_last = all(place == entry.name for place, _ in rebuilt.copies)
    copies = (
        f", which {join_names(name for _, name in rebuilt.copies)} then copies into the "
        f"{'output' if is_last else 'carry of the loop around it'}: {case.share_words(seconds)}"
        if seconds
        else ""
    )
    loop = (rebuilt.buffer.computation, rebuilt.loop.name)
    return Finding(
        title="Donated input rebuilt by a loop",
        places=((entry.name, parameter.name), loop, *rebuilt.copies),
        occurrences=1,
        evidence=(
            f"`{rebuilt.loop.name}` reads slices of the donated input `{name}` and writes new ones "
            f"into a second buffer of {units.byte_size(rebuilt.buffer.bytes or 0)}{copies}."
        ),
        suggestion=(
            "Keep the array in the carry of the loop and write the changed part with "
            "jax.lax.dynamic_update_slice, instead of passing it as xs and returning it as ys of "
            "jax.lax.scan: XLA then updates it in place."
        ),
        grade="matched",
        weight=seconds,
        seconds=seconds or None,
        bytes=size or None,
    )


def _find_rebuilt(case: Case, entry: Computation) -> Iterator[tuple[Instruction, _Rebuilt]]:
    """Yield donated inputs with each loop that rebuilds them on the way to their outputs."""
    aliases = find_donations(case.module).aliases
    if not aliases or entry.root is None:
        return
    buffers = find_stacked_buffers(case.module, case.cost.trip_counts)
    stacked = {(buffer.computation, buffer.loop, buffer.index): buffer for buffer in buffers}
    loops = _Loops(case.module, stacked)
    for alias in aliases:
        value: Instruction | None = entry.root
        if entry.root.opcode == "tuple" and len(alias.output) == 1:
            value = entry.operand(entry.root, alias.output[0])
        if value is None or alias.parameter >= len(entry.parameters):
            continue
        parameter = entry.parameters[alias.parameter]
        if parameter.shape.dimensions:
            rebuilt = _trace(loops, entry, value, alias.parameter, _DEEPEST)
            yield from ((parameter, item) for item in rebuilt or ())


def _trace(
    loops: _Loops, place: Computation, value: Instruction, number: int, deepest: int
) -> tuple[_Rebuilt, ...] | None:
    """Return the loops that rebuild an array on its way to a value; None if it is not its origin.

    The array is an argument of the entry computation, else an element of the state of a loop.
    """
    path = copy_path(place, value)
    if _is_given(place, path[-1], number):
        return ()
    key = (place.name, path[-1].name, number)
    if key not in loops.traced:
        loops.traced[key] = None  # a circle ends the walk
        loops.traced[key] = _trace_loop(loops, place, path[-1], number, deepest)
    rebuilt = loops.traced[key]
    if not rebuilt:
        return rebuilt
    copies = [(place.name, passed.name) for passed in path if passed.opcode.startswith("copy")]
    last = replace(rebuilt[-1], copies=(*copies, *rebuilt[-1].copies))
    return (*rebuilt[:-1], last)


def _is_given(place: Computation, value: Instruction, number: int) -> bool:
    """Return whether a value is an argument of the entry computation, or an element of a state."""
    if place.is_entry:
        return place.parameters[number] is value
    is_element = value.opcode == "get-tuple-element" and value.taken_element == number
    state = place.operand(value) if is_element else None
    return state is not None and state.opcode == "parameter"


def _trace_loop(
    loops: _Loops, place: Computation, value: Instruction, number: int, deepest: int
) -> tuple[_Rebuilt, ...] | None:
    """Return the same of what a loop returns; None for anything else.

    A loop that has the array in the element that it returns updates it in place, or keeps others in
    its body that rebuild it.
    """
    loop, index = _element(place, value)
    body = loops.module.callee(loop, "body") if loop else None
    state = place.operand(loop) if loop else None
    if loop is None or body is None or body.root is None or state is None or not deepest:
        return None
    first = place.operand(state, index) if state.opcode == "tuple" else None
    last = body.operand(body.root, index)
    before = _trace(loops, place, first, number, deepest - 1) if first else None
    inside = _trace(loops, body, last, index, deepest - 1) if last else None
    buffer = loops.stacked.get((place.name, loop.name, index))
    if before is not None:
        return (*before, *(inside or ())) if buffer or inside is not None else None
    former = _trace_read(loops, place, loop, number, deepest) if buffer else None
    return (*former, _Rebuilt(loop, buffer)) if buffer and former is not None else None


def _element(computation: Computation, value: Instruction) -> tuple[Instruction | None, int]:
    """Return the loop and the number of the element of its state that a value is."""
    loop, index = computation.operand(value), value.taken_element
    if index is None or loop is None or loop.opcode != "while":
        return None, -1
    return loop, index


def _trace_read(
    loops: _Loops, place: Computation, loop: Instruction, number: int, deepest: int
) -> tuple[_Rebuilt, ...] | None:
    """Return the same of the array that a loop has in its state and leaves as it is."""
    state, body = place.operand(loop), loops.module.callee(loop, "body")
    if state is None or body is None or body.root is None:
        return None
    for index, given in enumerate(place.operands(state)):
        kept = body.operand(body.root, index)
        if given is None or kept is None or not _is_given(body, kept, index):
            continue
        former = _trace(loops, place, given, number, deepest - 1)
        if former is not None:
            return former
    return None
