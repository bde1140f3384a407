"""Loop state copied to another layout.

The body of a loop copies a whole array of its state to another layout in each iteration, and moves
the copy on: to another memory, or in slices. A KV cache that a decoding loop carries in the order
in which it is written, and reads in another one, is an example. The copies and these moves take 2%
or more of the roofline time together. A copy that takes as much by itself is a *Layout-only copy*.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.cost.tiling import allocated_size, minor_to_major
from xlareport.analysis.findings.arguments import copy_path, name_argument
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.analysis.findings.memory_order import changes_order
from xlareport.hlo.model import Computation, Instruction, InstructionKey
from xlareport.hlo.shape import Shape, without_layout
from xlareport.runtime import units
from xlareport.runtime.graphs import reachable
from xlareport.runtime.grouping import group_by_key

LEAST_SHARE = 0.02
"""Of the module's roofline time."""
_MOVES = frozenset(
    {"bitcast", "copy", "copy-start", "copy-done", "slice", "async-start", "async-done"}
)
"""Opcodes of which a move consists; the computation of an async-start has moves alone."""
_STARTED = frozenset({"parameter", "slice", "copy", "dynamic-slice", "bitcast"})

_SAME_ORDER = (
    "Write and read the array in one order of its dimensions: then no iteration copies all of it."
)
_CARRY = (
    " An inner loop that reads it as xs and returns it as ys of jax.lax.scan writes another array: "
    "keep it in the carry and write the changed part with jax.lax.dynamic_update_slice."
)


class _Copied(Struct, frozen=True):
    """A copy of an element of a loop's state, with what moves it on."""

    loop: Instruction
    copy: Instruction
    element: Instruction
    moves: tuple[InstructionKey, ...]
    """Places of the copy and of all moves, as they are costed."""
    seconds: float
    bytes: int
    """Of device memory in use at the peak, of the moves out of the copy's memory."""
    feeds_loop: bool
    """Whether an inner loop reads it."""


def copied_carries(case: Case) -> Iterator[Finding]:
    """Report the copies of each loop's state to another layout, together."""
    by_loop = group_by_key(
        (loop.name, copied)
        for body, (_, loop) in case.module.only_loops.items()
        for copied in _find_copied(case, case.module.by_name[body], loop)
    )
    for copies in by_loop.values():
        seconds = sum(copied.seconds for copied in copies)
        if case.is_noticeable(seconds, LEAST_SHARE):
            yield _finding(case, sorted(copies, key=lambda copied: -copied.seconds), seconds)


def _find_copied(case: Case, body: Computation, loop: Instruction) -> Iterator[_Copied]:
    for line in body.instructions:
        cost = case.cost.instructions.get((body.name, line.name))
        if line.opcode != "copy" or cost is None or not changes_order(body, line):
            continue
        element = copy_path(body, body.operand(line))[-1]
        is_alone = case.is_noticeable(case.least(cost), LEAST_SHARE)
        if is_alone or not _is_new_in_each_iteration(body, element):
            continue
        moves = [line, *_moves(case, body, line)]
        places = [place for move in moves for place in _costed(case, body, move)]
        seconds = sum(case.least(case.cost.instructions[place]) for place in places)
        yield _Copied(
            *(loop, line, element, tuple(places), seconds),
            bytes=sum(_bytes_at_peak(case, move) for move in moves),
            feeds_loop=any(_feeds_loop(body, move) for move in moves),
        )


def _is_new_in_each_iteration(body: Computation, element: Instruction) -> bool:
    """Return whether a value is an element of the state that an iteration changes."""
    number, state = element.taken_element, body.operand(element)
    if number is None or state is None or state.opcode != "parameter" or body.root is None:
        return False
    returned = copy_path(body, body.operand(body.root, number))
    return bool(returned) and returned[-1].taken_element != number


def _moves(case: Case, body: Computation, copy: Instruction) -> Iterator[Instruction]:
    """Yield what moves a copy on without computing anything, one after another."""

    def following(value: Instruction) -> list[Instruction]:
        return [user for user in body.users.get(value.name, ()) if _is_move(case, user)]

    yield from (move for move in reachable([copy], following) if move is not copy)


def _is_move(case: Case, user: Instruction) -> bool:
    started = case.module.callees(user) if user.opcode == "async-start" else ()
    inside = (line.opcode for held in started for line in held.instructions)
    return user.opcode in _MOVES and _STARTED.issuperset(inside)


def _costed(case: Case, body: Computation, move: Instruction) -> Iterator[InstructionKey]:
    """Yield the places at which the time of a move is counted."""
    started = case.module.callees(move) if move.opcode == "async-start" else ()
    places = [(held.name, line.name) for held in started for line in held.instructions]
    for place in places or [(body.name, move.name)]:
        if place in case.cost.instructions:
            yield place


def _feeds_loop(body: Computation, move: Instruction) -> bool:
    states = (user for user in body.users.get(move.name, ()) if user.opcode == "tuple")
    users = (user for state in states for user in body.users.get(state.name, ()))
    return any(user.opcode == "while" for user in users)


def _bytes_at_peak(case: Case, move: Instruction) -> int:
    """Return the bytes of a copy in the device memory at the peak; 0 if it is not there."""
    if move.opcode != "copy-start" or not move.shape.elements or case.occupancy is None:
        return 0
    is_held = case.place_at_peak(move.name, (0,)) is not None
    return (allocated_size(move.shape.elements[0]) or 0) if is_held else 0


def _finding(case: Case, copies: Sequence[_Copied], seconds: float) -> Finding:
    first = copies[0]
    loop, held = first.loop.name, sum(copied.bytes for copied in copies)
    names = join_names(copied.copy.name for copied in copies)
    peak = f" The copies take {units.byte_size(held)} at the peak of memory." if held else ""
    return Finding(
        title="Loop state copied to another layout",
        places=tuple(dict.fromkeys(place for copied in copies for place in copied.moves)),
        evidence=(
            f"Each iteration of `{loop}` copies {_describe(case, copies)} ({names}), and moves the "
            f"{'copies' if len(copies) > 1 else 'copy'} on, to another memory or in slices: "
            f"{case.time_words(seconds)}.{peak}"
        ),
        suggestion=_SAME_ORDER + (_CARRY if any(copied.feeds_loop for copied in copies) else ""),
        grade="matched",
        weight=seconds,
        seconds=seconds,
        bytes=held or None,
        occurrences=len(copies),
    )


def _describe(case: Case, copies: Sequence[_Copied]) -> str:
    """Return the copied arrays by the names of the arguments that they begin as, with a shape."""
    body = case.module.callee(copies[0].loop, "body")
    names = [
        (name_argument(case.module, body, copied.element.name) if body else "")
        or copied.element.name
        for copied in copies
    ]
    shape = copies[0].element.shape
    return (
        f"{join_names(names)}, {without_layout(shape.text)}, from layout {_layout_words(shape)} "
        f"to {_layout_words(copies[0].copy.shape)}"
    )


def _layout_words(shape: Shape) -> str:
    return f"{{{','.join(map(str, minor_to_major(shape)))}}}"
