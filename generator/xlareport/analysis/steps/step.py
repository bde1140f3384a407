"""Steps: what the compiler did between two snapshots, in words, figures and changes."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from xlareport.analysis.matching.facts import facts_of
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.result import Matching
from xlareport.analysis.steps.boundaries import NOBODY
from xlareport.analysis.steps.changes import Change, changes
from xlareport.analysis.steps.differences import Kind
from xlareport.analysis.steps.groups import ChangeGroup, grouped, renumbered
from xlareport.analysis.steps.telling import Telling, tell
from xlareport.hlo.model import Computation, HloModule

_GONE = frozenset({Kind.REMOVED, Kind.DEAD, Kind.MERGED, Kind.INLINED, Kind.ABSORBED})
_NEW = frozenset({Kind.ADDED, Kind.CLONED, Kind.FUSED, Kind.PARAMETER, Kind.OUTLINED})


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts of one snapshot."""

    instructions: int
    computations: int
    fusions: int


@dataclass(frozen=True, slots=True)
class StepChange:
    """What happened between two snapshots."""

    identical: bool
    """The same content."""
    before: Figures
    after: Figures
    added: tuple[Change, ...]
    removed: tuple[Change, ...]
    modified: tuple[Change, ...]
    renumbered: int
    """Instructions of which only the number in the name changed; in none of the three above."""
    opcode_delta: tuple[tuple[str, int, int], ...]
    """Opcode, count before and after in the computations that differ; the largest change first."""
    groups: tuple[ChangeGroup, ...]
    headline: str
    """One sentence."""
    account: tuple[str, ...]
    """Further sentences."""
    matching: Matching | None
    """None where both are identical."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes: added, removed, modified."""
        return (*self.added, *self.removed, *self.modified)


def step(before: HloModule, after: HloModule, actor: str = NOBODY) -> StepChange:
    """Tell what changed from one snapshot to the next; `actor` is the subject of the headline."""
    figures = figures_of(before), figures_of(after)
    if before is after or before.computations == after.computations:
        return _unchanged(figures, actor)
    matching = match(before, after)
    found = list(changes(matching))
    groups = grouped(found)
    named = sum(old != new for old, new in matching.computations.items())
    touched = {one.before for one in found if one.before and not _is_quiet(one)}
    told = tell(
        Telling(groups, actor, renumbered(found), named, before.instruction_count, len(touched))
    )
    return StepChange(
        identical=False,
        before=figures[0],
        after=figures[1],
        added=tuple(one for one in found if one.kind in _NEW),
        removed=tuple(one for one in found if one.kind in _GONE),
        modified=tuple(one for one in found if one.kind not in _NEW | _GONE and not one.numbering),
        renumbered=sum(one.numbering for one in found),
        opcode_delta=_opcode_delta(before, after),
        groups=groups,
        headline=told[0],
        account=told[1:],
        matching=matching,
    )


def figures_of(module: HloModule) -> Figures:
    """Count a module's instructions, computations and fusions."""
    fusions = sum(facts_of(one).fusions for one in module.computations)
    return Figures(module.instruction_count, len(module.computations), fusions)


def _is_quiet(change: Change) -> bool:
    """Say whether an instruction does what it did, on what it did it."""
    return change.numbering or change.kind is Kind.REWIRED


def _unchanged(figures: tuple[Figures, Figures], actor: str) -> StepChange:
    told = tell(Telling((), actor))
    return StepChange(
        identical=True,
        before=figures[0],
        after=figures[1],
        added=(),
        removed=(),
        modified=(),
        renumbered=0,
        opcode_delta=(),
        groups=(),
        headline=told[0],
        account=told[1:],
        matching=None,
    )


def _opcode_delta(before: HloModule, after: HloModule) -> tuple[tuple[str, int, int], ...]:
    old = _opcodes(before.computations, after.by_name)
    new = _opcodes(after.computations, before.by_name)
    changed = [(code, old[code], new[code]) for code in {**old, **new} if old[code] != new[code]]
    return tuple(sorted(changed, key=lambda one: (-abs(one[2] - one[1]), one[0])))


def _opcodes(
    computations: tuple[Computation, ...], others: Mapping[str, Computation]
) -> Counter[str]:
    counts: Counter[str] = Counter()
    for one in computations:
        if others.get(one.name) is not one:
            counts.update(facts_of(one).opcodes)
    return counts
