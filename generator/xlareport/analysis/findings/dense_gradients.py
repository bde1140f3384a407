"""Scatter into a dense buffer of zeros.

A scatter adds updates to a buffer of zeros that is at least twice as large as the updates, and
later instructions read the whole buffer. The gradient of an embedding lookup does this. Filling the
buffer, and reading it independently of the updates, takes 5% or more of the roofline time, or the
buffer, of 1 MiB or more, is in use at the peak of the device memory and 5% or more of it. An
optimizer that updates only the touched rows needs no such buffer. It saves at most the time of all
instructions that read the buffer, because they update every row. If the scatter was a
`select-and-scatter`, the gradient of a max-pool, or adds one element to each row, the gradient of
`jnp.take_along_axis`, only filling and reading the buffer count.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.cost.zero_scatters import ZeroScatter, find_zero_scatter
from xlareport.analysis.findings.finding import Case, Finding, describe_executions, join_names
from xlareport.hlo.graph import readers_behind
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.opcode_groups import ALIASES
from xlareport.runtime import units

TITLE = "Scatter into a dense buffer of zeros"
LEAST_SHARE = 0.05
"""Of the module's roofline time."""
LEAST_OF_PEAK = 0.05
"""Of the peak of device memory, if the buffer is in use there."""
_LEAST_RATIO = 2
"""Bytes of the buffer by those of the updates."""
_OF_TABLE = (
    "If this is the gradient of an embedding table, update the touched rows alone: scatter into "
    "the table and the optimizer's state instead of zeros."
)
_OF_ELEMENTS = (
    "It adds one element to each row, as the gradient of jnp.take_along_axis does, which also "
    "optax.softmax_cross_entropy_with_integer_labels uses. Pick the element by a comparison, "
    "jnp.sum(jnp.where(labels[..., None] == jnp.arange(n), x, 0), -1) or jax.nn.one_hot: its "
    "gradient is a select that is fused with its reader, so that there is no buffer of zeros."
)
_OF_POOL = (
    "It is the gradient of a max-pool. If the windows of the pool do not overlap, write the pool "
    "as a reshape and a maximum over the dimensions of the window: its gradient needs no scatter."
)


class _Dense(Struct, frozen=True):
    """A scatter into zeros whose whole buffer is read."""

    home: Computation
    scatter: ZeroScatter
    readers: Sequence[Instruction]
    size: int
    """Bytes of the buffer."""
    counted: int
    """Executions."""


def dense_gradients(case: Case) -> Iterator[Finding]:
    """Report scatters into buffers of zeros much larger than what is scattered."""
    for computation, instruction, cost in case.scheduled:
        scatter = find_zero_scatter(case.module, computation, instruction)
        if scatter is None or not cost.counted:
            continue
        size = instruction.shape.byte_size or 0
        readers = [
            reader
            for reader in readers_behind(computation, instruction.name, ALIASES)
            if reader.opcode not in (*ALIASES, "tuple")
        ]
        if not readers or size < _LEAST_RATIO * max(scatter.updates, 1):
            continue
        dense = _Dense(computation, scatter, readers, size, cost.counted)
        seconds = case.time_of_bytes(size) * (1 + len(readers)) * cost.counted
        held = _share_of_peak(case, scatter, size)
        is_held = held >= LEAST_OF_PEAK and case.is_large(size)
        if case.is_noticeable(seconds, LEAST_SHARE) or is_held:
            yield _finding(case, dense, seconds, held)


def _finding(case: Case, dense: _Dense, seconds: float, held: float) -> Finding:
    scatter, size = dense.scatter, dense.size
    names = join_names(reader.name for reader in dense.readers)
    remedy = _remedy(case, scatter)
    most = seconds
    all_else = ""
    if remedy is _OF_TABLE:
        most = _reading_time(case, dense.home, size, dense.readers)
        most += case.time_of_bytes(size) * dense.counted
        all_else = f", with all else that the readers do {units.share(case.share(most))}"
    lines = (scatter.instruction, scatter.zeros, *dense.readers)
    return Finding(
        title=TITLE,
        places=tuple((dense.home.name, line.name) for line in lines),
        occurrences=1,
        evidence=(
            f"`{scatter.instruction.name}` adds {units.byte_size(scatter.updates)} of updates to "
            f"{units.byte_size(size)} of zeros, which `{scatter.zeros.name}` writes and "
            f"{names} read whole{describe_executions(dense.counted)}: writing and reading "
            f"them takes {case.share_words(seconds)}{all_else}."
            f"{_words_of_peak(case, scatter, held)}"
        ),
        suggestion=remedy,
        grade="matched",
        weight=most,
        seconds=most,
        bytes=size,
    )


def _remedy(case: Case, scatter: ZeroScatter) -> str:
    if _is_pool_gradient(case, scatter):
        return _OF_POOL
    return _OF_ELEMENTS if scatter.is_of_elements else _OF_TABLE


def _share_of_peak(case: Case, scatter: ZeroScatter, size: int) -> float:
    """Return the part of the peak of device memory that the buffer has; 0 if it is not there."""
    occupancy = case.occupancy
    if occupancy is None or not occupancy.peak:
        return 0.0
    names = (scatter.zeros.name, scatter.instruction.name)
    is_there = any(occupancy.is_temporary_at((name, ()), occupancy.position) for name in names)
    return size / occupancy.peak if is_there else 0.0


def _words_of_peak(case: Case, scatter: ZeroScatter, held: float) -> str:
    """Return a sentence on the buffer at the peak of memory, where it is much of it."""
    occupancy = case.occupancy
    if held < LEAST_OF_PEAK or occupancy is None:
        return ""
    zeros = occupancy.ranges.get((scatter.zeros.name, ()))
    added = occupancy.ranges.get((scatter.instruction.name, ()))
    is_unread = zeros is not None and added is not None and added.start > occupancy.position
    words = f" The buffer is {units.share(held)} of the peak of device memory"
    if not zeros or not added or not is_unread:
        return f"{words}."
    return (
        f"{words}, at schedule position {units.count(occupancy.position)}: it is filled at "
        f"{units.count(zeros.start)} and first read at {units.count(added.start)}."
    )


def _is_pool_gradient(case: Case, scatter: ZeroScatter) -> bool:
    """Return whether a scatter was a select-and-scatter before optimization, by its op_name."""
    names = {line.metadata.op_name for line in (scatter.instruction, scatter.root)} - {""}
    return case.before is not None and any(
        line.opcode == "select-and-scatter" and line.metadata.op_name in names
        for line in case.before.instructions
    )


def _reading_time(
    case: Case, home: Computation, size: int, readers: Iterable[Instruction]
) -> float:
    """Return the time of the readers of a buffer, each as much as reading it takes at least."""
    result = 0.0
    for reader in readers:
        cost = case.cost.instructions.get((home.name, reader.name))
        if cost is not None:
            result += max(case.least(cost), case.time_of_bytes(size) * cost.counted)
    return result
