"""Which collectives only one of two modules has, by kind, scope and size of what they combine."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.collectives.find import Collective, find_collectives
from xlareport.analysis.compare.collective_members import CombinedMember, list_members
from xlareport.analysis.compare.operations import OperationKey
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.source.scopes import (
    Phase,
    mask_numbers,
    numbered_opcode,
    phase_of,
    plain_path,
)
from xlareport.analysis.source.served_lines import ServedLines
from xlareport.analysis.source.served_ops import serve_ops
from xlareport.hlo.model import HloModule, InstructionKey
from xlareport.hlo.shape import without_layout
from xlareport.runtime.grouping import group_by_key

_MOST_OF_IT = 0.8
"""Share of a combined collective that one op has, as a gradient beside a loss; it is of that op."""


class PlacedCollective(Struct, frozen=True):
    """A collective of the final module, with what is the same in two compilations."""

    kind: str
    """The opcode without `-start`."""
    phase: Phase
    """Of its op_name, else of the op that it works for; empty if unknown."""
    path: str
    """Named scopes and op with numbers replaced, so that layers are equal: `layer_*/mlp/add`."""
    shape: str
    """Of its result, without layouts."""
    instruction: str
    """Its name in its own module."""
    seconds: float
    """Roofline seconds of all its executions in one run."""
    sent_bytes: int = 0
    """Bytes that a device sends in all its executions in one run."""
    executions: int | None = None
    """In one run; None if not known."""
    members: tuple[CombinedMember, ...] = ()
    """What it combines, in the order of its operands."""
    line: str = ""
    """Its source line, `model.py:12`; empty if unknown."""


class CollectiveChange(Struct, frozen=True):
    """A collective that only one module has, or the part of it that only this one has."""

    in_head: bool
    """Whether the head has it, else the base."""
    collective: PlacedCollective
    """Seconds, bytes and shape are those of the members that only this module has."""
    only_here: int = 1
    """How many of its members only this module has."""


class ResizedCollectives(Struct, frozen=True):
    """Collectives of one op that both modules have as many of, with other bytes."""

    base: PlacedCollective
    """The first of them."""
    base_bytes: int
    """Bytes that a device sends in all executions of all of them in one run."""
    head_bytes: int
    """The same in the head."""


def list_collectives(
    module: HloModule, cost: ModuleCost, seconds: Mapping[InstructionKey, float]
) -> tuple[PlacedCollective, ...]:
    """Return the collectives of a module; `seconds` are those of instructions, fusions divided."""
    lines = ServedLines(module)
    return tuple(
        _placed(module, cost, seconds, collective, lines) for collective in find_collectives(module)
    )


def _placed(
    module: HloModule,
    cost: ModuleCost,
    seconds: Mapping[InstructionKey, float],
    collective: Collective,
    lines: ServedLines,
) -> PlacedCollective:
    inside, computation = (
        module.by_name[name] for name in (collective.body[0], collective.computation)
    )
    body, outside = inside.by_name[collective.body[1]], computation.by_name
    op_name = body.metadata.op_name or outside[collective.instruction].metadata.op_name
    first = "" if numbered_opcode(op_name) else op_name
    members = list_members(module, collective.body, first)
    ops = serve_ops(module).get(collective.body, ())
    served = first or next((name for name, share in ops if share > _MOST_OF_IT), "")
    where = ((inside, body), (computation, outside[collective.instruction]))
    places = (lines.of(*place, served, ((served, 1.0),)) for place in where)
    shape = (
        outside[collective.done].shape if collective.done and not collective.inner else body.shape
    )
    keys = {collective.body, *((collective.computation, part) for part in collective.parts)}
    own = cost.instructions.get(collective.key)
    return PlacedCollective(
        kind=collective.kind,
        phase=phase_of(served),
        path=mask_numbers(plain_path(served)),
        shape=without_layout(shape.text),
        instruction=collective.instruction,
        seconds=sum(seconds.get(key, 0.0) for key in keys),
        sent_bytes=_sent(cost, collective),
        executions=own.executions if own else None,
        members=members,
        line=next(filter(None, places), ""),
    )


def _sent(cost: ModuleCost, collective: Collective) -> int:
    """Return the bytes that a device sends, by the first instruction that has the traffic."""
    for key in (collective.key, collective.body):
        own = cost.instructions.get(key)
        if own is not None and own.traffic:
            return own.wire_bytes * own.counted
    return 0


def path_of(key: OperationKey) -> str:
    """Return the scopes and op of an operation as its collectives have them."""
    return plain_path(f"{key.scope}/{key.op}" if key.scope else key.op)


def is_of(collective: PlacedCollective, key: OperationKey) -> bool:
    """Return whether a collective is of an operation."""
    is_elsewhere = bool(collective.line and key.line) and collective.line != key.line
    is_alike = (collective.phase, collective.path) == (key.phase, path_of(key))
    return bool(key.op) and is_alike and not is_elsewhere


def find_resized(
    base: Sequence[PlacedCollective], head: Sequence[PlacedCollective]
) -> tuple[ResizedCollectives, ...]:
    """Return collectives of the same kind, op and line that send other bytes, as many as before."""
    ours, theirs = (
        group_by_key(
            ((collective.kind, collective.phase, collective.path, collective.line), collective)
            for collective in side
        )
        for side in (base, head)
    )
    both = ((ours[key], theirs[key]) for key in ours if len(ours[key]) == len(theirs.get(key, ())))
    resized = (
        ResizedCollectives(
            old[0],
            sum(collective.sent_bytes for collective in old),
            sum(collective.sent_bytes for collective in new),
        )
        for old, new in both
    )
    return tuple(pair for pair in resized if pair.base_bytes != pair.head_bytes)


class _Part(Struct, frozen=True):
    """A member of a collective of one side."""

    collective: PlacedCollective
    member: CombinedMember
    number: int
    """Of the collective, in the order of its side."""

    @property
    def is_combined(self) -> bool:
        """Whether the op_name may be that of another member: a pass combined several, or none."""
        return len(self.collective.members) > 1 or not self.member.path


def compare_collectives(
    base: Sequence[PlacedCollective], head: Sequence[PlacedCollective]
) -> tuple[CollectiveChange, ...]:
    """Return what only one side has of the kinds whose counts differ, the slowest first.

    The members of combined collectives are compared, as a pass may combine them otherwise. Of the
    same kind and scope those of one size are the same, then those of any scope that run as often if
    a pass combined them, then those of any phase, as a recomputed op has another, then those of any
    size: a collective whose shape changed is not a new one.
    """
    ours, theirs = list(_parts(base)), list(_parts(head))
    counts = _counts(ours), _counts(theirs)
    kinds = {kind for kind in counts[0] | counts[1] if counts[0][kind] != counts[1][kind]}
    ours, theirs = (
        [part for part in side if part.collective.kind in kinds] for side in (ours, theirs)
    )
    for mark in (_with_size, _of_any_scope, _of_any_phase, _of_any_size):
        ours, theirs = _unmatched(ours, theirs, mark)
    changes = [*_changes(ours, in_head=False), *_changes(theirs, in_head=True)]
    return tuple(sorted(changes, key=lambda change: -change.collective.seconds))


def _parts(collectives: Iterable[PlacedCollective]) -> Iterator[_Part]:
    for number, collective in enumerate(collectives):
        for member in _members(collective):
            yield _Part(collective, member, number)


def _members(collective: PlacedCollective) -> tuple[CombinedMember, ...]:
    """Return the members; the collective itself where they are not known."""
    return collective.members or (CombinedMember(collective.phase, collective.path, None, 0),)


def _counts(parts: Iterable[_Part]) -> Counter[str]:
    return Counter(part.collective.kind for part in parts)


_Mark = tuple[object, ...]


def _with_size(part: _Part) -> _Mark:
    known = part.member.elements
    size = part.collective.shape if known is None else known
    return *_of_any_size(part), size


def _of_any_scope(part: _Part) -> _Mark | None:
    if part.member.elements is None:
        return None
    return part.collective.kind, part.member.elements, part.collective.executions


def _of_any_phase(part: _Part) -> _Mark | None:
    if part.member.elements is None or not part.member.path:
        return None
    collective, member = part.collective, part.member
    return collective.kind, member.path, member.elements, collective.executions


def _of_any_size(part: _Part) -> _Mark:
    return part.collective.kind, part.member.phase, part.member.path


def _unmatched(
    ours: Sequence[_Part], theirs: Sequence[_Part], mark: Callable[[_Part], _Mark | None]
) -> tuple[list[_Part], list[_Part]]:
    """Return what is left of both sides when the parts with the same mark are paired."""
    waiting = group_by_key((mark(part), part) for part in theirs)
    rest, taken = [], set[int]()
    for part in ours:
        key = mark(part)
        others = waiting.get(key, []) if key is not None else []
        other = next((item for item in others if _may_be_same(part, item, mark)), None)
        if other is None:
            rest.append(part)
        else:
            others.remove(other)
            taken.add(id(other))
    return rest, [part for part in theirs if id(part) not in taken]


def _may_be_same(part: _Part, other: _Part, mark: Callable[[_Part], _Mark | None]) -> bool:
    """Return whether parts with one mark are the same; of other scopes only combined ones."""
    return mark is not _of_any_scope or part.is_combined or other.is_combined


def _changes(parts: Iterable[_Part], *, in_head: bool) -> Iterator[CollectiveChange]:
    """Yield the collectives of the parts, each with the share that the parts are of it."""
    for own in group_by_key((part.number, part) for part in parts).values():
        collective = own[0].collective
        members = [part.member for part in own]
        whole = sum(member.bytes for member in _members(collective))
        share = sum(member.bytes for member in members) / whole if whole else 1.0
        scopes = {(member.phase, member.path) for member in members}
        is_single = len(scopes) == 1 and all(member.path for member in members)
        phase, path = scopes.pop() if is_single else (collective.phase, collective.path)
        of_parts = replace(
            collective,
            phase=phase,
            path=path,
            shape=_shape_of(collective, members),
            seconds=collective.seconds * share,
            sent_bytes=round(collective.sent_bytes * share),
        )
        yield CollectiveChange(in_head, of_parts, len(members))


def _shape_of(collective: PlacedCollective, members: Sequence[CombinedMember]) -> str:
    """Return the shape of a collective; of some of its members, those of their operands."""
    shapes = [member.shape for member in members]
    if len(members) == len(_members(collective)) or not all(shapes):
        return collective.shape
    return shapes[0] if len(shapes) == 1 else f"({', '.join(shapes)})"
