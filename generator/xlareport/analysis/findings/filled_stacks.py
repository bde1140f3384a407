"""Fill of a buffer that a loop overwrites.

A loop writes a slice of a buffer in each iteration, all slices together are the whole buffer, and
nothing reads it before. Still, the buffer is filled with zeros before the loop: `jax.lax.scan` does
this with what it returns as `ys`, and with what it saves for the backward pass. The finding appears
if the fills take 2% or more of the roofline time.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from xlareport.analysis.cost.layout_spaces import space_of
from xlareport.analysis.cost.stacked import StackedBuffer, find_stacked_buffers
from xlareport.analysis.findings.arguments import copy_path
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.analysis.findings.loop_state import is_element
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import SAME_ORDER
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

LEAST_SHARE = 0.02
"""Of the module's roofline time, all fills."""
_ALIKE = SAME_ORDER | {"copy"}
_DEEPEST = 16
"""Copies, and fusions in fusions, that are followed."""


class _Fill(Struct, frozen=True):
    """A buffer that a loop overwrites, with what fills it."""

    place: Computation
    loop: str
    state: Instruction
    """The tuple that the loop begins with."""
    index: int
    path: tuple[Instruction, ...]
    """From the state of the loop back to the fill, through copies and elements of its result."""
    size: int

    @property
    def source(self) -> Instruction:
        """The instruction that fills it."""
        return self.path[-1]


def filled_stacks(case: Case) -> Iterator[Finding]:
    """Report buffers that are filled before a loop which overwrites them."""
    stacks = find_stacked_buffers(case.module, case.cost.trip_counts)
    fills = [fill for stack in stacks for fill in _fill_of(case, stack)]
    while len(kept := list(_only_for_loops(fills))) < len(fills):
        fills = kept
    by_source = group_by_key(((fill.place.name, fill.source.name), fill) for fill in fills)
    times = {key: _seconds(case, alike) for key, alike in by_source.items()}
    if fills and case.is_noticeable(sum(times.values()), LEAST_SHARE):
        yield _finding(case, fills, times)


def _finding(case: Case, fills: list[_Fill], times: Mapping[tuple[str, str], float]) -> Finding:
    ordered = sorted(times, key=lambda key: -times[key])
    loops = dict.fromkeys(fill.loop for fill in fills)
    names = join_names(name for _, name in ordered)
    seconds = sum(times.values())
    plural = len(fills) > 1
    return Finding(
        title="Fill of a buffer that a loop overwrites",
        places=tuple(ordered),
        evidence=(
            f"{names} {'fill' if len(ordered) > 1 else 'fills'} "
            f"{units.plural(len(fills), 'buffer')}, {units.byte_size(sum(f.size for f in fills))}, "
            f"of which {join_names(loops)} {'write' if len(loops) > 1 else 'writes'} every slice "
            f"before anything reads {'them' if plural else 'it'}: {case.time_words(seconds)}."
        ),
        suggestion=(
            "With `jax.checkpoint` of its body a scan saves, and stacks, fewer values for the "
            "backward pass; with `unroll=True` it has no loop, and stacks only what it returns."
        ),
        grade="matched",
        weight=seconds,
        seconds=seconds,
    )


def _seconds(case: Case, fills: list[_Fill]) -> float:
    """Return the time of a fill, and of the copies of it for several loops."""
    place = fills[0].place
    total = 0.0
    for line in {line.name: line for fill in fills for line in fill.path}.values():
        cost = case.cost.instructions.get((place.name, line.name))
        total += case.least(cost) if cost else 0.0
    return total


def _fill_of(case: Case, stack: StackedBuffer) -> Iterator[_Fill]:
    """Yield the fill of a buffer in device memory that is overwritten whole and not read before."""
    module = case.module
    place = module.by_name[stack.computation]
    loop = place.by_name[stack.loop]
    body = module.callee(loop, "body")
    state = place.operand(loop)
    if body is None or state is None or state.opcode != "tuple" or space_of(stack.shape):
        return
    path = _path(module, place, place.operand(state, stack.index))
    if path and _is_overwritten(module, body, stack):
        yield _Fill(place, loop.name, state, stack.index, path, stack.bytes or 0)


def _is_overwritten(module: HloModule, body: Computation, stack: StackedBuffer) -> bool:
    """Return whether the iterations write the whole buffer, and nothing else in them reads it."""
    filled = (stack.iteration_bytes or 0) * (stack.trip_count or 0)
    elements = [line for line in body.instructions if is_element(body, line, stack.index)]
    if not stack.bytes or filled < stack.bytes or len(elements) != 1:
        return False
    return _is_only_written(module, body, elements[0])


def _is_only_written(module: HloModule, home: Computation, value: Instruction) -> bool:
    """Return whether the one use of a value is a dynamic-update-slice of it, maybe in a fusion."""
    for _ in range(_DEEPEST):
        users = home.users.get(value.name, ())
        if len(users) != 1 or users[0].operand_names.count(value.name) != 1:
            return False
        (user,) = users
        inside = module.callee(user)
        if user.opcode == "dynamic-update-slice":
            return user.operand_names[0] == value.name
        if user.opcode in _ALIKE:
            value = user
        elif user.opcode == "fusion" and inside is not None:
            home, value = inside, inside.parameters[user.operand_names.index(value.name)]
        else:
            break
    return False


def _path(
    module: HloModule, place: Computation, value: Instruction | None
) -> tuple[Instruction, ...]:
    """Return the way from a value back to the fill with a constant that it is; empty for others."""
    path = copy_path(place, value)
    index = None
    if path and path[-1].opcode == "get-tuple-element":
        index = path[-1].taken_element
        source = place.operand(path[-1])
        path += [source] if source else []
    return tuple(path) if path and _is_fill(module, place, path[-1], index) else ()


def _is_fill(module: HloModule, place: Computation, line: Instruction, index: int | None) -> bool:
    home = place
    result: Instruction | None = line
    if line.opcode == "fusion":
        home = module.callee(line) or place
        result = home.root
        if result is not None and index is not None:
            result = home.operand(result, index) if result.opcode == "tuple" else None
    while result is not None and result.opcode in _ALIKE:
        result = home.operand(result)
    if result is None or result.opcode != "broadcast":
        return False
    value = home.operand(result)
    return value is not None and value.opcode == "constant" and value.shape.element_count == 1


def _only_for_loops(fills: list[_Fill]) -> Iterator[_Fill]:
    """Yield the fills that nothing but loops which overwrite them use."""
    copies = {(fill.place.name, line.name) for fill in fills for line in fill.path}
    elements = {(fill.place.name, fill.state.name, fill.index) for fill in fills}

    def is_use(place: Computation, line: Instruction, user: Instruction) -> bool:
        if user.opcode != "tuple":
            return (place.name, user.name) in copies
        numbers = (number for number, name in enumerate(user.operand_names) if name == line.name)
        return all((place.name, user.name, number) in elements for number in numbers)

    for fill in fills:
        place = fill.place
        uses = ((line, user) for line in fill.path for user in place.users.get(line.name, ()))
        if all(is_use(place, line, user) for line, user in uses):
            yield fill
