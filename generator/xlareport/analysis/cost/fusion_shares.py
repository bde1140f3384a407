"""The least time of fusions, shared among the instructions that they contain.

An estimate: each instruction counts for the time of its arithmetic, or of the parameters that it
reads and the results that it is, whichever is longer.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from xlareport.analysis.cost.roofline import estimate_time, estimate_times
from xlareport.analysis.cost.work import InstructionKey, ModuleCost
from xlareport.hlo.graph import callees_first
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import Shape
from xlareport.knowledge.devices import Device

_FREE = frozenset({"parameter", "constant", "bitcast", "tuple", "get-tuple-element"})
"""What moves nothing: its users count for the bytes."""
_READS_PART = frozenset({"slice", "dynamic-slice", "gather", "dynamic-update-slice", "scatter"})
"""Their first operand is read only as far as they touch it."""
_UPDATE = {"dynamic-update-slice": 1, "scatter": 2}
"""The operand that says how much of their result is written."""


def share_fusions(
    module: HloModule, cost: ModuleCost, device: Device
) -> Mapping[InstructionKey, float]:
    """Return the least seconds of all runs of each instruction, those of fusions shared out.

    A fusion keeps its time where its computation is not in the module, or does nothing countable.
    """
    times = dict(estimate_times(cost, device))
    order = callees_first(module) or ()
    fused = {name for computation in order for name in _fused(computation).values()}
    weights = {each.name: _weights(each, cost, device) for each in order if each.name in fused}
    inside: dict[str, float] = defaultdict(float)
    for computation in reversed(order):
        own = weights.get(computation.name, {})
        whole = sum(own.values())
        for name, weight in own.items():
            times[computation.name, name] += inside[computation.name] * weight / whole
        for fusion, called in _fused(computation).items():
            key = computation.name, fusion
            if times.get(key) and weights.get(called):
                inside[called] += times[key]
                times[key] = 0.0
    return times


def _fused(computation: Computation) -> Mapping[str, str]:
    """Return the computation of each fusion, by the name of the fusion."""
    fusions = (
        instruction for instruction in computation.instructions if instruction.opcode == "fusion"
    )
    return {fusion.name: name for fusion in fusions for _, name in fusion.called[:1]}


def _weights(computation: Computation, cost: ModuleCost, device: Device) -> dict[str, float]:
    """Return the estimated seconds of each instruction of a fusion, where there are any."""
    outside = _outside(computation)
    weights = {}
    for instruction in computation.instructions:
        known = cost.instructions.get((computation.name, instruction.name))
        if known is not None and instruction.opcode not in _FREE:
            least = estimate_time(known, device)
            moved = sum(_moved(instruction, computation, outside)) / device.bandwidth
            weights[instruction.name] = max(least.arithmetic if least else 0.0, moved)
    return {name: weight for name, weight in weights.items() if weight}


def _moved(
    instruction: Instruction, computation: Computation, outside: tuple[set[str], set[str]]
) -> Iterator[int]:
    """Yield the bytes that an instruction reads of parameters, and writes of results."""
    read, written = outside
    touched = _touched(instruction, computation)
    for number, name in enumerate(instruction.operands):
        if name in read:
            in_part = number == 0 and instruction.opcode in _READS_PART
            size = _size(computation.by_name[name].shape)
            yield min(size, touched) if in_part else size
    if instruction.name in written:
        yield touched


def _touched(instruction: Instruction, computation: Computation) -> int:
    """Return the bytes of the result, of a buffer that is updated those of the update."""
    number = _UPDATE.get(instruction.opcode)
    if number is not None and number < len(instruction.operands):
        update = computation.by_name.get(instruction.operands[number])
        return _size((update or instruction).shape)
    return _size(instruction.shape)


def _outside(computation: Computation) -> tuple[set[str], set[str]]:
    """Return the names of values read from memory, and of those written, through what is free."""
    read: set[str] = set()
    for instruction in computation.instructions:
        through = instruction.opcode in _FREE and instruction.opcode not in ("tuple", "constant")
        if through and (not instruction.operands or instruction.operands[0] in read):
            read.add(instruction.name)
    written = {computation.root.name} if computation.root else set()
    for instruction in reversed(computation.instructions):
        if instruction.opcode in _FREE and instruction.name in written:
            written.update(instruction.operands)
    return read, written


def _size(shape: Shape) -> int:
    return shape.byte_size or 0
