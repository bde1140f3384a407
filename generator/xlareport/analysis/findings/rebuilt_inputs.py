"""Donated input rebuilt by a loop.

A loop reads the slices of a donated input and writes as many new ones into a second buffer of the
same shape. That buffer becomes the output that is aliased with the input. `jax.lax.scan` does this
with a cache that is both its `xs` and its `ys`. An array in the loop's carry is updated in place.
The finding appears if the second buffer is 1% or more of the peak, or its copies take 2% or more of
the roofline time.
"""

from collections.abc import Iterator

from msgspec import Struct

from xlareport.analysis.cost.donation import find_donations
from xlareport.analysis.cost.layout_spaces import space_of
from xlareport.analysis.cost.stacked import StackedBuffer, find_stacked_buffers
from xlareport.analysis.findings.arguments import copy_path
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime import units

LEAST_SHARE = 0.02
"""Of the module's roofline time."""
LEAST_MEMORY = 0.01
"""Of the peak memory."""


class _Rebuilt(Struct, frozen=True):
    """A donated input, and the loop that writes its new values into a buffer of its own."""

    parameter: Instruction
    loop: Instruction
    buffer: StackedBuffer
    copies: tuple[Instruction, ...]
    """They move the buffer of the loop into the output."""


def rebuilt_inputs(case: Case) -> Iterator[Finding]:
    """Report donated inputs whose slices a loop reads and writes into another buffer."""
    entry = case.module.entry
    for rebuilt in _find_rebuilt(case, entry) if entry else ():
        costs = [
            case.cost.instructions.get((rebuilt.buffer.computation, copy.name))
            for copy in rebuilt.copies
        ]
        seconds = sum(case.least(cost) for cost in costs if cost)
        size = 0 if space_of(rebuilt.buffer.shape) else rebuilt.buffer.bytes or 0
        peak = case.occupancy.peak if case.occupancy else None
        is_large = size > 0 and peak is not None and size >= LEAST_MEMORY * peak
        if is_large or case.is_noticeable(seconds, LEAST_SHARE):
            yield _finding(case, rebuilt, seconds, size)


def _finding(case: Case, rebuilt: _Rebuilt, seconds: float, size: int) -> Finding:
    name = rebuilt.parameter.metadata.op_name or rebuilt.parameter.name
    copies = (
        f", which {join_names(copy.name for copy in rebuilt.copies)} then copies into the output: "
        f"{case.share_words(seconds)}"
        if seconds
        else ""
    )
    instructions = (rebuilt.parameter, rebuilt.loop, *rebuilt.copies)
    return Finding(
        title="Donated input rebuilt by a loop",
        places=tuple(
            (rebuilt.buffer.computation, instruction.name) for instruction in instructions
        ),
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


def _find_rebuilt(case: Case, entry: Computation) -> Iterator[_Rebuilt]:
    aliases = find_donations(case.module).aliases
    if not aliases or entry.root is None:
        return
    stacks = {
        (buffer.loop, buffer.index): buffer
        for buffer in find_stacked_buffers(case.module, case.cost.trip_counts)
        if buffer.computation == entry.name
    }
    for alias in aliases:
        value: Instruction | None = entry.root
        if entry.root.opcode == "tuple" and len(alias.output) == 1:
            value = entry.operand(entry.root, alias.output[0])
        path = copy_path(entry, value)
        loop, index = _element(entry, path[-1]) if path else (None, -1)
        buffer = stacks.get((loop.name, index)) if loop else None
        if loop is None or buffer is None or alias.parameter >= len(entry.parameters):
            continue
        parameter = entry.parameters[alias.parameter]
        if parameter.shape.dimensions and _is_read(case.module, entry, loop, parameter, index):
            copies = tuple(passed for passed in path if passed.opcode.startswith("copy"))
            yield _Rebuilt(parameter, loop, buffer, copies)


def _element(computation: Computation, value: Instruction) -> tuple[Instruction | None, int]:
    """Return the loop and the number of the element of its state that a value is."""
    loop = computation.operand(value) if value.opcode == "get-tuple-element" else None
    index = value.attributes.get("index", "")
    if loop is None or loop.opcode != "while" or not index.isdecimal():
        return None, -1
    return loop, int(index)


def _is_read(
    module: HloModule, entry: Computation, loop: Instruction, parameter: Instruction, index: int
) -> bool:
    """Return whether an input is an element of a loop's state that its body leaves as it is."""
    body = module.callee(loop, "body")
    state = entry.operand(loop)
    root = body.root if body else None
    if body is None or state is None or state.opcode != "tuple" or root is None:
        return False
    for number, name in enumerate(state.operand_names):
        given = entry.by_name.get(name)
        kept = body.operand(root, number)
        if number == index or given is None or kept is None:
            continue
        is_kept = kept.opcode == "get-tuple-element" and kept.taken_element == number
        if is_kept and copy_path(entry, given)[-1] is parameter:
            return True
    return False
