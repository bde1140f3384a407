"""Scatter into a dense buffer of zeros.

A scatter adds updates to a buffer of zeros that is at least twice as large as the updates, and
later instructions read the whole buffer. The gradient of an embedding lookup does this. Filling the
buffer, and reading it independently of the updates, takes 5% or more of the roofline time. An
optimizer that updates only the touched rows needs no such buffer. It saves at most the time of all
instructions that read the buffer, because they update every row. If the scatter was a
`select-and-scatter`, the gradient of a max-pool, only filling and reading the buffer count.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from xlareport.analysis.findings.finding import Case, Finding, describe_executions, join_names
from xlareport.hlo.graph import readers_behind
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.opcode_groups import ALIASES
from xlareport.runtime import units

LEAST_SHARE = 0.05
"""Of the module's roofline time."""
_LEAST_RATIO = 2
"""Bytes of the buffer by those of the updates."""
_OF_TABLE = (
    "If this is the gradient of an embedding table, update the touched rows alone: scatter into "
    "the table and the optimizer's state instead of zeros."
)
_OF_POOL = (
    "It is the gradient of a max-pool. If the windows of the pool do not overlap, write the pool "
    "as a reshape and a maximum over the dimensions of the window: its gradient needs no scatter."
)


class _Scatter(Struct, frozen=True):
    """A scatter by itself, or the fusion that consists of one and what it needs."""

    instruction: Instruction
    root: Instruction
    """The scatter itself."""
    zeros: Instruction
    """The instruction that fills the buffer, in the same computation."""
    updates: int
    """Bytes."""


def dense_gradients(case: Case) -> Iterator[Finding]:
    """Report scatters into buffers of zeros much larger than what is scattered."""
    for computation, instruction, cost in case.scheduled():
        scatter = _scatter(case, computation, instruction)
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
        seconds = case.time_of_bytes(size) * (1 + len(readers)) * cost.counted
        if case.is_noticeable(seconds, LEAST_SHARE):
            names = join_names(reader.name for reader in readers)
            is_pool = _is_pool_gradient(case, scatter)
            most = _most(case, computation, size, readers) + case.time_of_bytes(size) * cost.counted
            all_else = f", with all else that the readers do {units.share(case.share(most))}"
            most = seconds if is_pool else most
            yield Finding(
                rule="dense-gradients",
                title="Scatter into a dense buffer of zeros",
                places=tuple(
                    (computation.name, line.name) for line in (instruction, scatter.zeros, *readers)
                ),
                occurrences=1,
                evidence=(
                    f"`{instruction.name}` adds {units.byte_size(scatter.updates)} of updates to "
                    f"{units.byte_size(size)} of zeros, which `{scatter.zeros.name}` writes and "
                    f"{names} read whole{describe_executions(cost.counted)}: writing and reading "
                    f"them takes {case.share_words(seconds)}"
                    f"{'' if is_pool else all_else}."
                ),
                suggestion=_OF_POOL if is_pool else _OF_TABLE,
                grade="matched",
                weight=most,
                seconds=most,
                bytes=size,
            )


def _is_pool_gradient(case: Case, scatter: _Scatter) -> bool:
    """Return whether a scatter was a select-and-scatter before optimization, by its op_name."""
    names = {line.metadata.op_name for line in (scatter.instruction, scatter.root)} - {""}
    return case.before is not None and any(
        line.opcode == "select-and-scatter" and line.metadata.op_name in names
        for line in case.before.instructions
    )


def _most(case: Case, home: Computation, size: int, readers: Iterable[Instruction]) -> float:
    """Return the time of the readers of a buffer, each as much as reading it takes at least."""
    result = 0.0
    for reader in readers:
        cost = case.cost.instructions.get((home.name, reader.name))
        if cost is not None:
            result += max(case.least(cost), case.time_of_bytes(size) * cost.counted)
    return result


def _scatter(case: Case, home: Computation, instruction: Instruction) -> _Scatter | None:
    """Return the scatter into zeros that an instruction is; None for others."""
    if instruction.shape.elements:
        return None
    root: Instruction | None = instruction
    if instruction.opcode == "scatter" and len(instruction.operand_names) > 2:
        updates = home.operand(instruction, 2)
        buffer = home.operand(instruction)
    elif instruction.opcode == "fusion" and instruction.called:
        inside = case.module.callee(instruction)
        root = inside.root if inside else None
        if inside is None or root is None or root.opcode != "scatter":
            return None
        updates = inside.operand(root, 2)
        place = [line.name for line in inside.parameters]
        first = root.operand_names[0]
        buffer = (
            home.by_name.get(instruction.operand_names[place.index(first)])
            if first in place
            else None
        )
    else:
        return None
    zeros = _zeros(case, home, buffer)
    size = updates.shape.byte_size if updates else None
    return _Scatter(instruction, root, zeros, size) if root and zeros and size else None


def _zeros(case: Case, home: Computation, buffer: Instruction | None) -> Instruction | None:
    """Return the instruction that fills a buffer with zeros; None if another one does."""
    while buffer is not None and buffer.opcode == "bitcast":
        buffer = home.operand(buffer)
    if buffer is None:
        return None
    filling, place = buffer, home
    if buffer.opcode == "fusion" and buffer.called:
        place = case.module.callee(buffer) or home
        root = place.root
        filling = root if root is not None else buffer
    if filling.opcode != "broadcast" or not filling.operand_names:
        return None
    value = place.operand(filling)
    return buffer if value is not None and value.argument in ("0", "-0") else None
