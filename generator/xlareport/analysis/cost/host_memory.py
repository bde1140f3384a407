"""Transfers between the device's memory and the host's (`pinned_host`, memory space 5)."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.cost.shape_sizes import UncountableError, iterate_leaves, measure_data
from xlareport.analysis.cost.work import InstructionCost, ModuleCost
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import Shape

TO_HOST, FROM_HOST = "to host", "from host"
_HOST_LAYOUT = re.compile(r"S\(5\)", re.ASCII)
"""`Layout::kHostMemorySpace` in openxla/xla, xla/layout.h."""
_MOVES = frozenset({"copy", "copy-start", "dynamic-slice", "dynamic-update-slice", "fusion"})
"""An asynchronous operation is counted where it is, in the computation that its start calls."""
_CALLS = {"MoveToHost": TO_HOST, "MoveToDevice": FROM_HOST}


class HostTransfer(Struct, frozen=True):
    """An instruction that transfers data between device memory and host memory."""

    computation: str
    instruction: str
    opcode: str
    direction: str
    """`to host` or `from host`."""
    bytes: int
    """Bytes of one execution, without padding."""
    executions: int | None
    """In one run of the module; None where a trip count is not known."""

    @property
    def total_bytes(self) -> int | None:
        """Bytes of all executions; None where their number is not known."""
        return None if self.executions is None else self.bytes * self.executions

    def seconds(self, link: float | None) -> float | None:
        """Return the roofline time of all executions over a link of `link` bytes per second."""
        total = self.total_bytes
        return None if link is None or total is None else total / link


def find_host_transfers(module: HloModule, cost: ModuleCost) -> tuple[HostTransfer, ...]:
    """Return the transfers that a scheduled module runs, the largest first."""
    transfers = [
        transfer
        for computation, instruction, counted in cost.placed(module)
        if not counted.fused and counted.counted
        for transfer in _transfer(computation, instruction, counted)
    ]
    return tuple(
        sorted(transfers, key=lambda transfer: (-(transfer.total_bytes or 0), -transfer.bytes))
    )


def _transfer(
    computation: Computation, instruction: Instruction, counted: InstructionCost
) -> Iterator[HostTransfer]:
    operands = [
        computation.by_name[name].shape
        for name in instruction.operand_names
        if name in computation.by_name
    ]
    moved = _find_transfer(instruction, operands)
    if moved is not None:
        direction, size = moved
        names = (computation.name, instruction.name, instruction.opcode)
        yield HostTransfer(*names, direction, size, counted.executions)


def _find_transfer(instruction: Instruction, operands: Sequence[Shape]) -> tuple[str, int] | None:
    """Return direction and bytes of a transfer; None for instructions within one memory.

    Values written into a buffer on the host come from operands that are not there.
    """
    result = _result(instruction)
    if not operands or result is None:
        return None
    if instruction.opcode == "custom-call":
        direction = _CALLS.get(instruction.call_target)
        return (direction, _total_bytes(operands[:1])) if direction else None
    if instruction.opcode not in _MOVES:
        return None
    given = [shape for shape in operands if not _on_host(shape) and shape.dimensions]
    if _on_host(result):
        return (TO_HOST, _total_bytes(given)) if given else None
    taken = _on_host(operands[0])
    return (FROM_HOST, _total_bytes([result])) if taken else None


def _result(instruction: Instruction) -> Shape | None:
    """Return the result proper: a copy-start has it in a tuple with its operand."""
    if instruction.opcode != "copy-start":
        return instruction.shape
    return next(iter(instruction.shape.elements), None)


def _on_host(shape: Shape) -> bool:
    leaves = [*iterate_leaves(shape)]
    return bool(leaves) and all(_HOST_LAYOUT.search(leaf.layout) for leaf in leaves)


def _total_bytes(shapes: Sequence[Shape]) -> int:
    try:
        return sum(map(measure_data, shapes))
    except UncountableError:
        return 0
