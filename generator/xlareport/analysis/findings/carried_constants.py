"""Constant array carried by a loop.

A loop has an array in its state that no iteration changes, and that is computed from scalar
constants alone, such as the broadcast of `-inf` for a mask. It uses memory during the whole loop,
and each iteration reads it. Computed in the body, it would be fused into its readers. JAX moves it
out of a scan that is differentiated, unless it is computed from a value of the iteration. The
finding appears if the arrays of a loop in use at the peak are 1 MiB or more, or if reading and
copying them takes 2% or more of the roofline time. Arrays below 64 KiB do not count, nor do
operands of matmuls, convolutions, custom calls and collectives, because these need the array in
memory.
"""

from collections.abc import Collection, Iterator

from msgspec import Struct

from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.tiling import main_memory_size
from xlareport.analysis.findings.arguments import copy_path
from xlareport.analysis.findings.finding import (
    MOST_PLACES,
    Case,
    Finding,
    describe_executions,
    join_names,
)
from xlareport.analysis.findings.loop_state import is_element, is_kept
from xlareport.hlo.graph import readers_behind
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS, SAME_ORDER
from xlareport.runtime import units
from xlareport.runtime.graphs import reachable

LEAST_ARRAY = 1 << 16
"""Bytes: what is smaller stays in caches."""
LEAST_SHARE = 0.02
"""Of the module's roofline time, all reads and copies of the arrays of a loop."""
_FREE = frozenset(
    {
        *("broadcast", "iota", "bitcast", "reshape", "transpose", "convert", "copy", "tuple"),
        *("compare", "select", "and", "or", "xor", "not", "add", "subtract", "multiply"),
    }
)
"""Opcodes that cost next to nothing inside of a fusion."""
_READERS = frozenset({"fusion", "copy", "copy-start"})
"""Opcodes that can compute the array instead of reading it."""


class _Carried(Struct, frozen=True):
    """An array in the state of a loop."""

    path: tuple[Instruction, ...]
    """From the state back to the instruction that computes it; between them are copies."""
    index: int
    size: int
    """Bytes in device memory."""
    readers: tuple[Instruction, ...]

    @property
    def source(self) -> Instruction:
        """What computes it."""
        return self.path[-1]


class _Loop(Struct, frozen=True):
    """A while with the arrays that it carries for nothing."""

    place: Computation
    loop: Instruction
    body: Computation
    carried: tuple[_Carried, ...]


def carried_constants(case: Case) -> Iterator[Finding]:
    """Report loops that carry arrays which are computed from constants and never changed."""
    known: set[InstructionKey] = set()  # arrays that several loops carry are in memory once
    for loop in _find_loops(case.module):
        new = [
            carried
            for carried in loop.carried
            if (loop.place.name, carried.source.name) not in known
        ]
        seconds = sum(
            _seconds(case, loop, carried, is_new=carried in new) for carried in loop.carried
        )
        size = sum(carried.size for carried in new if _is_at_peak(case, loop, carried))
        if case.is_large(size) or case.is_noticeable(seconds, LEAST_SHARE):
            known |= {(loop.place.name, carried.source.name) for carried in new}
            yield _finding(case, loop, size, seconds)


def _finding(case: Case, loop: _Loop, size: int, seconds: float) -> Finding:
    carried = sorted(loop.carried, key=lambda carried: -carried.size)
    whole = sum(array.size for array in carried)
    readers = {reader.name: reader for array in carried for reader in array.readers}
    costs = (case.cost.instructions.get((loop.body.name, name)) for name in readers)
    times = max((cost.counted for cost in costs if cost), default=0)
    verb = "reads" if len(readers) == 1 else "read"
    plural = len(carried) > 1
    reads = (
        f" {join_names(readers)} {verb} {'them' if plural else 'it'}{describe_executions(times)}. "
        f"To write and read {'them' if plural else 'it'} takes {case.time_words(seconds)}."
        if seconds
        else ""
    )
    sources = [array.source for array in carried]
    return Finding(
        title="Constant array carried by a loop",
        places=tuple((loop.place.name, instruction.name) for instruction in (*sources, loop.loop))[
            :MOST_PLACES
        ],
        occurrences=len(carried),
        evidence=(
            f"The state of `{loop.loop.name}` has {units.plural(len(carried), 'array')} computed "
            f"from constants alone ({join_names(source.name for source in sources)}), "
            f"{units.byte_size(whole)} of device memory; no iteration changes "
            f"{'them' if plural else 'it'}.{reads}"
        ),
        suggestion=(
            "Compute it from scalars in the body of the loop, where it is used: `jnp.where(mask, "
            "x, -jnp.inf)` needs no array of `-inf`. XLA then fuses it into its readers, and no "
            "iteration reads it from memory. Where the program does so already, JAX moved the "
            "array out of the loop when it differentiated a scan: tie what it is computed from to "
            "a value of the iteration, `x, rows, fill = jax.lax.optimization_barrier((x, rows, "
            "fill))`, with the body in jax.checkpoint, or the scan stacks the array instead. A "
            "kernel of causal attention needs no mask."
        ),
        grade="matched",
        weight=seconds,
        seconds=seconds or None,
        bytes=size or None,
    )


def _is_at_peak(case: Case, loop: _Loop, carried: _Carried) -> bool:
    """Return whether an array, or its element of the loop's state, is in use at the peak."""
    parameter = loop.body.parameters[0].name
    index = (carried.index,)
    values = ((carried.source.name, ()), (loop.loop.name, index), (parameter, index))
    return any(case.place_at_peak(*value) is not None for value in values)


def _seconds(case: Case, loop: _Loop, carried: _Carried, *, is_new: bool) -> float:
    """Return the roofline time of reading an array, and of writing and copying a new one."""
    once = case.time_of_bytes(carried.size)
    instructions = [(loop.place.name, copy) for copy in carried.path if is_new]
    instructions += [(loop.body.name, reader) for reader in carried.readers]
    costs = (case.cost.instructions.get((place, line.name)) for place, line in instructions)
    return sum(min(case.least(cost), once * cost.counted) for cost in costs if cost)


def _find_loops(module: HloModule) -> Iterator[_Loop]:
    for place, loop in module.placed:
        body = module.callee(loop, "body")
        if loop.opcode == "while" and body is not None and body.parameters:
            carried = tuple(_find_carried(module, place, loop, body))
            if carried:
                yield _Loop(place, loop, body, carried)


def _find_carried(
    module: HloModule, place: Computation, loop: Instruction, body: Computation
) -> Iterator[_Carried]:
    state, root = place.operand(loop), body.root
    if state is None or root is None or {state.opcode, root.opcode} != {"tuple"}:
        return
    for index, (value, kept) in enumerate(
        zip(place.operands(state), body.operands(root), strict=False)
    ):
        path = copy_path(place, value)
        if not path or not is_kept(body, kept, index) or not _is_constant(module, place, path[-1]):
            continue
        readers = _readers(body, index)
        size = _array_bytes(path[0])
        if size >= LEAST_ARRAY and all(
            _can_compute(module, body, reader, index) for reader in readers
        ):
            yield _Carried(tuple(path), index, size, tuple(readers))


def _array_bytes(value: Instruction) -> int:
    try:
        return 0 if value.shape.elements else main_memory_size(value.shape)
    except UncountableError:
        return 0


def _is_constant(module: HloModule, place: Computation, value: Instruction) -> bool:
    """Return whether a value is an array that cheap instructions make of scalar constants."""
    if value.opcode != "fusion":
        return value.opcode != "constant" and _follows_from_scalars(place, value, _FREE)
    inside = module.callee(value, "calls")
    if inside is None or inside.root is None:
        return False
    scalars = all(operand and _is_scalar(operand) for operand in place.operands(value))
    return scalars and _follows_from_scalars(inside, inside.root, _FREE | {"parameter"})


def _is_scalar(value: Instruction) -> bool:
    return value.opcode == "constant" and value.shape.element_count == 1


def _follows_from_scalars(place: Computation, value: Instruction, allowed: Collection[str]) -> bool:
    """Return whether only scalar constants and instructions of allowed opcodes lead to a value."""
    behind = reachable(
        [value], lambda line: [operand for operand in place.operands(line) if operand]
    )
    return all(line.opcode in allowed or _is_scalar(line) for line in behind)


def _readers(body: Computation, index: int) -> list[Instruction]:
    """Return what reads an element of the state in the body, not counting the next state."""
    elements = [line for line in body.instructions if is_element(body, line, index)]
    views = reachable(
        elements,
        lambda line: [user for user in body.users.get(line.name, ()) if user.opcode in SAME_ORDER],
    )
    users = (user for line in views for user in body.users.get(line.name, ()))
    others = (user for user in users if user.opcode not in SAME_ORDER and user is not body.root)
    return [*{user.name: user for user in others}.values()]


def _can_compute(module: HloModule, body: Computation, reader: Instruction, index: int) -> bool:
    """Return whether a reader could compute the array by itself: no operand of a matmul or call."""
    if reader.opcode != "fusion":
        return reader.opcode in _READERS
    inside = module.callee(reader, "calls")
    if inside is None:
        return False
    numbers = [
        number
        for number, operand in enumerate(body.operands(reader))
        if operand is not None and is_element(body, copy_path(body, operand, SAME_ORDER)[-1], index)
    ]
    parameters = [inside.parameters[number] for number in numbers]
    return not any(_is_multiplied(inside, parameter) for parameter in parameters)


def _is_multiplied(inside: Computation, parameter: Instruction) -> bool:
    """Return whether a fusion's operand goes into a matmul or a custom call as it is."""
    readers = readers_behind(inside, parameter.name, {*SAME_ORDER, "convert"})
    return any(reader.opcode in {*MATRIX_PRODUCTS, "custom-call", "fusion"} for reader in readers)
