"""Kernels shorter than a launch.

GPU only, if the dump has the thunk sequence. Kernels whose roofline time is less than a launch, the
1 µs that XLA's cost model assumes, run one by one outside of command buffers, and the rest of their
launches is at least a third of the module's roofline time and 50 µs. Copies count too. Kernels in
command buffers are launched together and do not count, neither do collectives and conditions of
loops of stated trip count. A library call counts as one kernel.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from xlareport.analysis.code.kernel_links import name_kernel
from xlareport.analysis.cost.loops import unevaluated_conditions
from xlareport.analysis.cost.roofline import LAUNCH_SECONDS
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.analysis.findings.iterations import describe_iterations
from xlareport.analysis.findings.serial_loops import serial_loops
from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import InstructionKey
from xlareport.runtime import units

LEAST_RATIO = 1 / 3
"""Of the module's roofline time."""
LEAST_SECONDS = 5e-5
_MOST_NAMES = 3


def short_kernels(case: Case) -> Iterator[Finding]:
    """Report kernels outside of command buffers that take less time than their launches."""
    recorded = case.recorded
    if case.backend != "gpu" or recorded is None:
        return
    left_out = _in_serial_loops(case) | unevaluated_conditions(case.module)
    short = [
        ((LAUNCH_SECONDS - seconds) * cost.counted, cost.counted, (computation.name, line.name))
        for computation, line, cost in case.scheduled
        if cost.bytes_accessed
        and cost.counted
        and not cost.traffic
        and computation.name not in left_out
        and not recorded & {line.name, name_kernel(line.name)}
        and (seconds := case.basis.seconds(cost)) < LAUNCH_SECONDS
    ]
    waiting = sum(seconds for seconds, _, _ in short)
    if waiting >= max(LEAST_SECONDS, LEAST_RATIO * case.seconds):
        yield _finding(case, sorted(short, reverse=True), waiting)


def _in_serial_loops(case: Case) -> frozenset[str]:
    """Return the computations of loops whose launches are reported already."""
    findings = case.findings_of(serial_loops)
    loops = (case.module.find(*place) for finding in findings for place in finding.places)
    return frozenset(called_computations(case.module, [loop for loop in loops if loop]))


def _by_computation(short: list[tuple[float, int, InstructionKey]]) -> Mapping[str, int]:
    """Return the launches of each computation."""
    launches: Counter[str] = Counter()
    for _, count, (computation, _) in short:
        launches[computation] += count
    return launches


def _finding(case: Case, short: list[tuple[float, int, InstructionKey]], waiting: float) -> Finding:
    launches = sum(count for _, count, _ in short)
    names = join_names((name for _, _, (_, name) in short), _MOST_NAMES)
    kernels = units.plural(len(short), "kernel or copy", "kernels and copies")
    return Finding(
        title="Kernels shorter than a launch",
        places=tuple(place for _, _, place in short),
        evidence=(
            f"{kernels} ({names}) with {launches:,} launches in all per module execution, loops "
            "times trip count, are in no command buffer. At XLA's own 1 µs for a launch, that is "
            f"{units.seconds(launches * LAUNCH_SECONDS)}; their roofline time is "
            f"{units.seconds(launches * LAUNCH_SECONDS - waiting)}, that of the module "
            f"{units.seconds(case.seconds)}, both without launches."
            f"{describe_iterations(case, _by_computation(short), LAUNCH_SECONDS)}"
        ),
        suggestion=(
            "Do more per kernel: a larger batch, unroll of jax.lax.scan, jax.vmap in place of a "
            "loop. Check --xla_gpu_enable_command_buffer and --xla_gpu_graph_min_graph_size for "
            "what is recorded into command buffers."
        ),
        grade="guessed",
        weight=waiting,
        latency_seconds=waiting,
    )
