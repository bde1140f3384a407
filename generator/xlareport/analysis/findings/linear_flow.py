"""Which values of a loop's state a value reaches by sums and moves alone."""

from collections.abc import Mapping

from msgspec import Struct, field

from xlareport.hlo.model import Computation, HloModule, Instruction

FollowedValues = frozenset[str]
Flow = Mapping[tuple[int, ...], FollowedValues]
"""The values that reach each element of a result, by its path; () for an array."""
_NOTHING: FollowedValues = frozenset()
_MOVES = frozenset(
    {
        "bitcast",
        "broadcast",
        "convert",
        "copy",
        "negate",
        "opt-barrier",
        "optimization-barrier",
        "reduce-precision",
        "reshape",
        "slice",
        "transpose",
    }
)
_SUMS = frozenset({"add", "subtract"})
_SCALES = frozenset({"multiply", "divide"})
_DEEPEST = 8
_LONGEST = 100
"""Moves in a row that are followed."""
_MOST_STEPS = 1_000_000
"""Limit on instructions that are looked at, those of a computation once for each call."""
_CALLS = frozenset({"fusion", "call"})


class Tracks(Struct):
    """What happens to labels on their way."""

    module: HloModule
    depth: int = 0
    """Of calls and fusions around the computation that is followed."""
    steps: int = 0
    """Instructions looked at."""
    spent: set[str] = field(default_factory=set)
    """Those that something other than a sum or a move reads."""
    added: set[str] = field(default_factory=set)
    """Those added to another value."""
    stacked: set[str] = field(default_factory=set)
    """Those written into a slice of a larger array."""


def follow(place: Computation, seeds: Mapping[str, Flow], tracks: Tracks) -> Flow:
    """Return the labels that reach the root of a computation, and note what else reads them."""
    flows: dict[str, Flow] = {}
    for instruction in place.instructions:
        flow = dict(_step(place, instruction, flows, tracks))
        for path, labels in seeds.get(instruction.name, {}).items():
            flow[path] = flow.get(path, _NOTHING) | labels
        if flow:
            flows[instruction.name] = flow
    return flows.get(place.root.name, {}) if place.root else {}


def is_plain(place: Computation, name: str) -> bool:
    """Return whether a value is a constant, or moves of it: the same on each device."""
    instruction = place.by_name.get(name)
    for _ in range(_LONGEST):
        if instruction is None or instruction.opcode not in _MOVES:
            break
        instruction = place.by_name.get(next(iter(instruction.operand_names), ""))
    return instruction is not None and instruction.opcode == "constant"


def _step(
    place: Computation, instruction: Instruction, flows: Mapping[str, Flow], tracks: Tracks
) -> Flow:
    operands = [flows.get(name, {}) for name in instruction.operand_names]
    if not any(operands):
        return {}
    if instruction.opcode in _CALLS and tracks.depth < _DEEPEST:
        return _called(instruction, operands, tracks)
    if instruction.opcode == "get-tuple-element":
        return _element(instruction, operands[0])
    if instruction.opcode == "tuple":
        return {
            (number, *path): labels
            for number, flow in enumerate(operands)
            for path, labels in flow.items()
        }
    return _combined(place, instruction, operands, tracks)


def _combined(
    place: Computation, instruction: Instruction, operands: list[Flow], tracks: Tracks
) -> Flow:
    opcode = instruction.opcode
    last = instruction.operand_names[-1]
    is_scale = opcode in _SCALES and operands[0] and is_plain(place, last)
    if opcode in _MOVES or is_scale:
        return operands[0]
    if opcode in _SUMS and _all_linear(place, instruction, operands):
        if all(operands):
            tracks.added |= _labels(operands)
        return {(): _labels(operands)}
    if opcode == "dynamic-update-slice" and operands[0]:
        tracks.spent |= _labels(operands[2:])
        tracks.stacked |= _labels(operands[1:2])
        return {(): _labels(operands[:2])}
    tracks.spent |= _labels(operands)
    return {}


def _element(instruction: Instruction, flow: Flow) -> Flow:
    number = instruction.attributes.get("index", "")
    return {path[1:]: labels for path, labels in flow.items() if path and str(path[0]) == number}


def _called(instruction: Instruction, operands: list[Flow], tracks: Tracks) -> Flow:
    module = tracks.module
    body = module.by_name.get(dict(instruction.called).get("calls", ""))
    body = body or module.by_name.get(dict(instruction.called).get("to_apply", ""))
    tracks.steps += len(body.instructions) if body else 0
    if body is None or len(body.parameters) != len(operands) or tracks.steps > _MOST_STEPS:
        tracks.spent |= _labels(operands)
        return {}
    seeds = {
        parameter.name: flow for parameter, flow in zip(body.parameters, operands, strict=True)
    }
    tracks.depth += 1
    flow = follow(body, seeds, tracks)
    tracks.depth -= 1
    return flow


def _all_linear(place: Computation, instruction: Instruction, operands: list[Flow]) -> bool:
    """Return whether each operand of a sum is followed or constant."""
    return all(
        flow or is_plain(place, name)
        for flow, name in zip(operands, instruction.operand_names, strict=True)
    )


def _labels(operands: list[Flow]) -> FollowedValues:
    return _NOTHING.union(*(labels for flow in operands for labels in flow.values()))
