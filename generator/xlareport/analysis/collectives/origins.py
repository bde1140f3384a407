"""The origins of collectives, and of the collectives that were merged into a combined one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.collectives.cause import CauseKind, CollectiveCause
from xlareport.analysis.collectives.collective_events import Passes
from xlareport.analysis.collectives.collective_figures import count_bytes_of
from xlareport.analysis.collectives.collective_origin import explain_cause
from xlareport.analysis.collectives.collective_rows import CollectiveMember, CollectiveOrigin
from xlareport.analysis.collectives.find import Collective
from xlareport.analysis.collectives.partitioning import PartitioningStep, ShardedValue
from xlareport.analysis.collectives.sharding_pair import ShardingPair
from xlareport.analysis.collectives.trail import Ancestor, CollectiveTrails, Trail
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.matching.sides.families import JOINED
from xlareport.analysis.shardings.partitioning import partitioning_into
from xlareport.analysis.source.combined_ops import is_combined, member_op_names
from xlareport.analysis.source.inlined_op_names import whole_op_name
from xlareport.analysis.source.locations import fused_root, op_name_of, place_of
from xlareport.analysis.source.scopes import Phase, phase_of, split_path
from xlareport.hlo.attributes import AttributeList, Metadata
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import Shape
from xlareport.knowledge.grades import Grade, weakest
from xlareport.program import ParsedModule
from xlareport.runtime.english import fits_code

PROGRAM = "before_optimizations"
_PROGRAM_NAMES = frozenset({PROGRAM, "before_optimization"})
_NO_PROGRAM = "the dump has no snapshot of the program before optimization"
_IN_PROGRAM = "the program has it"
_BY_USER = "in the program: it moves the data itself"
_OF_PROGRAM = "Written in the program"
_OF_AUTODIFF = "The program has it: JAX made it when it differentiated a shard_map. "
_TRANSPOSED = "It is the transpose of the collective of the forward pass{where}."
_SUMMED = "It adds the gradients of a value that the devices of a group share."
_BETWEEN = "the dump has no snapshot between {before} and {after}"
_NOT_FOLLOWED = "first seen after {}, which only rearranges collectives that are there"
_REARRANGING = ("async-collective", "async_collective", "combiner", "scheduler")
"""Parts of the names of passes that make no collective from other instructions."""
_MADE_LATER = "made after partitioning, when shardings are gone"
_MOST_MEMBERS = 500


def join_origins(
    members: Sequence[CollectiveMember],
    data_bytes: int | None,
    reducing: str,
    *,
    is_combined: bool,
) -> tuple[CollectiveOrigin, ShardingPair | None, str]:
    """Return the origin of a collective, its sharding pair, and why it has none.

    Where each member has as many bytes as the collective, `data_bytes`, it sends their sum, or
    what else the opcode `reducing` makes of them. `is_combined` says whether it had each of them
    as an operand.
    """
    first = max(members, key=lambda member: member.data_bytes or 0)
    if len(members) < 2:
        return first.origin, first.sharding, first.sharding_reason
    causes = Counter(member.origin.cause for member in members)
    if len(causes) == 1 and len({member.origin.detail for member in members}) == 1:
        return first.origin, first.sharding, first.sharding_reason
    counted = ", ".join(
        f"{count:,}\u00d7 {cause.value if cause else 'not known'}"
        for cause, count in causes.most_common()
    )
    largest = first.origin.detail
    is_joined = all(member.data_bytes == data_bytes for member in members)
    result = JOINED.get(reducing, "") if is_joined else ""
    verb = "Combines" if is_combined and not is_joined else "Does the work of"
    verb = f"Sends the {result} of" if result else verb
    detail = f"{verb} {len(members):,} ({counted}). Of the largest member: {largest}"
    grade = weakest(member.origin.grade for member in members if member.origin.grade)
    is_graded = first.origin.grade is not None
    origin = replace(first.origin, detail=detail, grade=grade if is_graded else None)
    return origin, first.sharding, first.sharding_reason


class Origins:
    """Explains the collectives of one module."""

    def __init__(
        self,
        module: ParsedModule,
        trails: CollectiveTrails | None,
        snapshots: SnapshotSequence | None,
        passes: Passes,
        devices: int,
    ) -> None:
        """Keep the inputs of the analysis; `trails` is None for a single snapshot."""
        self._module = module
        self._trails = trails
        self._snapshots = snapshots
        self._passes = passes
        self._devices = devices
        self._steps: dict[int, PartitioningStep | None] = {}

    def members(self, collective: Collective, trail: Trail | None) -> tuple[CollectiveMember, ...]:
        """Return the collectives that were merged into one: first snapshot and cause of each."""
        if trail is None:
            return tuple(self._lone(collective))[:_MOST_MEMBERS]
        members = (
            self._of_ancestor(ancestor, trail)
            for ancestor in trail.beginnings
            if not ancestor.is_inner
        )
        return tuple(islice(chain.from_iterable(members), _MOST_MEMBERS))

    def has_had_operands(self, count: int, collective: Collective, trail: Trail | None) -> bool:
        """Return whether a collective had so many operands once; later they may be concatenated."""
        final = self._module.final
        places = [(final.hlo, collective)] if final is not None else []
        places += (
            [(self._modules[link.number], link.after) for link in trail.links] if trail else []
        )
        bodies = (module.find(*place.body) for module, place in places)
        return any(body is not None and len(body.operands) == count for body in bodies)

    def _lone(self, collective: Collective) -> Iterator[CollectiveMember]:
        """Yield the members of a collective of the only snapshot."""
        final = self._module.final
        module = final.hlo if final else HloModule("", "", ())
        if final is not None and final.stage.name in _PROGRAM_NAMES:
            origin = self._by_user(module, collective, Grade.EXACT)
            yield _member_of(module, collective, origin, _NoPair(_BY_USER))
            return
        for body in _bodies(module, collective):
            yield _member_of(
                module, collective, _unknown(None, _NO_PROGRAM), _NoPair(_NO_PROGRAM), body
            )

    def _of_ancestor(self, ancestor: Ancestor, trail: Trail) -> Iterator[CollectiveMember]:
        """Yield the members of a collective of an earlier snapshot: those of the program whole."""
        number, collective = ancestor.number, ancestor.collective
        module, folded = self._modules[number], _folded_into(ancestor, trail)
        if number == 0 and self._passes.name(0) in _PROGRAM_NAMES:
            origin = self._by_user(module, collective, trail.grade)
            member = _member_of(module, collective, origin, _NoPair(_BY_USER))
            yield replace(member, folded=folded)
            return
        for body in _bodies(module, collective):
            origin, pair = self._explained(number, collective, body, trail)
            yield replace(_member_of(module, collective, origin, pair, body), folded=folded)

    def _explained(
        self, number: int, collective: Collective, body: Instruction, trail: Trail
    ) -> tuple[CollectiveOrigin, "ShardingPair | _NoPair"]:
        """Return the origin of a member, and its shardings or why there are none."""
        if number == 0:
            return _unknown(self._passes.label(0), None), _NoPair(_NO_PROGRAM)
        step = self._step(number)
        if step is None:
            return self._by_pass(number, trail), _NoPair(_MADE_LATER)
        cause = explain_cause(step, collective, self._devices, body)
        origin = self._by_partitioner(number, cause, trail)
        return origin, cause.sharding or _NoPair(cause.sharding_reason)

    @property
    def _modules(self) -> Sequence[HloModule]:
        return self._trails.modules if self._trails else ()

    def _step(self, number: int) -> PartitioningStep | None:
        """Return the step that led to a snapshot if it partitioned the program; else None."""
        if number not in self._steps:
            matching = self._snapshots.into(number) if self._snapshots else None
            step = partitioning_into(self._modules, number) if matching else None
            self._steps[number] = PartitioningStep(step, matching) if step and matching else None
        return self._steps[number]

    def _by_user(self, module: HloModule, collective: Collective, grade: Grade) -> CollectiveOrigin:
        """Return the origin of a collective of the program: its author, or JAX differentiating."""
        home = module.by_name[collective.body[0]]
        op_name = whole_op_name(module, home, home.by_name[collective.body[1]])
        path = split_path(op_name)
        is_derived = phase_of(op_name) is Phase.BACKWARD and "shard_map" in path
        where = place_of(home.by_name[collective.body[1]], module)
        name, line = path[-1] if path else "", where.short if where else ""
        detail = _derived(name, line) if is_derived else _requested_words(name, line)
        first = _Appearance(self._passes.label(0), None, _IN_PROGRAM)
        return _known_origin(first, CauseKind.USER, detail, grade)

    def _by_pass(self, number: int, trail: Trail) -> CollectiveOrigin:
        first = self._appearance(number)
        if first.after and makes_none(first.after):
            return _unknown(first.stage, None, _NOT_FOLLOWED.format(first.after))
        detail = f"Made by `{first.after}`." if first.after else "Made after partitioning."
        grade = Grade.GUESSED if trail.grade is Grade.GUESSED else Grade.MATCHED
        return _known_origin(first, CauseKind.COMPILER, detail, grade)

    def _appearance(self, number: int) -> "_Appearance":
        label, by = self._passes.label(number), self._passes.ran_before(number)
        between = _BETWEEN.format(before=self._passes.label(number - 1), after=label)
        return _Appearance(label, by, None if by else between)

    def _by_partitioner(
        self, number: int, cause: CollectiveCause, trail: Trail
    ) -> CollectiveOrigin:
        grade = self._grade(number, cause, trail)
        first = self._appearance(number)
        origin = _known_origin(first, cause.kind, cause.detail, grade, cause.operands)
        return replace(origin, merging_reshape=cause.merging_reshape)

    def _grade(self, number: int, cause: CollectiveCause, trail: Trail) -> Grade:
        """Return how sure an origin is.

        It is exact where the snapshot right before partitioning has no collective, and shardings.
        """
        if trail.grade is Grade.GUESSED or cause.grade is Grade.GUESSED:
            return Grade.GUESSED
        absent = self._trails is not None and not self._trails.at(number - 1)
        step = self._step(number)
        shown = absent and step is not None and step.is_propagated
        return Grade.EXACT if shown and cause.grade is Grade.EXACT else Grade.MATCHED


def _derived(name: str, where: str) -> str:
    """Return why JAX made a collective of the backward pass: it has the source line of the cause.

    The transpose of a sum is none; a sum there is of a value that devices share.
    """
    if name.startswith("psum"):
        return f"{_OF_AUTODIFF}{_SUMMED}"
    return _OF_AUTODIFF + _TRANSPOSED.format(where=f" at {where}" if where else "")


def _requested_words(op: str, place: str) -> str:
    """Return that the program has a collective: the framework's op and its line, where known."""
    named = f": `{op}`" if fits_code(op) else ""
    at = f" at {place}" if place else ""
    return f"{_OF_PROGRAM}{named}{at}."


class _NoPair(Struct, frozen=True):
    """Why the shardings before and after a collective are not known."""

    reason: str


def _folded_into(ancestor: Ancestor, trail: Trail) -> tuple[str, ...]:
    """Return the collectives that were folded into one, whose results it read before."""
    return tuple(
        other.collective.instruction
        for other in trail.beginnings
        if other.is_inner and ancestor.fold is not None and other.fold == ancestor.fold
    )


def _bodies(module: HloModule, collective: Collective) -> tuple[Instruction, ...]:
    """Return the collective of each operand of a collective; itself if it has one."""
    home = module.by_name[collective.body[0]]
    return split_operands(module, home, home.by_name[collective.body[1]])


def _member_of(
    module: HloModule,
    collective: Collective,
    origin: CollectiveOrigin,
    pair: ShardingPair | _NoPair,
    member: Instruction | None = None,
) -> CollectiveMember:
    """Return a collective, or the member of one operand, which has the name of that operand."""
    home = module.by_name[collective.body[0]]
    whole = home.by_name[collective.body[1]]
    body = member or whole
    where = place_of(body, module)
    is_part = len(body.operands) < len(whole.operands)
    return CollectiveMember(
        instruction=body.operand_names[0] if is_part else collective.instruction,
        stage=origin.stage,
        kind=collective.kind,
        shape=body.shape.text,
        data_bytes=count_bytes_of(home, body),
        op_name=whole_op_name(module, home, body) or op_name_of(body, module),
        source=where.short if where else "",
        origin=origin,
        sharding=None if isinstance(pair, _NoPair) else pair,
        sharding_reason=pair.reason if isinstance(pair, _NoPair) else "",
    )


def makes_none(name: str) -> bool:
    """Return whether a pass only begins, combines or orders collectives that were there before."""
    return any(part in name for part in _REARRANGING)


class _Appearance(Struct, frozen=True):
    """The first snapshot that has a collective, and the pass that led to it."""

    stage: str
    after: str | None
    after_reason: str | None


def _known_origin(
    first: _Appearance,
    cause: CauseKind,
    detail: str,
    grade: Grade,
    operands: tuple[ShardedValue, ...] = (),
) -> CollectiveOrigin:
    return CollectiveOrigin(
        stage=first.stage,
        stage_reason=None,
        after=first.after,
        after_reason=first.after_reason,
        cause=cause,
        cause_reason=None,
        detail=detail,
        operands=operands,
        grade=grade.value,
        grade_reason=None,
    )


def _unknown(
    stage: str | None, stage_reason: str | None, reason: str = _NO_PROGRAM
) -> CollectiveOrigin:
    """Return the origin of a collective that was not followed to its beginning."""
    return CollectiveOrigin(
        stage=stage,
        stage_reason=stage_reason,
        after=None,
        after_reason=reason,
        cause=None,
        cause_reason=reason,
        detail="",
        operands=(),
        grade=None,
        grade_reason=reason,
    )


def split_operands(
    module: HloModule, computation: Computation, body: Instruction
) -> tuple[Instruction, ...]:
    """Return the collective of each operand, with shape and op_name of its own; itself if of one.

    All have the name of the combined one: they are read where that is.

    Combiner passes make them; where no earlier snapshot has the single collectives, the operands
    show them.
    """
    shapes = _result_shapes(body)
    if not is_combined(body) or len(shapes) != len(body.operands):
        return (body,)
    names = member_op_names(module, computation, body)
    return tuple(
        replace(
            body,
            operands=(operand,),
            shape=shape,
            is_root=False,
            attribute_list=AttributeList(
                body.attributes_text, _metadata(module, computation, body, number, name)
            ),
        )
        for number, (operand, shape, name) in enumerate(
            zip(body.operands, shapes, names, strict=True)
        )
    )


def _result_shapes(body: Instruction) -> tuple[Shape, ...]:
    """Return the shapes of the results; a start may have those of the operands before them."""
    elements, count = body.shape.elements, len(body.operands)
    if len(elements) != count and len(elements) > 1 and elements[1].elements:
        elements = elements[1].elements
    return elements if len(elements) == count else ()


def _metadata(
    module: HloModule, computation: Computation, body: Instruction, number: int, op_name: str
) -> Metadata:
    """Return the metadata that has the op_name of a member, with its source; else that alone."""
    for line in _carriers(module, computation, body, number):
        if line.metadata.op_name == op_name:
            return line.metadata
    return Metadata(op_name=op_name)


def _carriers(
    module: HloModule, computation: Computation, body: Instruction, number: int
) -> Iterator[Instruction]:
    """Yield the element that reads a member's result, and what computes its operand."""
    for user in computation.users.get(body.name, ()):
        if user.taken_element == number:
            yield user
    operand = computation.operand(body, number)
    if operand is not None:
        yield operand
        root = fused_root(operand, module)
        yield from () if root is None else (root,)
    yield body
