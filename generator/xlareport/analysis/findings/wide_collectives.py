"""Collective in a wider type than needed.

An all-gather, all-to-all or collective-permute moves floats that every reader converts to a
narrower type first, or that were converted from a narrower one just before. With the convert on the
other side of the collective, the values are the same and fewer bytes are sent. Together, such
collectives of one kind and type could save 0.5% or more of the module's roofline time. Copies,
transposes and slices between are looked through, in fusions too. The rule does not apply to modules
without a schedule.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.findings.finding import (
    Case,
    Finding,
    describe_executions,
)
from xlareport.analysis.findings.flat_flow import FlatFlow, flatten
from xlareport.hlo.model import Computation
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.hlo.shape import bits_of, is_float_type
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

LEAST_SHARE = 0.005
"""Of the module's roofline time, what narrower collectives of one kind save."""
_KINDS = frozenset({"all-gather", "all-to-all", "collective-permute"})
"""Collectives that move values and compute nothing: a convert before or after is the same."""
_PASSED = REARRANGEMENTS | {
    *("copy-start", "copy-done", "dynamic-slice", "get-tuple-element", "optimization-barrier"),
    *("slice", "concatenate"),
}
"""Opcodes that move elements, and compute nothing."""
_MOST = 10_000
"""Values behind a collective that are looked at."""


class _Wide(Struct, frozen=True):
    """A collective of a wide type, and the narrow type that is enough."""

    figures: CollectiveFigures
    wide: str
    narrow: str
    is_converted_after: bool

    @property
    def key(self) -> tuple[str, str, str, bool]:
        """What the collectives of a finding have in common."""
        return self.figures.collective.kind, self.wide, self.narrow, self.is_converted_after

    @property
    def saved_part(self) -> float:
        """The part of the bytes that the narrow type saves."""
        return 1.0 - (bits_of(self.narrow) or 0) / (bits_of(self.wide) or 1)

    @property
    def saved_seconds(self) -> float:
        """Upper bound of the exposed seconds that the narrow type saves."""
        return self.figures.exposed_seconds * self.saved_part


def wide_collectives(case: Case) -> Iterator[Finding]:
    """Report collectives of values that are narrower before them, or after."""
    if not case.has_order:
        return
    moving = [
        figures
        for figures in case.collectives
        if figures.collective.kind in _KINDS and figures.exposed_seconds
    ]
    homes = group_by_key((figures.collective.computation, figures) for figures in moving)
    every = [wide for name, group in homes.items() for wide in _list_wide(case, name, group)]
    for _, alike in sorted(group_by_key((wide.key, wide) for wide in every).items()):
        if case.is_noticeable(sum(wide.saved_seconds for wide in alike), LEAST_SHARE):
            yield _finding(case, alike)


def _list_wide(case: Case, name: str, group: Sequence[CollectiveFigures]) -> Iterator[_Wide]:
    home = case.module.by_name[name]
    flow = flatten(case.module, home)
    leaving = _leaving(flow, home)
    for figures in group:
        collective = figures.collective
        result = flow.results.get(collective.done or collective.instruction)
        sent = flow.results.get(collective.instruction)
        if not isinstance(result, int) or not isinstance(sent, int):
            continue
        after, before = _type_of_readers(flow, result, leaving), _type_of_sources(flow, sent)
        for wide, narrow in filter(None, (after, before)):
            yield _Wide(figures, wide, narrow, is_converted_after=(wide, narrow) == after)
            break


def _leaving(flow: FlatFlow, home: Computation) -> frozenset[int]:
    """Return the values that the computation or one of its tuples holds: for loops and callers."""
    ends = [line.name for line in home.instructions if line.opcode == "tuple"]
    if home.root is not None:
        ends.append(home.root.name)
    values = [flow.results.get(name, ()) for name in ends]
    return frozenset(
        number for value in values for number in ((value,) if isinstance(value, int) else value)
    )


def _type_of_readers(
    flow: FlatFlow, result: int, leaving: frozenset[int]
) -> tuple[str, str] | None:
    """Return the float types of the converts that alone read a value; None if others do."""
    types = set[tuple[str, str]]()
    behind, seen = [result], {result}
    while behind:
        number = behind.pop()
        if number in leaving or len(seen) > _MOST:
            return None
        for user in flow.users[number]:
            opcode = flow.lines[user].opcode
            if opcode == "convert":
                types.add(_converted(flow, user))
            elif opcode not in _PASSED:
                return None
            elif user not in seen:
                seen.add(user)
                behind.append(user)
    return types.pop() if len(types) == 1 and _is_narrowing(*min(types)) else None


def _type_of_sources(flow: FlatFlow, sent: int) -> tuple[str, str] | None:
    """Return the float types of the converts that alone give a collective its values."""
    types = set[tuple[str, str]]()
    for source in flow.sources[sent]:
        number = source
        while flow.lines[number].opcode in REARRANGEMENTS and len(flow.sources[number]) == 1:
            (number,) = flow.sources[number]
        if flow.lines[number].opcode != "convert":
            return None
        types.add(_converted(flow, number)[::-1])
    return types.pop() if len(types) == 1 and _is_narrowing(*min(types)) else None


def _converted(flow: FlatFlow, number: int) -> tuple[str, str]:
    """Return the element types that a convert reads and gives; an empty one if not known."""
    sources = flow.sources[number]
    given = flow.lines[sources[0]].shape.element_type if len(sources) == 1 else ""
    return given, flow.lines[number].shape.element_type


def _is_narrowing(wide: str, narrow: str) -> bool:
    are_floats = is_float_type(wide) and is_float_type(narrow)
    return are_floats and (bits_of(narrow) or 0) < (bits_of(wide) or 0)


def _finding(case: Case, alike: Sequence[_Wide]) -> Finding:
    ranked = sorted(alike, key=lambda wide: (-wide.saved_seconds, wide.figures.collective.key))
    first, seconds = ranked[0], sum(wide.saved_seconds for wide in ranked)
    figures, is_after = first.figures, first.is_converted_after
    kind, exposed = figures.collective.kind, sum(wide.figures.exposed_seconds for wide in ranked)
    name = f"`{figures.collective.instruction}`"
    return Finding(
        title=f"{first.wide} {kind} of values {_TITLES[is_after]} {first.narrow}",
        places=tuple(wide.figures.collective.key for wide in ranked),
        evidence=(
            f"{units.plural(len(ranked), kind)}: {units.seconds(exposed)} exposed per module "
            f"execution, {case.share_words(exposed)}. {_EVIDENCE[is_after]} "
            f"{name if len(ranked) == 1 else f'The longest, {name},'} sends "
            f"{units.byte_size(figures.wire_bytes or 0)} per device"
            f"{describe_executions(figures.counted)}."
        ),
        suggestion=_REMEDIES[is_after].format(narrow=first.narrow),
        grade="matched",
        weight=seconds,
        seconds=seconds or None,
    )


_TITLES: Mapping[bool, str] = {True: "used in", False: "converted from"}
_EVIDENCE: Mapping[bool, str] = {
    True: "Every reader converts the result first.",
    False: "The operand is converted just before.",
}
_REMEDIES: Mapping[bool, str] = {
    True: (
        "Convert to {narrow} before the collective: cast the sharded value, for instance the "
        "weights before the loop over layers, and give the cast value the same sharding by "
        "jax.lax.with_sharding_constraint, so that the partitioner moves the narrow one."
    ),
    False: (
        "Convert from {narrow} after the collective: place the sharding constraint on the "
        "{narrow} value, so that the partitioner moves the narrow one."
    ),
}
