"""Steps: what the compiler did between two snapshots, in words, figures and changes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.result import LooseMatching, Matching
from xlareport.analysis.matching.sides.facts import facts_of, holders_of
from xlareport.analysis.steps.applied_computations import with_applied_computations
from xlareport.analysis.steps.bitcast_origins import with_bitcast_origins
from xlareport.analysis.steps.boundaries import NOBODY
from xlareport.analysis.steps.carried_elements import with_carried_elements
from xlareport.analysis.steps.changes import Change, changes
from xlareport.analysis.steps.description import StepFacts, describe_step, weight
from xlareport.analysis.steps.dropped_elements import with_dropped_elements
from xlareport.analysis.steps.folded_constants import with_folded_constants
from xlareport.analysis.steps.groups import ChangeGroup, grouped, renumbered
from xlareport.analysis.steps.headers import HeaderChange, header_changes
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.light_changes import OpcodeCounts
from xlareport.analysis.steps.loop_constants import with_loop_constants
from xlareport.analysis.steps.merged_operands import without_merged_operands
from xlareport.analysis.steps.moved_clones import with_moved_clones
from xlareport.analysis.steps.numbering import without_number
from xlareport.analysis.steps.one_sided import one_sided_scopes
from xlareport.analysis.steps.prefetches import describe_prefetches
from xlareport.analysis.steps.refinements import (
    count_uncalled,
    with_leftovers,
    with_removed_duplicates,
    with_whole_computations,
)
from xlareport.analysis.steps.split_parts import with_partial_types
from xlareport.analysis.steps.taken_in import with_taken_in
from xlareport.analysis.steps.undone import with_undone_transposes
from xlareport.analysis.steps.unused_additions import with_unused_additions
from xlareport.analysis.steps.wrapped_calls import with_wrapped_calls
from xlareport.hlo.model import HloModule, Instruction
from xlareport.runtime.remembered import remembered


class ModuleSize(Struct, frozen=True):
    """Instruction, computation and fusion counts of one snapshot."""

    instructions: int
    computations: int
    fusions: int


class StepChange(Struct, frozen=True):
    """The changes between two snapshots."""

    identical: bool
    """The same header and the same computations."""
    before: ModuleSize
    after: ModuleSize
    added: tuple[Change, ...]
    """Instructions that the module gained; their number less that of `removed` is its growth."""
    removed: tuple[Change, ...]
    """Instructions that the module lost."""
    modified: tuple[Change, ...]
    """Instructions that it kept, and that are not as they were."""
    renumbered: int
    """Instructions of which only the number in the name changed; in none of the three above."""
    header: tuple[HeaderChange, ...]
    """Attributes of the module that changed."""
    opcode_delta: OpcodeCounts
    """Opcode, count before and after in the computations that differ; the largest change first."""
    groups: tuple[ChangeGroup, ...]
    headline: str
    """One sentence."""
    account: tuple[str, ...]
    """Further sentences."""
    weight: float
    """Its effect on heavy instructions, for ranking; no unit."""
    matching: Matching | None
    """None where both are identical."""

    @property
    def modified_count(self) -> int:
        """Return how many instructions are in `modified`; one can be there twice."""
        return len({change.before or change.after for change in self.modified})

    def __repr__(self) -> str:
        return f"<StepChange: {self.headline or 'no difference'}>"

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes: added, removed, modified."""
        return (*self.added, *self.removed, *self.modified)


def step(
    before: HloModule,
    after: HloModule,
    actor: str = NOBODY,
    *,
    headers: bool = True,
    matched: LooseMatching | None = None,
    same_program: bool = True,
    many_passes: bool = False,
) -> StepChange:
    """Return the changes from one snapshot to the next; `actor` is the subject of the headline.

    `headers` says whether both were read from the same file format: other formats lack attributes.
    `matched` is their matching, if it exists already. `same_program` says that both are of one
    compilation, or of two of one program. With `many_passes`, which passes ran is not known, and
    changes of light instructions are described by counts of opcodes.
    """
    header = header_changes(before, after) if headers else ()
    same = before is after or before.computations == after.computations
    if same and not header:
        return _unchanged(before, actor)
    if same or matched is not None:
        matching = Matching(before, after, *(matched if matched and not same else ({}, ())))
    else:
        matching = match(before, after, same_program=same_program)
    rows = with_unused_additions(matching, with_leftovers(matching, changes(matching)))
    rows = with_loop_constants(matching, with_folded_constants(matching, rows))
    rows = with_partial_types(matching, with_removed_duplicates(matching, rows))
    rows = with_wrapped_calls(matching, rows)
    rows = with_bitcast_origins(matching, without_merged_operands(matching, rows))
    rows = with_moved_clones(with_whole_computations(matching, rows))
    rows = with_taken_in(matching, rows)
    rows = with_carried_elements(matching, with_undone_transposes(matching, rows))
    rows = with_dropped_elements(matching, rows)
    result = with_applied_computations(matching, rows)
    groups = grouped(result)
    counts = _opcode_delta(before, after)
    facts = _facts(actor, matching, header, result, groups)
    sentences = describe_step(replace(facts, opcodes=counts) if many_passes else facts)
    return StepChange(
        identical=False,
        before=figures_of(before),
        after=figures_of(after),
        added=tuple(change for change in result if change.balance > 0),
        removed=tuple(change for change in result if change.balance < 0),
        modified=tuple(change for change in result if not change.balance and not change.numbering),
        renumbered=sum(change.numbering for change in result),
        header=header,
        opcode_delta=counts,
        groups=groups,
        headline=sentences[0],
        account=sentences[1:],
        weight=weight(groups),
        matching=matching,
    )


def _facts(
    actor: str,
    matching: Matching,
    header: Sequence[HeaderChange],
    changes: Sequence[Change],
    groups: tuple[ChangeGroup, ...],
) -> StepFacts:
    touched = {change.before for change in changes if change.before and not _is_quiet(change)}
    return StepFacts(
        groups=groups,
        actor=_with_partitioner(actor, matching),
        header=tuple(change.phrase for change in header),
        renumbered=renumbered(changes),
        computations=len(_with_new_names(matching)),
        uncalled=count_uncalled(matching, changes),
        renamed=_renamed(matching),
        instructions=matching.before.instruction_count,
        touched=len(touched),
        reordered=_reordered(matching),
        scopes=one_sided_scopes(matching),
        prefetches=describe_prefetches(matching.after, changes),
    )


def _renamed(matching: Matching) -> tuple[tuple[str, str], ...]:
    """Return the renamed computations; none if all of them only got other numbers."""
    pairs = _with_new_names(matching)
    named = [pair for pair in pairs if without_number(pair[0]) != without_number(pair[1])]
    return tuple(dict.fromkeys((*named, *pairs))) if named else ()


def _with_new_names(matching: Matching) -> list[tuple[str, str]]:
    """Return the old and new names of computations, but of those whose original is still there.

    What a fusion holds that something else called was inlined there, with what stands around it.
    """
    kept, pairs = matching.after.by_name, matching.computations.items()
    new_names = [(old, new) for old, new in pairs if old != new and old not in kept]
    callers = holders_of(matching.before), holders_of(matching.after)
    return [pair for pair in new_names if not _is_fused_anew(*map(_opcode, callers, pair))]


def _opcode(callers: Mapping[str, Instruction], computation: str) -> str:
    caller = callers.get(computation)
    return caller.opcode if caller is not None else ""


def _is_fused_anew(before: str, after: str) -> bool:
    """Return whether a fusion calls what another opcode, such as `call`, called before."""
    return after == "fusion" and before not in {"", after}


_SPMD = "_spmd"
"""The end of the name of an entry computation that XLA's SPMD partitioner made."""


def is_partitioned(matching: Matching) -> bool:
    """Return whether the SPMD partitioner ran: it marks the entry computation as its own."""
    entries = matching.before.entry, matching.after.entry
    marked = [entry is not None and entry.name.endswith(_SPMD) for entry in entries]
    return marked == [False, True]


def _with_partitioner(actor: str, matching: Matching) -> str:
    """Name the SPMD partitioner where it ran unnamed."""
    if not is_partitioned(matching) or "partition" in actor:
        return actor
    return f"{actor}, including the SPMD partitioner,"


def _reordered(matching: Matching) -> str:
    """Return what is listed in another order if nothing else differs, which has no effect."""
    before, after = matching.before, matching.after
    if before.computations == after.computations:
        return ""
    if set(before.computations) == set(after.computations):
        return "computations"
    pairs = (
        (computation, after.by_name.get(computation.name)) for computation in before.computations
    )
    same = all(
        other is computation
        or (other is not None and set(computation.instructions) == set(other.instructions))
        for computation, other in pairs
    )
    becomes_scheduled = after.is_scheduled and not before.is_scheduled
    return "unscheduled instructions" if same and not becomes_scheduled else ""


def figures_of(module: HloModule) -> ModuleSize:
    """Count a module's instructions, computations and fusions."""
    fusions = _opcodes(module)["fusion"]
    return ModuleSize(module.instruction_count, len(module.computations), fusions)


def _is_quiet(change: Change) -> bool:
    """Return whether a change leaves the computed value and its operands' values the same."""
    return change.numbering or change.kind in _QUIET


_QUIET = frozenset(
    {
        Kind.METADATA,
        Kind.REDIRECTED,
        Kind.RENAMED,
        Kind.REORDERED,
        Kind.REWIRED,
        Kind.SHARDING,
        Kind.SHARED,
    }
)


def _unchanged(module: HloModule, actor: str) -> StepChange:
    figures = figures_of(module)
    sentences = describe_step(StepFacts((), actor))
    return StepChange(
        identical=True,
        before=figures,
        after=figures,
        added=(),
        removed=(),
        modified=(),
        renumbered=0,
        header=(),
        opcode_delta=(),
        groups=(),
        headline=sentences[0],
        account=sentences[1:],
        weight=0.0,
        matching=None,
    )


def _opcode_delta(before: HloModule, after: HloModule) -> OpcodeCounts:
    """Return opcode, count before and count after, of the opcodes whose counts differ."""
    old, new = _opcodes(before), _opcodes(after)
    changed = [(code, old[code], new[code]) for code in {**old, **new} if old[code] != new[code]]
    return tuple(sorted(changed, key=lambda item: (-abs(item[2] - item[1]), item[0])))


@remembered  # both steps of a snapshot, to it and from it, ask for its counts
def _opcodes(module: HloModule) -> Counter[str]:
    return Counter(
        chain.from_iterable(facts_of(computation).opcodes for computation in module.computations)
    )
