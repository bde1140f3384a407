"""Buffers into which a loop writes a slice in each iteration: what a scan saves or returns.

They hold the activations that a backward scan reads, layer by layer. What is transposed or
converted between two loops, for the second, is a copy of one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.cost.layout_spaces import space_of
from xlareport.analysis.cost.loops import TripCount
from xlareport.analysis.cost.occupancy import BufferKey, Occupancy
from xlareport.analysis.cost.phases import BACKWARD, FORWARD, is_forward, is_gradient
from xlareport.analysis.cost.tiling import allocated_size
from xlareport.analysis.cost.value_sources import ValueSources
from xlareport.analysis.source.locations import op_name_of
from xlareport.analysis.source.scopes import Phase, phase_of
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import MANTISSA_BITS, Shape
from xlareport.knowledge.opcodes import is_collective

_ALIKE = frozenset({"bitcast", "copy"})
"""They pass on the buffer that is their operand."""
_PASSES_ON = _ALIKE | {"convert", "get-tuple-element", "reshape", "transpose"}
_STORE = "/dynamic_update_slice"
"""Ending of the op_names of slice updates."""
_CALLERS = frozenset({"fusion", "call"})
_LEAST_FILLED = 0.5
"""Share of a stacked buffer that the iterations of its loop write."""
_DEEPEST = 16
"""Copies of copies, and fusions in fusions, that are followed."""


class StackedBuffer(Struct, frozen=True):
    """A loop state element of which each iteration writes a slice."""

    computation: str
    loop: str
    """The while instruction."""
    index: int
    """The place in the state."""
    instruction: str
    """The dynamic-update-slice, maybe in a fusion."""
    shape: str
    bytes: int | None
    """Of the whole buffer, with the padding of tiles."""
    iteration_bytes: int | None
    """Bytes of the buffer that one iteration fills."""
    trip_count: int | None
    scope: str
    phase: str = ""
    """`forward`, `backward` or `recomputed`, for the pass that stacks it; empty if unknown."""
    stored: str = ""
    """The op_name of the values written into it; empty if unknown."""


def find_stacked_buffers(
    module: HloModule, trip_counts: Mapping[tuple[str, str], TripCount]
) -> tuple[StackedBuffer, ...]:
    """Return the stacked buffers of the loops that have `trip_counts`, the largest first."""
    buffers = (
        buffer
        for (place, name), count in trip_counts.items()
        for buffer in _of_loop(module, place, module.by_name[place].by_name[name], count.count)
    )
    return tuple(
        sorted(buffers, key=lambda buffer: (-(buffer.bytes or 0), buffer.loop, buffer.index))
    )


def find_stacked_at_peak(
    buffers: Iterable[StackedBuffer], occupancy: Occupancy | None
) -> Iterator[StackedBuffer]:
    """Yield the buffers that add to the peak of device memory, of those at one place the first.

    Where live ranges are unknown: those that the layouts place in device memory.
    """
    seen: set[tuple[int, int, int]] = set()
    for buffer in buffers:
        if occupancy is None:
            is_there, places = not space_of(buffer.shape), set[tuple[int, int, int]]()
        else:
            key, peak = (buffer.loop, (buffer.index,)), occupancy.position
            places = {*occupancy.places_at(key, peak)}
            is_there = occupancy.is_temporary_at(key, peak) and not places & seen
        if is_there:
            seen |= places
            yield buffer


def _of_loop(
    module: HloModule, place: str, loop: Instruction, count: int | None
) -> Iterator[StackedBuffer]:
    body = module.callee(loop, "body")
    root = body.root if body else None
    if body is None or root is None or root.opcode != "tuple" or not body.parameters:
        return
    for index, (name, element) in enumerate(zip(root.operands, loop.shape.elements, strict=False)):
        written = _find_update(module, body, name, _DEEPEST)
        if written is not None and written.buffer == f"{body.parameters[0].name}#{index}":
            store = written.update
            update = written.computation.by_name.get(store.operands[1])
            size = allocated_size(element)
            part = _update_bytes(update.shape, element) if update else None
            if not _is_filled(size, part, count):
                continue
            yield StackedBuffer(
                *(place, loop.name, index, store.name, element.text, size),
                iteration_bytes=part,
                trip_count=count,
                scope=store.metadata.op_name,
                phase=_phase(store, loop, module),
                stored=_stored(body, name, written.buffer),
            )


def _is_filled(size: int | None, part: int | None, count: int | None) -> bool:
    """Return whether the slices of all iterations fill a buffer, as those of a scan do.

    A loop that updates a part of a buffer that it was given, such as a decoder's cache, stacks
    nothing. Peeled iterations write outside of the loop. Where a figure is unknown, this is not
    known and the buffer is left out.
    """
    if size is None or part is None or count is None:
        return False
    return _LEAST_FILLED * size <= part * count


def _stored(body: Computation, operand: str, buffer: str) -> str:
    """Return the op_name of the one array that is written, through copies named after the store."""
    writer = body.by_name.get(_source(body, operand).partition("#")[0])
    names = [name for name in writer.operand_names if name in body.by_name] if writer else []
    others = (name for name in names if _source(body, name) != buffer)
    values = [name for name in others if body.by_name[name].shape.dimensions]
    name = values[0] if len(values) == 1 else ""
    for _ in range(_DEEPEST):
        value = body.by_name.get(name)
        op_name = value.metadata.op_name if value else ""
        if value is None or (op_name and not op_name.endswith(_STORE)):
            return op_name
        name = value.operands[0] if value.opcode in _PASSES_ON and value.operands else ""
    return ""


def _phase(store: Instruction, loop: Instruction, module: HloModule) -> str:
    """Return the phase of a slice update, else that of its loop."""
    for instruction in (store, loop):
        if phase_of(op_name_of(instruction, module)) is Phase.RECOMPUTED:
            return Phase.RECOMPUTED
        if is_gradient(instruction, module):
            return BACKWARD
        if is_forward(instruction, module):
            return FORWARD
    return ""


def _update_bytes(update: Shape, buffer: Shape) -> int | None:
    """Return the bytes of an update in the buffer's type, which a fusion may convert it to."""
    elements, whole, size = update.element_count, buffer.element_count, allocated_size(buffer)
    return None if elements is None or not whole or size is None else size * elements // whole


class _Written(Struct, frozen=True):
    """A buffer that a dynamic-update-slice writes a part of."""

    computation: Computation
    update: Instruction
    buffer: str
    """Its operand, by its name in the computation of the caller."""


def _find_update(
    module: HloModule, computation: Computation, operand: str, deepest: int
) -> _Written | None:
    """Return the instruction that updates a value in part; None if there is none."""
    name, _, element = _source(computation, operand).partition("#")
    instruction = computation.by_name.get(name)
    if instruction is None or not deepest:
        return None
    if instruction.opcode == "dynamic-update-slice" and len(instruction.operands) > 1:
        return _Written(computation, instruction, _source(computation, instruction.operands[0]))
    called = module.callees(instruction)
    if instruction.opcode not in _CALLERS or not called:
        return None
    inner = called[0]
    inside = _find_update(module, inner, _result(inner, element), deepest - 1)
    numbers = {parameter.name: number for number, parameter in enumerate(inner.parameters)}
    number = numbers.get(inside.buffer) if inside else None
    if inside is None or number is None or number >= len(instruction.operands):
        return None
    buffer = _source(computation, instruction.operands[number])
    return _Written(inside.computation, inside.update, buffer)


def _result(computation: Computation, element: str) -> str:
    """Return the name of a computation's result, or of an element of it."""
    root = computation.root
    if root is None or not element:
        return root.name if root else ""
    operands = dict(enumerate(root.operands)) if root.opcode == "tuple" else {}
    return operands.get(int(element), "") if element.isdecimal() and len(element) < 9 else ""


def _source(computation: Computation, operand: str) -> str:
    """Return where a value comes from through copies: `name`, or `name#2` of a tuple."""
    for _ in range(_DEEPEST):
        instruction = computation.by_name.get(operand)
        if instruction is None or not instruction.operands:
            break
        if instruction.opcode == "get-tuple-element":
            return f"{instruction.operands[0]}#{instruction.attributes.get('index', '')}"
        if instruction.opcode not in _ALIKE:
            break
        operand = instruction.operands[0]
    return operand


def find_kept_by_policy(
    before: HloModule | None, stacked: Sequence[StackedBuffer]
) -> tuple[StackedBuffer, ...]:
    """Return the stacked buffers of values that a policy keeps, by the program before optimization.

    JAX marks each such float with a reduce-precision to its own type, so that XLA does not keep it
    in a wider one.
    """
    marks = set(_list_marks(before)) if before is not None else set()
    return tuple(
        buffer
        for buffer in stacked
        if any(
            buffer.stored.endswith(f"/{name}") and buffer.shape.partition("[")[0] == element
            for name, element in marks
        )
    )


def _list_marks(module: HloModule) -> Iterator[tuple[str, str]]:
    """Yield (op_name, element type) of each marked value."""
    for computation, mark in module.placed:
        element = mark.shape.element_type
        if mark.opcode != "reduce-precision":
            continue
        if mark.attributes.get("mantissa_bits") != str(MANTISSA_BITS.get(element)):
            continue  # it changes the value
        value = computation.operand(mark)
        if value is not None and value.metadata.op_name:
            yield value.metadata.op_name, element


class StackCopy(Struct, frozen=True):
    """A value that is moved out of a stacked buffer, which may be in use no more."""

    key: BufferKey
    size: int
    """Bytes of its place in memory."""
    buffer: StackedBuffer


def find_stack_copies(
    values: Iterable[tuple[BufferKey, int]], stacks: Iterable[StackedBuffer], sources: ValueSources
) -> tuple[StackCopy, ...]:
    """Return the copies of stacked buffers among values with their bytes.

    What a collective returns is no copy: devices gather it anew.
    """
    by_place = {(stack.computation, stack.loop, stack.index): stack for stack in stacks}
    behind = (
        (key, size, by_place.get(place))
        for key, size in values
        for place in _elements_behind(key[0], sources)
    )
    return tuple(StackCopy(key, size, stack) for key, size, stack in behind if stack is not None)


def _elements_behind(name: str, sources: ValueSources) -> Iterator[tuple[str, str, int]]:
    """Yield the loop state that a value is moved from: computation, loop and place."""
    for computation, instruction in sources.trail(name):
        if is_collective(instruction.opcode):
            return
        element = instruction.taken_element
        if element is not None and instruction.operands:
            yield computation.name, instruction.operands[0], element
            return
