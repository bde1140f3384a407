"""Serial loop of short iterations.

An innermost while loop has a trip count of 256 or more, and an iteration takes less than a kernel
launch: 2 µs on a GPU, 0.2 µs on a CPU or TPU. A TPU runs loops without launches, so the overhead of
an iteration is not known there. The `op_name` shows whether the program has the loop, or whether
the compiler expanded an operation into it, such as a scatter or the gradient of max pooling.
"""

from collections.abc import Iterator
from math import fsum

from xlareport.analysis.findings.finding import SHORTEST, Case, Finding
from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import HloModule, Instruction, InstructionKey
from xlareport.runtime import units

LEAST_TRIPS = 256
LEAST_SHARE = 0.05
"""Of the module's time, if each round took no longer than a launch."""
_CALL = 2e-7
_OF_THE_USER = frozenset({"while", "scan", "fori_loop"})
"""Parts of op_names of loops that the user wrote."""


def serial_loops(case: Case) -> Iterator[Finding]:
    """Report loops that hold no other, whose iterations are many and shorter than a launch."""
    for computation, instruction, cost in case.scheduled:
        trips = case.cost.trip_counts.get((computation.name, instruction.name))
        if instruction.opcode != "while" or trips is None or not cost.counted:
            continue
        if (
            trips.count is None
            or trips.count < LEAST_TRIPS
            or _holds_loop(case.module, instruction)
        ):
            continue
        iterations = trips.count * cost.counted
        seconds, launches = _seconds(case, instruction), iterations * _launch(case)
        if seconds < launches and launches >= LEAST_SHARE * (case.seconds + launches):
            place = (computation.name, instruction.name)
            yield _finding(case, place, instruction, iterations, seconds / iterations)


def _launch(case: Case) -> float:
    """Return the seconds that starting a kernel takes at least: on a CPU it is a call."""
    return _CALL if case.device.nominal_for == "cpu" or _is_tpu(case) else SHORTEST


def _is_tpu(case: Case) -> bool:
    return case.device.key.startswith("tpu-")


def _finding(
    case: Case, place: InstructionKey, loop: Instruction, iterations: int, iteration_seconds: float
) -> Finding:
    scope = loop.metadata.op_name
    is_asked_for = not scope or _last(scope) in _OF_THE_USER
    stands_for = "" if is_asked_for else f" Expanded by the compiler from `{scope}`."
    than = (
        "without the overhead of an iteration on a TPU, which is not known"
        if _is_tpu(case)
        else "less than its launch overhead"
    )
    time = "" if case.device.nominal_for else f"{units.seconds(iteration_seconds)}, "
    return Finding(
        title="Serial loop of short iterations",
        places=(place,),
        evidence=(
            f"`{loop.name}` runs {iterations:,} iterations per module execution, one after "
            f"another. {case.basis.name.capitalize()} of an iteration: {time}{than}."
            f"{stands_for}"
        ),
        suggestion=_FOR_LOOPS if is_asked_for else _FOR_OPERATIONS,
        grade="matched",
        weight=iterations * _launch(case),
        latency_seconds=None if _is_tpu(case) else iterations * _launch(case),
    )


_FOR_LOOPS = (
    "Do more per iteration (unroll of jax.lax.scan), or remove the sequential dependency: whole-"
    "array operations, jax.vmap, jax.lax.associative_scan."
)
_FOR_OPERATIONS = (
    "Set unique_indices and indices_are_sorted where they hold, or use a dense form: a one-hot "
    "matmul, a segment sum over sorted keys, pooling by reshape and max."
)


def _last(scope: str) -> str:
    """Return the last part of a scope, without brackets: `scatter-add`."""
    return scope.partition("[")[0].rpartition("/")[2]


def _holds_loop(module: HloModule, loop: Instruction) -> bool:
    return any(
        inner.opcode == "while"
        for name in called_computations(module, [loop])
        for inner in module.by_name[name].instructions
    )


def _seconds(case: Case, loop: Instruction) -> float:
    """Return the roofline time of all iterations, exactly: the computations are in no order."""
    costs = (
        case.cost.instructions.get((name, inner.name))
        for name in called_computations(case.module, [loop])
        for inner in case.module.by_name[name].instructions
    )
    return fsum(case.least(cost) for cost in costs if cost is not None and not cost.fused)
