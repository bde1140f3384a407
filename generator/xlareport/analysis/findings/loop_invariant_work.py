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
from xlareport.analysis.findings.loop_state import RepeatedLoop, follow_invariants, repeated_loops
from xlareport.analysis.findings.sunk import key_of_work
from xlareport.analysis.source.locations import op_name_of
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.opcode_groups import NO_CODE
from xlareport.runtime import units

LEAST_SHARE = 0.02
"""Of the module's time, all such work of a loop."""
_LEAST_PART = 0.05
"""Of the time of the work, what is named."""
_IN_A_LOOP = "/while/body"


class _LoopWork(Struct, frozen=True):
    """The work of a loop that gives the same result in each iteration."""

    loop: RepeatedLoop
    instructions: tuple[Instruction, ...]
    """The most time first."""
    sources: tuple[str, ...]
    """The elements of the state from which it follows."""


def loop_invariant_work(case: Case) -> Iterator[Finding]:
    """Report loops that compute the same in each iteration."""
    for loop in repeated_loops(case.module, case.cost):
        work = _find_work(case, loop)
        seconds = sum(_saved(case, loop, line) for line in work.instructions) if work else 0.0
        if work and case.is_noticeable(seconds, LEAST_SHARE):
            yield _finding(case, work, seconds)


def _saved(case: Case, loop: RepeatedLoop, line: Instruction) -> float:
    """Return the time of all executions but the first of each loop; of an unknown count, of one."""
    return case.least(case.cost.instructions[loop.body.name, line.name]) * loop.share_again


def _finding(case: Case, work: _LoopWork, seconds: float) -> Finding:
    loop, least = work.loop, _LEAST_PART * seconds
    named = [line for line in work.instructions if _saved(case, loop, line) > least]
    names, sources = (line.name for line in named), work.sources
    often = "" if loop.trips is None else f", {units.plural(loop.trips, 'iteration')}"
    verb, they = ("computes", "it") if len(named) == 1 else ("compute", "them")
    return Finding(
        title="Loop-invariant work in a loop",
        places=tuple((loop.body.name, line.name) for line in named),
        evidence=(
            f"{join_names(names)} {verb} the same in each iteration of `{loop.name}`{often}, "
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


def _find_work(case: Case, loop: RepeatedLoop) -> _LoopWork | None:
    body, behind = loop.body, follow_invariants(loop.body)
    work = [line for line in body.instructions if _is_work(case, body, line, behind)]
    work.sort(key=lambda line: -case.least(case.cost.instructions[body.name, line.name]))
    sources = dict.fromkeys(name for line in work for name in behind[line.name])
    return _LoopWork(loop, tuple(work), tuple(sources)) if work else None


def _is_work(
    case: Case, body: Computation, line: Instruction, behind: dict[str, tuple[str, ...]]
) -> bool:
    if line.opcode in NO_CODE or not behind.get(line.name):
        return False
    if (body.name, line.name) not in case.cost.instructions:
        return False
    readers = [user for user in body.users.get(line.name, ()) if user.opcode not in NO_CODE]
    return line.opcode != "copy" or any(reader.name in behind for reader in readers)
