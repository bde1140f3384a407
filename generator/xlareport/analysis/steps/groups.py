"""Changes of one kind as groups: repeated ones counted once, with examples."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.reasons import PartOfRegrouped, RegroupedInto, Resharded
from xlareport.analysis.source.scopes import find_layer, mask_numbers
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.destinations import IN_LOOP
from xlareport.analysis.steps.details import (
    SYNCHRONOUS,
    AttributesChange,
    BranchPlace,
    Bypassed,
    ConfigChange,
    Difference,
    FusionPlace,
    LeftFusion,
    ShapeChange,
    values_of,
)
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.reducers import SUMS
from xlareport.knowledge.grades import Grade, doubt

_EXAMPLES = 3
_HOLDERS = frozenset({Kind.EXPANDED, Kind.FUSED, Kind.INLINED, Kind.OUTLINED})
"""Kinds whose members may be within one another, such as a fusion in a fusion."""
_INTO = frozenset({Kind.ABSORBED, Kind.FUSED})
_WHOLE = frozenset({Kind.COPIED, Kind.DEFINED, Kind.UNAPPLIED, Kind.UNIFIED})
_REMOVED = frozenset({Kind.UNAPPLIED, Kind.UNIFIED})
"""Kinds of computations that are only before."""
_OF_RESULTS = frozenset({Kind.CLONED, Kind.COMBINED, Kind.FUSED, Kind.OUTLINED})
"""Kinds that are counted by what came of them."""
_OF_COMPUTATIONS = _WHOLE | {Kind.LEFTOVER, Kind.UNCALLED}
"""Kinds that are told of computations, not of each instruction."""
_COUNTED_BESIDE = frozenset(
    {
        Kind.CARRIED,
        Kind.HOISTED,
        Kind.LAYOUT,
        Kind.PRECISION,
        Kind.SHAPE,
        Kind.SHARDING,
        Kind.SPACE,
        Kind.SUMMED,
        Kind.SUNK,
        Kind.TYPE,
    }
)
"""Kinds that do not follow from a weightier one of the same instruction."""
_COUNTED_IF_ALONE = frozenset(
    {Kind.ATTRIBUTES, Kind.CONFIG, Kind.METADATA, Kind.MOVED, Kind.OPERANDS}
)
"""Kinds that mostly follow from a weightier one, counted in full where one did not."""
_OF_VALUES = frozenset({Kind.ATTRIBUTES, Kind.CONFIG, Kind.SHARDING})
"""Kinds of which an example reads as what all of a group got."""
_REASONS = frozenset({Kind.SPLIT, Kind.TURNED})
"""Kinds from which all others of the same instruction follow."""
_Key = tuple[Kind, tuple[str, str], str, tuple[str, ...]]


class ChangeGroup(Struct, frozen=True):
    """Changes that read the same but for names and layer numbers."""

    kind: Kind
    opcodes: tuple[str, str]
    """Before and after; '' where there is none."""
    scope: str
    """Numbers left open where they differ: `layer_*/mlp`."""
    count: int
    per_layer: int | None
    """Changes in each layer, where all are in layers of one series, as many in each; else None."""
    layers: int
    changes: tuple[Change, ...]
    """All of them, the surest first."""
    members: int = 0
    """Number of instructions that the changes combined, split, took in or released."""
    homes: frozenset[str] = frozenset()
    """Computations that the changes are in, before."""
    homes_after: frozenset[str] = frozenset()
    """Computations that the changes are in, after."""
    target: str = ""
    """Of the custom calls that were removed, or took the place of another opcode."""
    sources: int = 0
    """How many different instructions before were changed; one can become several."""
    results: int = 0
    """How many different instructions after came of it; several can become one."""
    guesses: int = 0
    """How many of the changes are only guessed."""
    involved: frozenset[Place] = frozenset()
    """What new fusions hold, and what calls were inlined into: those within others share it."""
    copied: frozenset[Place] = frozenset()
    """Of these, what stays outside of the new fusions, which hold copies."""
    into: tuple[frozenset[Place], ...] = ()
    """Of merged and of new fusions, the fusions that each change ends in."""
    alike: int | None = None
    """Of changes of configs, attributes and shardings, how many got the values of the first one."""

    @property
    def examples(self) -> tuple[Change, ...]:
        """The first few changes."""
        return self.changes[:_EXAMPLES]

    @property
    def is_taken_in(self) -> bool:
        """Whether the instructions were in no fusion and are in some that were there before."""
        return is_taken_in(self.changes[0])

    @property
    def is_in_branch(self) -> bool:
        """Whether the instructions were beside a conditional and are in a branch of it."""
        return _is_in_branch(self.changes[0])

    @property
    def is_in_loop(self) -> bool:
        """Whether these are clones in a loop of what is outside of it."""
        return _is_in_loop(self.changes[0])

    @property
    def is_bypassed(self) -> bool:
        """Whether all users of what is left read its operand now."""
        return isinstance(_detail(self.changes[0]), Bypassed)

    @property
    def is_out_of_fusion(self) -> bool:
        """Whether the instructions were in fusions and are not now."""
        return _is_out_of_fusion(self.changes[0])

    @property
    def is_out_of_standing(self) -> bool:
        """Whether the fusions that the instructions left continue without them."""
        return _is_out_of_standing(self.changes[0])

    @property
    def sets_defaults(self) -> bool:
        """Whether all that changed is that fields of backend configs were set to defaults."""
        change = _detail(self.changes[0])
        return isinstance(change, ConfigChange) and change.sets_defaults

    @property
    def is_tiling(self) -> bool:
        """Whether only the tiles of layouts changed, and the order of dimensions is the same."""
        return _is_tiling(self.changes[0])

    @property
    def is_summed(self) -> bool:
        """Whether these add up more or fewer elements; else they reduce them in another way."""
        return _is_summed(self.changes[0])

    @property
    def is_synchronous(self) -> bool:
        """Whether these are starts and dones that run synchronously."""
        return _detail(self.changes[0]) == SYNCHRONOUS

    @property
    def sharding_verb(self) -> str:
        """What was done to shardings: `set`, `removed` or `changed`."""
        return sharding_verb(self.changes[0])

    @property
    def is_mark(self) -> bool:
        """Whether all that changed is what later passes read in the frontend attributes."""
        return is_mark(self.changes[0])

    @property
    def repetition(self) -> str:
        """In words: `one of 12, one per layer`; '' of a single one."""
        count = self._repeated
        if count == 1 or self.kind is Kind.UNCALLED:
            return ""
        share = "one" if self.per_layer == 1 else str(self.per_layer)
        of_layers = [] if self.per_layer is None else [f"{share} per layer"]
        return ", ".join([f"one of {count:,}", *of_layers, *self._with_values])

    @property
    def _with_values(self) -> list[str]:
        """Say how many set the values of the example, where not all of them do."""
        if self.alike is None or self.alike == self.count:
            return []
        known = f"{self.alike:,} with these values"
        return [known if self.alike > 1 else "the others with other values"]

    @property
    def _repeated(self) -> int:
        """Return how many there are of what the example is one of, as the phrase counts them."""
        if self.kind in _WHOLE:
            return len(self.homes if self.kind in _REMOVED else self.homes_after)
        if self.kind is Kind.LEFTOVER:
            return len(self.homes_after)
        if self.kind in _OF_RESULTS:
            return self.count if self.kind is Kind.CLONED else self.results or self.count
        return self.sources or self.results or self.count


def grouped(changes: Iterable[Change]) -> tuple[ChangeGroup, ...]:
    """Group changes by kind, opcodes and scope: weighty kinds first, large groups first.

    An instruction with another layout and another sharding is in a group of each.
    """
    result: dict[_Key, list[Change]] = {}
    for change in _of_each_kind([change for change in changes if not change.numbering]):
        result.setdefault(_group_key(change), []).append(change)
    order = {kind: number for number, kind in enumerate(Kind)}
    groups = [_group(*key[:3], members) for key, members in result.items()]
    groups.sort(key=lambda group: (order[group.kind], _follows(group), -group.count))
    return tuple(groups)


def _follows(group: ChangeGroup) -> bool:
    """Return whether instructions lost their users because these lost theirs."""
    return group.kind is Kind.LEFT and not group.changes[0].details


def is_taken_in(change: Change) -> bool:
    """Return whether an instruction that was in no fusion is in one that was there before."""
    return isinstance(_detail(change), FusionPlace)


def _is_out_of_fusion(change: Change) -> bool:
    return any(isinstance(detail, LeftFusion) for detail in change.details)


def _is_out_of_standing(change: Change) -> bool:
    return any(isinstance(detail, LeftFusion) and detail.stands for detail in change.details)


def _is_in_branch(change: Change) -> bool:
    return isinstance(_detail(change), BranchPlace)


def _is_in_loop(change: Change) -> bool:
    return change.kind is Kind.CLONED and str(_detail(change)).startswith(IN_LOOP)


def sharding_verb(change: Change) -> str:
    """Return whether a sharding was set, removed or changed."""
    text = str(_detail(change))
    if text.startswith("sharding: none → "):
        return "set"
    return "removed" if text.startswith("sharding: ") and text.endswith(" → none") else "changed"


def is_mark(change: Change) -> bool:
    """Whether an instruction only got other frontend attributes."""
    detail = _detail(change)
    return isinstance(detail, AttributesChange) and detail.is_mark


def _is_tiling(change: Change) -> bool:
    detail = _detail(change)
    return isinstance(detail, ShapeChange) and detail.is_tiling


def _is_summed(change: Change) -> bool:
    detail = _detail(change)
    return isinstance(detail, ShapeChange) and detail.lead.startswith(SUMS)


def _detail(change: Change) -> Difference | None:
    """Return what differs in the first respect; None if the pairing says everything."""
    return change.details[0] if change.details else None


def _group_key(change: Change) -> _Key:
    """Return what changes of one group have in common."""
    if change.kind in _OF_COMPUTATIONS:
        return change.kind, ("", ""), "", ()
    apart = _APART.get(change.kind)
    further = (change.target, *([str(apart(change))] if apart else []))
    detail = _detail(change)
    if apart is None and isinstance(detail, AttributesChange | ConfigChange):
        further = detail.names
    elif detail == SYNCHRONOUS:
        further = (SYNCHRONOUS,)
    scope = "" if change.kind is Kind.CONFIG else mask_numbers(change.scope)
    return change.kind, change.opcodes, scope, further


def _where_moved(change: Change) -> tuple[bool, ...]:
    out, standing = _is_out_of_fusion(change), _is_out_of_standing(change)
    return is_taken_in(change), _is_in_branch(change), out, standing


def _is_one_of(change: Change, reasons: tuple[type, ...]) -> tuple[bool, ...]:
    return tuple(isinstance(change.reason, reason) for reason in reasons)


_APART: Mapping[Kind, Callable[[Change], object]] = {
    Kind.ADDED: lambda change: _is_one_of(change, (PartOfRegrouped, Resharded)),
    Kind.CLONED: _is_in_loop,
    Kind.INLINED: lambda change: bool(change.members),
    Kind.LAYOUT: _is_tiling,
    Kind.LEFT: lambda change: isinstance(_detail(change), Bypassed),
    Kind.MOVED: _where_moved,
    Kind.REMOVED: lambda change: _is_one_of(change, (RegroupedInto,)),
    Kind.SHARDING: sharding_verb,
    Kind.SUMMED: _is_summed,
}
"""What sets changes of a kind apart that otherwise read the same."""


def _of_each_kind(changes: Sequence[Change]) -> Iterator[Change]:
    """Yield each change, and once more for each further kind that counts, that kind first."""
    counted = _COUNTED_BESIDE | (_COUNTED_IF_ALONE & {change.kind for change in changes})
    of_loops = counted - {Kind.SHAPE}  # told with the move
    counted_beside = {
        Kind.HOISTED: of_loops,
        Kind.REPLACED: of_loops | {Kind.MOVED},  # its shape is that of the operation
        Kind.SUNK: of_loops,
    }
    for change in changes:
        yield change
        if change.kind not in _REASONS:
            beside = counted_beside.get(change.kind, counted)
            yield from (_with_first(change, kind) for kind in change.kinds[1:] if kind in beside)


def _with_first(change: Change, kind: Kind) -> Change:
    """Return a change as what its instruction underwent in one respect, the others behind it."""
    pairs = sorted(
        zip(change.kinds, change.details, strict=True), key=lambda pair: pair[0] is not kind
    )
    kinds, details = zip(*pairs, strict=True)
    return replace(change, kind=kind, kinds=kinds, details=details)


def renumbered(changes: Iterable[Change]) -> ChangeGroup | None:
    """Return the changes of numbers in names as one group; None where there are none."""
    members = [change for change in changes if change.numbering]
    return _group(Kind.RENAMED, ("", ""), "", members) if members else None


def _group(kind: Kind, opcodes: tuple[str, str], scope: str, members: list[Change]) -> ChangeGroup:
    scopes = {member.scope for member in members}
    layers = _layers(members)
    alike = layers.total() == len(members) and len(set(map(mask_numbers, scopes))) == 1
    even = alike and len(layers) > 1 and len(set(layers.values())) == 1
    values = _counted_values(kind, members)
    surest = sorted(members, key=lambda member: _example_rank(member, values))
    return ChangeGroup(
        kind=kind,
        opcodes=opcodes,
        scope=scope if len(scopes) > 1 else members[0].scope,
        count=len(members),
        per_layer=next(iter(layers.values())) if even else None,
        layers=len(layers),
        changes=tuple(surest),
        members=sum(len(member.members) for member in members),
        homes=frozenset(member.before.computation for member in members if member.before),
        homes_after=frozenset(member.after.computation for member in members if member.after),
        target=members[0].target,
        sources=_different(member.before for member in members),
        results=_different(member.after for member in members),
        guesses=sum(member.grade is Grade.GUESSED for member in members),
        involved=_involved(kind, members),
        copied=frozenset(place for member in members for place in member.copied),
        into=tuple(map(_fusions, members)) if kind in _INTO else (),
        alike=values[values_of(_detail(surest[0]))] if values else None,
    )


def _example_rank(change: Change, values: Mapping[str, int]) -> tuple[int, bool, int]:
    """Return what makes a change a worse example: doubt, no scope, values that few set."""
    return doubt(change.grade), not change.scoped, -values.get(values_of(_detail(change)), 0)


def _counted_values(kind: Kind, members: Sequence[Change]) -> Counter[str]:
    """Return how many instructions got the same values; empty for kinds not in `_OF_VALUES`.

    Names of instructions differ always, and of a text that is cut the rest may differ.
    """
    values = Counter(values_of(_detail(member)) for member in members if kind in _OF_VALUES)
    is_whole = kind is Kind.CONFIG or not any("%" in text or "…" in text for text in values)
    return values if is_whole else Counter()


def _involved(kind: Kind, members: Iterable[Change]) -> frozenset[Place]:
    holders = members if kind in _HOLDERS else ()
    return frozenset(place for member in holders for place in member.members)


def _fusions(change: Change) -> frozenset[Place]:
    holders = change.members if change.kind is Kind.ABSORBED else ()
    return frozenset(place for place in (change.after, *holders) if place is not None)


def _different(places: Iterable[Place | None]) -> int:
    return len({place for place in places if place is not None})


def _layers(members: list[Change]) -> Counter[str]:
    """Return the number of changes by layer."""
    layers = Counter(find_layer(member.scope) for member in members if member.scoped)
    del layers[""]
    return layers
