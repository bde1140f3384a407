"""The traffic of a result: its producer writes it, and each consumer reads it."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from xlareport.analysis.code.unfused_pairs import WeighedResult, find_consumers
from xlareport.analysis.cost.roofline import estimate_time
from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.tiling import main_memory_size
from xlareport.analysis.findings.finding import Case
from xlareport.hlo.model import Computation, Instruction, InstructionKey
from xlareport.hlo.opcode_groups import ALIASES
from xlareport.hlo.shape import Shape
from xlareport.runtime.graphs import reachable

_KERNELS = frozenset(
    {"custom-call", "fft", "cholesky", "triangular-solve", "sort", "rng-bit-generator"}
)
"""Opcodes of which the backend makes kernels or library calls of their own."""

MOST_BYTES = 1 << 62
"""More than any result has."""


class ResultTraffic(Struct, frozen=True):
    """What a result costs that could stay in a kernel."""

    place: InstructionKey
    """Of the producer."""
    users: tuple[str, ...]
    seconds: float
    """Roofline time of the producer."""
    saved: float
    """The time to write the result and to read it in each user: what one kernel saves at most.

    Where something else needs the result, it is written all the same.
    """
    moved: int
    """The bytes of these writes and reads, of all executions; without asynchronous copies."""
    is_needed: bool
    """Whether a loop, a collective, the caller or what a later pass made needs the result too."""
    is_closed: bool
    """Whether the producer or all users are kernels that take in no more."""


def weigh_result(
    case: Case,
    computation: Computation,
    instruction: Instruction,
    result: WeighedResult,
    *,
    by_fusions: bool = True,
) -> ResultTraffic | None:
    """Return the traffic of a result that work reads; by fusions alone some of it can be saved."""
    users = tuple(_work_of(case, computation, result.names))
    if not users:
        return None
    place = (computation.name, instruction.name)
    fusible = [user for user in users if not _is_closed(computation.by_name[user])]
    is_closed = _is_closed(instruction) or not fusible
    read = fusible if by_fusions and not is_closed else users
    is_needed = instruction.is_root or not _are_all(computation, result.names, users)
    spares_write = not is_needed and len(read) == len(users)
    cost = case.cost.instructions[place]
    # Of a buffer that is updated in place, the users read the rest in any case.
    size = min(_size_read(computation, result), cost.bytes_written or MOST_BYTES)
    kernels = (place,) * spares_write + tuple((place[0], name) for name in read)
    return ResultTraffic(
        place=place,
        users=users,
        seconds=case.least(cost),
        saved=sum(_time_to_move(case, kernel, size) for kernel in kernels),
        moved=sum(_bytes_moved(case, kernel, size) for kernel in kernels),
        is_needed=is_needed,
        is_closed=is_closed,
    )


def _time_to_move(case: Case, kernel: InstructionKey, size: int) -> float:
    """Return the time in which all runs of a kernel move so many bytes, at most its roofline time.

    A kernel can read a part of a value alone.
    """
    cost = case.cost.instructions[kernel]
    seconds = case.time_of_bytes(size * cost.counted)
    return min(seconds, case.least(cost)) if estimate_time(cost, case.device) else seconds


def _bytes_moved(case: Case, kernel: InstructionKey, size: int) -> int:
    """Return the bytes that all runs of a kernel move of a value, at most all that it moves."""
    cost = case.cost.instructions[kernel]
    of_kernel = cost.main_memory_bytes
    size = size if of_kernel is None else min(size, of_kernel)
    return size * cost.counted if _time_to_move(case, kernel, size) else 0


def _size_read(computation: Computation, result: WeighedResult) -> int:
    """Return the bytes of a result in the device memory; of a tuple, of the elements taken.

    Its workspace is not read, and what a TPU keeps on the chip moves nothing.
    """
    if not result.shape.elements:
        return main_memory_bytes(result.shape)
    users = (user for name in result.names for user in computation.users.get(name, ()))
    taken = {user.taken_element for user in users if user.opcode == "get-tuple-element"}
    elements = enumerate(result.shape.elements)
    return sum(main_memory_bytes(shape) for number, shape in elements if number in taken)


def main_memory_bytes(shape: Shape) -> int:
    """Return the bytes of an array in the device memory; 0 where they are not known."""
    try:
        return main_memory_size(shape)
    except UncountableError:
        return 0


def _is_closed(instruction: Instruction) -> bool:
    """Return whether it is a kernel that takes in no more: a custom fusion or a library call."""
    kind = instruction.attributes.get("kind", "")
    return instruction.opcode in _KERNELS or kind == "kCustom"


def _are_all(computation: Computation, names: Iterable[str], users: Iterable[str]) -> bool:
    """Return whether nothing but these uses a value, by whatever name."""
    readers = set(users)

    def renamed(name: str) -> list[str]:
        users = computation.users.get(name, ())
        return [user.name for user in users if user.opcode in ALIASES and not user.is_root]

    return all(
        user.name in readers or (user.opcode in ALIASES and not user.is_root)
        for name in reachable(names, renamed)
        for user in computation.users.get(name, ())
    )


def _work_of(case: Case, computation: Computation, names: Iterable[str]) -> Iterator[str]:
    """Yield the users by any of the names that the fusion pass could fuse a producer into.

    It fuses into no collective, and not into what later passes made.
    """
    users = (user for name in names for user in find_consumers(computation, name))
    for user in dict.fromkeys(users):
        place = (computation.name, user)
        if place not in case.collective_keys and place not in case.later:
            yield user
