"""What no iteration of a loop changes: elements of its state, and values that follow from these."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.findings.arguments import copy_path
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import CONTROL_FLOW
from xlareport.knowledge.opcodes import is_collective

_NEVER = CONTROL_FLOW | {
    *("custom-call", "rng", "rng-bit-generator", "rng-get-and-update-state", "infeed", "outfeed"),
    *("send", "recv", "send-done", "recv-done", "after-all", "partition-id", "replica-id"),
    *("async-start", "async-update", "async-done", "copy-start", "copy-done", "parameter"),
    *("add-dependency", "domain", "opt-barrier", "optimization-barrier"),
}
"""Opcodes whose result may differ though their operands are the same, or that act."""


class RepeatedLoop(Struct, frozen=True):
    """A loop of two or more iterations, as far as is known."""

    name: str
    home: Computation
    """The computation with the loop."""
    body: Computation
    trips: int | None
    """None if not known."""

    @property
    def share_again(self) -> float:
        """The part, 0 to 1, of all iterations that are not the first.

        Of an unknown number 1: figures count one iteration, which stands for one of these.
        """
        return 1.0 if self.trips is None else (self.trips - 1) / self.trips


def repeated_loops(module: HloModule, cost: ModuleCost) -> Iterator[RepeatedLoop]:
    """Yield the loops that run at all, without those of at most one iteration."""
    for (home, name), trips in cost.trip_counts.items():
        body = module.callee(module.by_name[home].by_name[name], "body")
        most = trips.most if trips.count is None else trips.count
        if body is not None and (most is None or most > 1):
            yield RepeatedLoop(name, module.by_name[home], body, trips.count)


def loops_around(
    loops: Sequence[RepeatedLoop], loop: RepeatedLoop, elements: Iterable[str]
) -> Iterator[RepeatedLoop]:
    """Yield the loops around a loop, inner ones first, that do not change elements of its state.

    They are of known trip counts, and each has the next one directly in its body.
    """
    callers = Counter(other.body.name for other in loops)
    by_body = {other.body.name: other for other in loops if callers[other.body.name] == 1}
    inner, kept = loop, tuple(elements)
    outer = by_body.pop(inner.home.name, None)
    while outer is not None and outer.trips is not None:
        behind = follow_invariants(outer.body)
        given = [_initial_value(inner, element) for element in kept]
        if not given or any(value not in behind for value in given):
            return
        yield outer
        kept = tuple(dict.fromkeys(name for value in given for name in behind[value]))
        inner, outer = outer, by_body.pop(outer.home.name, None)


def _initial_value(loop: RepeatedLoop, element: str) -> str:
    """Return the name of what an element of a loop's state is before it; empty if not known."""
    state = loop.home.operand(loop.home.by_name[loop.name])
    number = loop.body.by_name[element].taken_element
    names = state.operand_names if state is not None and state.opcode == "tuple" else ()
    return names[number] if number is not None and number < len(names) else ""


def is_kept(body: Computation, kept: Instruction | None, index: int) -> bool:
    """Return whether the next state has an element of the last one, itself or a copy."""
    path = copy_path(body, kept)
    return bool(path) and is_element(body, path[-1], index)


def is_element(body: Computation, value: Instruction, index: int) -> bool:
    """Return whether a value is this element of the state."""
    is_own = value.operand_names[:1] == (body.parameters[0].name,)
    return value.opcode == "get-tuple-element" and is_own and value.taken_element == index


def kept_elements(body: Computation) -> Iterator[Instruction]:
    """Yield the elements of the state that the body reads and passes on unchanged."""
    root = body.root
    if root is None or root.opcode != "tuple" or not body.parameters:
        return
    kept = {index for index, value in enumerate(body.operands(root)) if is_kept(body, value, index)}
    for line in body.instructions:
        index = line.taken_element
        if index in kept and is_element(body, line, index):
            yield line


def follow_invariants(body: Computation) -> dict[str, tuple[str, ...]]:
    """Return the values that are the same in each iteration, with the elements behind each."""
    behind: dict[str, tuple[str, ...]] = {line.name: (line.name,) for line in kept_elements(body)}
    for line in body.instructions:
        if line.opcode == "constant":
            behind[line.name] = ()
        if line.name in behind or line.opcode in _NEVER or is_collective(line.opcode):
            continue
        operands = _operands(body, line)
        if operands and all(operand in behind for operand in operands):
            behind[line.name] = tuple(
                dict.fromkeys(name for operand in operands for name in behind[operand])
            )
    return behind


def _operands(body: Computation, line: Instruction) -> tuple[str, ...]:
    """Return the names of the operands; of an element of a tuple in the body only that element."""
    source, number = body.operand(line), line.taken_element
    if line.opcode != "get-tuple-element" or source is None or source.opcode != "tuple":
        return line.operand_names
    names = source.operand_names
    return (names[number],) if number is not None and number < len(names) else line.operand_names
