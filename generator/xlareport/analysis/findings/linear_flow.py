"""Which values of a loop's state a value reaches by sums and moves alone."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

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
_STEADY = frozenset(
    {
        "add",
        "and",
        "bitcast",
        "broadcast",
        "compare",
        "convert",
        "copy",
        "iota",
        "multiply",
        "not",
        "or",
        "remainder",
        "reshape",
        "subtract",
    }
)
"""Their results are the same on each device if their operands are."""


class Tracks(Struct):
    """The uses of labels found while a flow is followed."""

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
    inside: Mapping[str, Flow] = field(default_factory=dict)
    """Labels of instructions in the bodies of inner loops."""


def follow(
    place: Computation,
    seeds: Mapping[str, Flow],
    tracks: Tracks,
    steady: Collection[str] = (),
) -> Flow:
    """Return the labels that reach the root of a computation, and note what else reads them.

    `steady` are names of values that are the same on each device.
    """
    flows: dict[str, Flow] = {}
    alike = set(steady)
    for instruction in place.instructions:
        is_steady = instruction.opcode in _STEADY and alike.issuperset(instruction.operand_names)
        if is_steady or instruction.opcode == "constant":
            alike.add(instruction.name)
        flow = dict(_step(place, instruction, flows, tracks, alike))
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
        instruction = place.operand(instruction)
    return instruction is not None and instruction.opcode == "constant"


def _step(
    place: Computation,
    instruction: Instruction,
    flows: Mapping[str, Flow],
    tracks: Tracks,
    steady: Collection[str],
) -> Flow:
    operands = [flows.get(name, {}) for name in instruction.operand_names]
    if not any(operands):
        return {}
    if instruction.opcode in _CALLS and tracks.depth < _DEEPEST:
        return _called(instruction, operands, tracks, steady)
    if instruction.opcode == "while" and tracks.depth < _DEEPEST:
        return _looped(instruction, operands[0], tracks)
    if instruction.opcode in _PATHS:
        return _PATHS[instruction.opcode](instruction, operands)
    if instruction.opcode == "select" and _is_reset(place, instruction, steady):
        return {(): _labels(operands[1:])}
    return _combined(place, instruction, operands, tracks)


def _is_reset(place: Computation, select: Instruction, steady: Collection[str]) -> bool:
    """Return whether a select passes on a value or a constant, the same on all devices.

    TPUs start a sum like this in the first iteration of its loop.
    """
    predicate, *sides = select.operand_names
    return predicate in steady and any(is_plain(place, name) for name in sides)


def _looped(loop: Instruction, state: Flow, tracks: Tracks) -> Flow:
    """Return the labels of the result of an inner loop that runs at least once."""
    body = tracks.module.callee(loop, "body")
    tracks.steps += len(body.instructions) if body else 0
    if body is None or len(body.parameters) != 1 or tracks.steps > _MOST_STEPS:
        tracks.spent |= _labels([state])
        return {}
    (parameter,) = body.parameters
    own: dict[tuple[int, ...], str] = {
        (number,): f"{loop.name} {number}" for number in range(len(parameter.shape.elements))
    }
    entered: dict[tuple[int, ...], FollowedValues] = {
        path: frozenset({label}) for path, label in own.items()
    }
    for path, labels in state.items():
        entered[path] = entered.get(path, _NOTHING) | labels
    stacked = set(tracks.stacked)  # what the inner loop stacks, the outer one may sum
    tracks.depth += 1
    root = follow(body, {**tracks.inside, parameter.name: entered}, tracks)
    tracks.depth -= 1
    tracks.stacked = stacked
    private = frozenset(own.values())
    tracks.spent |= _read_by_condition(tracks.module, loop, state)
    for path, labels in root.items():
        if labels & private - {own.get(path[:1], "")}:  # of another element, of which is not known
            tracks.spent |= labels
    return {path: rest for path, labels in root.items() if (rest := labels - private)}


def _read_by_condition(module: HloModule, loop: Instruction, state: Flow) -> FollowedValues:
    """Return the labels of the elements that the condition of a loop reads."""
    return _labels([{(n,): state.get((n,), _NOTHING)} for n in condition_reads(module, loop)])


def condition_reads(module: HloModule, loop: Instruction) -> Iterator[int]:
    """Yield the numbers of the elements of its state that the condition of a loop reads."""
    condition = module.callee(loop, "condition")
    for instruction in condition.instructions if condition else ():
        if instruction.taken_element is not None:
            yield instruction.taken_element


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


def _element(instruction: Instruction, operands: Sequence[Flow]) -> Flow:
    number = instruction.taken_element
    return {path[1:]: labels for path, labels in operands[0].items() if path[:1] == (number,)}


def _tuple(_: Instruction, operands: Sequence[Flow]) -> Flow:
    return {
        (number, *path): labels
        for number, flow in enumerate(operands)
        for path, labels in flow.items()
    }


def _copy_end(_: Instruction, operands: Sequence[Flow]) -> Flow:
    """Return the flow of the result, which is the first element of a start."""
    return {path[1:]: labels for path, labels in operands[0].items() if path[:1] == (0,)}


_PATHS: Mapping[str, Callable[[Instruction, Sequence[Flow]], Flow]] = {
    "copy-done": _copy_end,
    "copy-start": _tuple,
    "get-tuple-element": _element,
    "tuple": _tuple,
}
"""Opcodes that only make tuples or take elements of them."""


def _called(
    instruction: Instruction, operands: list[Flow], tracks: Tracks, steady: Collection[str]
) -> Flow:
    module = tracks.module
    body = module.callee(instruction, "calls")
    body = body or module.callee(instruction, "to_apply")
    tracks.steps += len(body.instructions) if body else 0
    if body is None or len(body.parameters) != len(operands) or tracks.steps > _MOST_STEPS:
        tracks.spent |= _labels(operands)
        return {}
    seeds = {
        parameter.name: flow for parameter, flow in zip(body.parameters, operands, strict=True)
    }
    given = zip(body.parameters, instruction.operand_names, strict=True)
    alike = {parameter.name for parameter, name in given if name in steady}
    tracks.depth += 1
    flow = follow(body, seeds, tracks, alike)
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
