"""Loop-invariant work in a loop.

A loop computes a value in each iteration from elements of its state that no iteration changes. The
finding appears if that takes 2% or more of the module's time. Passes sink such work into loops to
fuse it into its readers; where it is not fused, each iteration writes its result to memory. Copies
count where such work reads them. Collectives, custom calls, random numbers and control flow do not
count, nor do values of constants alone.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.analysis.findings.loop_state import kept_elements
from xlareport.analysis.findings.sunk import key_of_work
from xlareport.analysis.source.locations import op_name_of
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.opcode_groups import CONTROL_FLOW, NO_CODE
from xlareport.knowledge.opcodes import is_collective
from xlareport.runtime import units

LEAST_SHARE = 0.02
"""Of the module's time, all such work of a loop."""
_NEVER = CONTROL_FLOW | {
    *("custom-call", "rng", "rng-bit-generator", "rng-get-and-update-state", "infeed", "outfeed"),
    *("send", "recv", "send-done", "recv-done", "after-all", "partition-id", "replica-id"),
    *("async-start", "async-update", "async-done", "copy-start", "copy-done", "parameter"),
    *("add-dependency", "domain", "opt-barrier", "optimization-barrier"),
}
_LEAST_PART = 0.05
"""Of the time of the work, what is named."""
_IN_A_LOOP = "/while/body"


class _Loop(Struct, frozen=True):
    """A loop with the work that gives the same result in each iteration."""

    place: Computation
    loop: Instruction
    body: Computation
    work: tuple[Instruction, ...]
    """The most time first."""
    sources: tuple[Instruction, ...]
    """The elements of the state from which it follows."""


def loop_invariant_work(case: Case) -> Iterator[Finding]:
    """Report loops that compute the same in each iteration."""
    for loop in _find_loops(case):
        seconds = sum(_saved(case, loop, line) for line in loop.work)
        if case.is_noticeable(seconds, LEAST_SHARE):
            yield _finding(case, loop, seconds)


def _saved(case: Case, loop: _Loop, line: Instruction) -> float:
    """Return the time of all executions but the first of each loop; of an unknown count, of one."""
    seconds = case.least(case.cost.instructions[loop.body.name, line.name])
    trips = case.cost.trip_counts[loop.place.name, loop.loop.name].count
    return seconds if trips is None else seconds * (trips - 1) / max(1, trips)


def _finding(case: Case, loop: _Loop, seconds: float) -> Finding:
    named = [line for line in loop.work if _saved(case, loop, line) > _LEAST_PART * seconds]
    names, sources = (line.name for line in named), (line.name for line in loop.sources)
    trips = case.cost.trip_counts[loop.place.name, loop.loop.name].count
    often = "" if trips is None else f", {units.plural(trips, 'iteration')}"
    verb, they = ("computes", "it") if len(named) == 1 else ("compute", "them")
    return Finding(
        title="Loop-invariant work in a loop",
        places=tuple((loop.body.name, line.name) for line in named),
        evidence=(
            f"{join_names(names)} {verb} the same in each iteration of `{loop.loop.name}`{often}, "
            f"from {join_names(sources)}, which no iteration changes: {case.time_words(seconds)}."
            f"{_origin(case, named, they)}"
        ),
        suggestion=(
            f"Compute {they} once, before the loop. If the compiler sinks {they} into the loop "
            "again, put `jax.lax.optimization_barrier` around the result. A larger result uses "
            "memory during the whole loop: instead of `jnp.repeat` or a broadcast, let the matmul "
            "read the smaller array, with the repeated dimension as one of its own dimensions."
        ),
        grade="matched",
        weight=seconds,
        seconds=seconds,
    )


def _origin(case: Case, work: Sequence[Instruction], they: str) -> str:
    """Return how the work came into the loop, as far as it is known."""
    steps = (case.sunk.get(key_of_work(line)) for line in work)
    step = next(filter(None, steps), None)
    if step is not None:
        return f" `{step.name}` (step {step.number}) moved {they} into the loop."
    op_names = [op_name_of(line, case.module) for line in work]
    if all(op_name and _IN_A_LOOP not in op_name for op_name in op_names):
        return f" By op_name, the program computes {they} outside of a loop."
    return ""


def _find_loops(case: Case) -> Iterator[_Loop]:
    for (home, name), trips in case.cost.trip_counts.items():
        place = case.module.by_name[home]
        loop = place.by_name[name]
        body = case.module.callee(loop, "body")
        if body is None or (trips.count is not None and trips.count < 2):
            continue
        behind = follow_invariants(body)
        work = [line for line in body.instructions if _is_work(case, body, line, behind)]
        work.sort(key=lambda line: -case.least(case.cost.instructions[body.name, line.name]))
        if work:
            sources = dict.fromkeys(name for line in work for name in behind[line.name])
            yield _Loop(
                place, loop, body, tuple(work), tuple(body.by_name[name] for name in sources)
            )


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


def _is_work(
    case: Case, body: Computation, line: Instruction, behind: dict[str, tuple[str, ...]]
) -> bool:
    if line.opcode in NO_CODE or not behind.get(line.name):
        return False
    if (body.name, line.name) not in case.cost.instructions:
        return False
    readers = [user for user in body.users.get(line.name, ()) if user.opcode not in NO_CODE]
    return line.opcode != "copy" or any(reader.name in behind for reader in readers)
