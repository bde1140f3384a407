"""Small collectives not combined.

Four or more collectives of one kind, group and type, of at most 256 KiB each, are independent of
one another. The gain assumes 2 µs of latency for each. The rule does not apply to CPU.
"""

from collections.abc import Iterator

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.collectives.remedies import combiner_option
from xlareport.analysis.findings.finding import SHORTEST, Case, Finding, join_names
from xlareport.hlo.model import Computation
from xlareport.hlo.opcode_groups import COMBINED_COLLECTIVES
from xlareport.runtime import units
from xlareport.runtime.graphs import reachable
from xlareport.runtime.grouping import group_by_key

MOST_BYTES = 256 << 10
"""Data of one collective; beyond that its latency matters less."""
LEAST_NUMBER = 4
LATENCY_WORDS = "which roofline time and modeled times leave out"
_MOST_LOOKED_AT = 64


def small_collectives(case: Case) -> Iterator[Finding]:
    """Report small collectives of one kind, group and type, none of which needs another.

    A CPU is left out: its collectives run in processes of one machine.
    """
    if not case.has_order:
        return
    alike = group_by_key(
        (_likeness(case, collective), collective)
        for collective in case.collectives
        if collective.collective.kind in COMBINED_COLLECTIVES
        and collective.counted
        and 0 < (collective.data_bytes or 0) <= MOST_BYTES
    )
    for _, collectives in sorted(alike.items()):
        free = _independent(case, collectives[:_MOST_LOOKED_AT])
        if len(free) >= LEAST_NUMBER:
            yield _finding(case, free)


def _finding(case: Case, free: list[CollectiveFigures]) -> Finding:
    first = free[0]
    data = sum(figures.data_bytes or 0 for figures in free)
    saved = SHORTEST * (len(free) - 1) * first.counted
    return Finding(
        title=f"Small {first.collective.kind}s not combined",
        places=tuple(figures.collective.key for figures in free),
        evidence=(
            f"{units.plural(len(free), first.collective.kind)} of the same groups and type, "
            f"{units.byte_size(data)} in total, and none depends on another: "
            f"{join_names(figures.collective.instruction for figures in free)}. "
            f"Each has its own latency, {LATENCY_WORDS}."
        ),
        suggestion=_advise(case.backend, first.collective.kind),
        grade="matched",
        weight=saved,
        latency_seconds=saved,
    )


def _advise(backend: str, kind: str) -> str:
    """Return what to try: the options of the backend for collectives of this kind."""
    flat = "Send one flattened array instead of many."
    option = combiner_option(backend, kind)
    return f"Check {option}. {flat}" if option else flat


def _likeness(case: Case, figures: CollectiveFigures) -> tuple[str, ...]:
    """Return what must be equal for a combiner to join collectives."""
    collective = figures.collective
    instruction = case.module.find(*collective.body)
    attributes = instruction.attributes if instruction else {}
    shape = instruction.shape if instruction else None
    element = shape.elements[0] if shape and shape.elements else shape
    return (
        collective.computation,
        collective.kind,
        attributes.get("replica_groups", ""),
        attributes.get("dimensions", ""),
        attributes.get("use_global_device_ids", ""),
        element.element_type if element else "",
        _operation(case, attributes.get("to_apply", "")),
    )


def _operation(case: Case, name: str) -> str:
    computation = case.module.by_name.get(name.lstrip("%"))
    return computation.root.opcode if computation and computation.root else ""


def _independent(case: Case, collectives: list[CollectiveFigures]) -> list[CollectiveFigures]:
    """Return collectives none of which needs another one, those that come first preferred."""
    computation = case.module.by_name[collectives[0].collective.computation]
    free: list[CollectiveFigures] = []
    names: set[str] = set()
    for collective in collectives:
        if not names & _needed(computation, collective.collective.instruction):
            free.append(collective)
            names.update(collective.collective.parts)
    return free


def _needed(computation: Computation, name: str) -> set[str]:
    def operands(name: str) -> tuple[str, ...]:
        instruction = computation.by_name.get(name)
        return instruction.operand_names if instruction else ()

    return {*reachable([name], operands)} - {name}
