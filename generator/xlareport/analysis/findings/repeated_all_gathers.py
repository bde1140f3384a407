"""Repeated all-gathers.

Two or more all-gathers of one computation send the same operand over the same groups, or a combined
all-gather has one operand several times. The repeats send 64 KiB or more per device, and 5% or more
of the bytes of all collectives. With `jax.checkpoint`, or if gathered parameters are freed between
forward and backward pass, repeats of separate all-gathers are intended: they save memory.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.findings.finding import MOST_PLACES, Case, Finding, join_names
from xlareport.hlo.model import Instruction
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

LEAST_BYTES = 64 << 10
"""Bytes that all repeats send per device."""
LEAST_SHARE = 0.05
"""Of what all collectives send per device."""


def repeated_all_gathers(case: Case) -> Iterator[Finding]:
    """Report operands that all-gathers send to the same devices more than once."""
    yield from _doubled_operands(case)
    yield from _repeats(case)


def _repeats(case: Case) -> Iterator[Finding]:
    """Report all-gathers whose operand another all-gather sends to the same devices."""
    counted = [
        [figures for figures in group if figures.counted] for group in gathers_by_operand(case)
    ]
    repeated = [group for group in counted if len(group) > 1]
    if not repeated:
        return
    again = [figures for group in repeated for figures in group[1:]]
    sent = sum(figures.sent_bytes for figures in again)
    if not _is_large(case, sent):
        return
    repeated.sort(key=lambda group: -sum(figures.sent_bytes for figures in group[1:]))
    members = [figures.collective.key for group in repeated for figures in group]
    further = units.plural(len(repeated) - 1, "further operand")
    others = f", and so for {further}" if len(repeated) > 1 else ""
    yield Finding(
        title="Repeated all-gathers",
        places=tuple(members[:MOST_PLACES]),
        occurrences=len(again),
        evidence=(
            f"{_describe(repeated[0])}{others}: at least "
            f"{units.byte_size(sent)} per device are sent more than once."
        ),
        suggestion=(
            "Use one gathered value for all consumers if memory allows: it is kept until the last "
            "of them. With jax.checkpoint the repeats are part of the recomputation; a policy that "
            "saves the gathered value avoids them."
        ),
        grade="matched",
        weight=sum((figures.time.seconds or 0.0) * (figures.counted or 0) for figures in again),
        seconds=_exposed(again),
    )


def _doubled_operands(case: Case) -> Iterator[Finding]:
    """Report combined all-gathers that have one operand several times."""
    doubled = [
        (part, figures)
        for figures in case.collectives
        if figures.collective.kind == "all-gather" and (part := _doubled_part(case, figures))
    ]
    sent = sum(part * figures.sent_bytes for part, figures in doubled)
    if not _is_large(case, sent):
        return
    doubled.sort(key=lambda pair: (-pair[0] * pair[1].sent_bytes, pair[1].collective.key))
    seconds = sum(part * figures.exposed_seconds for part, figures in doubled)
    _, first = doubled[0]
    name, count = Counter(_line(case, first).operand_names).most_common(1)[0]
    yield Finding(
        title="All-gather with the same operand several times",
        places=tuple(figures.collective.key for _, figures in doubled),
        evidence=(
            f"{join_names(figures.collective.instruction for _, figures in doubled)}: at least "
            f"{units.byte_size(round(sent))} per device are sent more than once. "
            f"`{first.collective.instruction}` sends `{name}` {count} times."
        ),
        suggestion=(
            "The compiler combined all-gathers of one value. Gather it once: one "
            "`jax.lax.with_sharding_constraint` on the value before its consumers, or one matmul "
            "for the weights that are multiplied by it."
        ),
        grade="matched",
        weight=seconds,
        seconds=seconds,
    )


def _doubled_part(case: Case, figures: CollectiveFigures) -> float:
    """Return the part, 0 to 1, of the bytes of an all-gather that it sends again."""
    home = case.module.by_name[figures.collective.computation]
    operands = list(filter(None, home.operands(_line(case, figures))))
    sizes = {line.name: line.shape.byte_size or 0 for line in operands}
    whole = sum(sizes[line.name] for line in operands)
    return 1 - sum(sizes.values()) / whole if whole else 0.0


def _line(case: Case, figures: CollectiveFigures) -> Instruction:
    home, name = figures.collective.key
    return case.module.by_name[home].by_name[name]


def _is_large(case: Case, sent: float) -> bool:
    """Return whether what is sent again is a large part of what all collectives send."""
    return sent >= max(LEAST_BYTES, LEAST_SHARE * case.sent_bytes)


def gathers_by_operand(case: Case) -> Sequence[Sequence[CollectiveFigures]]:
    """Return the all-gathers of a module in groups of one operand and the same devices."""
    keyed = ((_sent_value(case, figures), figures) for figures in case.collectives)
    return list(group_by_key(item for item in keyed if item[0] is not None).values())


def _sent_value(case: Case, figures: CollectiveFigures) -> Hashable:
    """Return what an all-gather sends to which devices; None where that is not listed."""
    gather = figures.collective
    groups = figures.groups.groups if figures.groups else None
    if gather.kind != "all-gather" or groups is None:
        return None
    line = _line(case, figures)
    dimensions = line.attributes.get("dimensions", "")
    return gather.computation, tuple(line.operands), dimensions, tuple(sorted(groups))


def _exposed(again: Sequence[CollectiveFigures]) -> float | None:
    exposed = [figures.exposed_seconds for figures in again]
    times = [seconds for seconds in exposed if seconds is not None]
    return sum(times) if len(times) == len(exposed) else None


def _describe(group: Sequence[CollectiveFigures]) -> str:
    first, *others = [figures.collective.instruction for figures in group]
    sends = "sends" if len(others) == 1 else "send"
    return f"{join_names(others)} {sends} the operand of `{first}` to the same devices again"
