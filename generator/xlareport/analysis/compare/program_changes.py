"""Changes in the program given to the compiler: types, sizes, layers, donation, ops."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from xlareport.analysis.compare.changed_lines import find_changed_lines
from xlareport.analysis.compare.given_program import GivenArgument, Program
from xlareport.analysis.compare.loop_changes import find_trip_changes
from xlareport.analysis.compare.moved_operations import Move
from xlareport.analysis.source.scopes import Phase, find_numbers, mask_numbers
from xlareport.analysis.steps.heaviness import heaviness
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

_NAMES = 4
_CALL = "call"
"""Calls of functions: releases differ in their number; the work is inside."""
_OF_TYPES = frozenset({"convert_element_type", "reduce_precision"})
"""Ops that come and go with types."""
_OF_SHARDING = frozenset({"sharding_constraint", "psum", "all_gather", "pvary"})
_OF_RECOMPUTING = frozenset(
    {"barrier", "checkpoint", "optimization_barrier", "reduce_precision", "remat", "remat2"}
)
"""Ops that jax.checkpoint puts around what it recomputes and what it keeps."""


class ChangeKind(StrEnum):
    """The kind of difference between two programs."""

    TYPE = "dtype"
    SIZE = "size"
    LAYERS = "layers"
    LOOPS = "trip count"
    RECOMPUTATION = "rematerialization"
    DONATION = "donation"
    SHARDING = "sharding"
    OPERATIONS = "operations"
    HEADER = "header"
    """Attributes of the header alone."""
    OTHER = "program"
    """Constants, attributes, or the places of the same operations."""


_SAME_OPERATIONS = frozenset({ChangeKind.LOOPS, ChangeKind.DONATION})
"""Changes that leave the number of each op as it is."""


class ProgramChange(Struct, frozen=True):
    """One difference between two programs."""

    kind: ChangeKind
    base: str
    """The value in the base: a type, size or number of layers; empty if not applicable."""
    head: str
    count: int = 0
    """Arguments or instructions that it concerns."""
    names: tuple[str, ...] = ()
    """Names of the first few."""
    lines: tuple[str, ...] = ()
    """Source lines of the first few, if known; of ops that changed, in the head."""
    line_count: int = 0
    """How many lines there are in all."""
    base_lines: tuple[str, ...] = ()
    """Source lines of ops that the base has more of."""
    bytes: int = 0
    """Bytes of what changed, in the head; 0 if not applicable."""
    is_whole: bool = True
    """Whether most matmuls of the program have a new type too, not its arguments alone."""
    moves: tuple[Move, ...] = ()
    """Ops in other loops or calls, where nothing else changed."""


def find_program_changes(base: Program, head: Program) -> tuple[ProgramChange, ...]:
    """Return the changes, those that change most of a program first; empty where none is seen."""
    pairs = _pair_arguments(base.arguments, head.arguments)
    changes = [
        *_types(base, head, pairs),
        *_sizes(pairs),
        *_layers(base, head),
        *_sharding(base, head, pairs),
        *_recomputation(base, head),
        *_donation(pairs),
    ]
    # A loop over layers runs as often as the arguments that it slices have rows: told already.
    explained = {(change.base, change.head) for change in changes}
    loops = _loops(base, head)
    changes += [change for change in loops if (change.base, change.head) not in explained]
    changes += _operations(base, head, {change.kind for change in changes})
    return tuple(changes)


def _pair_arguments(
    base: Sequence[GivenArgument], head: Sequence[GivenArgument]
) -> tuple[tuple[GivenArgument, GivenArgument], ...]:
    """Pair arguments by their labels; by their order where all labels changed but not the count."""
    ours, theirs = _by_label(base), _by_label(head)
    shared = [label for label in ours if label in theirs]
    if len(base) == len(head) and 2 * len(shared) < len(base):
        return tuple(zip(base, head, strict=True))
    return tuple((ours[label], theirs[label]) for label in shared)


def _by_label(arguments: Sequence[GivenArgument]) -> Mapping[str, GivenArgument]:
    counts = Counter[str]()
    labeled = {}
    for argument in arguments:
        counts[argument.label] += 1
        labeled[f"{argument.label} {counts[argument.label]}"] = argument
    return labeled


def _types(
    base: Program, head: Program, pairs: Sequence[tuple[GivenArgument, GivenArgument]]
) -> Iterator[ProgramChange]:
    changed = [(ours, other) for ours, other in pairs if ours.type != other.type]
    (common, count), *_ = Counter((a.type, b.type) for a, b in changed).most_common(1) or [
        (("", ""), 0)
    ]
    ours, theirs = base.main_type, head.main_type
    if count:
        names = tuple(b.label for a, b in changed if (a.type, b.type) == common)
        whole = (ours, theirs) == common
        yield ProgramChange(ChangeKind.TYPE, *common, count, names[:_NAMES], is_whole=whole)
    elif ours != theirs and ours and theirs:
        counts = dict(head.products or head.types)
        yield ProgramChange(ChangeKind.TYPE, ours, theirs, counts[theirs])


def _sizes(pairs: Sequence[tuple[GivenArgument, GivenArgument]]) -> Iterator[ProgramChange]:
    """Yield the dimension that changed in most arguments."""
    changes = group_by_key(
        (change, other)
        for ours, other in pairs
        if len(ours.dimensions) == len(other.dimensions)
        for change in dict.fromkeys(zip(ours.dimensions, other.dimensions, strict=True))
        if change[0] != change[1]
    )
    for (old, new), arguments in sorted(changes.items(), key=lambda item: -len(item[1]))[:1]:
        names = tuple(argument.label for argument in arguments)
        yield ProgramChange(ChangeKind.SIZE, str(old), str(new), len(names), names[:_NAMES])


def _layers(base: Program, head: Program) -> Iterator[ProgramChange]:
    """Yield groups of arguments that are repeated another number of times: `layers[*]['w']`."""
    ours, theirs = _repeated(base), _repeated(head)
    changed = {
        name: (len(ours[name]), len(theirs[name]))
        for name in ours
        if name in theirs and len(ours[name]) != len(theirs[name])
    }
    if changed:
        (old, new), _ = Counter(changed.values()).most_common(1)[0]
        names = tuple(name for name, counts in changed.items() if counts == (old, new))
        yield ProgramChange(ChangeKind.LAYERS, str(old), str(new), len(names), names[:_NAMES])


def _repeated(program: Program) -> Mapping[str, set[tuple[str, ...]]]:
    """Return which numbers are in labels that are the same but for these."""
    groups: dict[str, set[tuple[str, ...]]] = {}
    for argument in program.arguments:
        if numbers := find_numbers(argument.label):
            groups.setdefault(mask_numbers(argument.label), set()).add(numbers)
    return groups


def _sharding(
    base: Program, head: Program, pairs: Sequence[tuple[GivenArgument, GivenArgument]]
) -> Iterator[ProgramChange]:
    changed = [pair for pair in pairs if pair[0].sharding != pair[1].sharding]
    devices = base.partitions * base.replicas, head.partitions * head.replicas
    if devices[0] != devices[1]:
        old, new = (units.plural(number, "device") for number in devices)
    elif changed:
        old, new = (side.sharding or "none" for side in changed[0])
    else:
        return
    names = tuple(argument.label for _, argument in changed[:_NAMES])
    yield ProgramChange(ChangeKind.SHARDING, old, new, len(changed), names)


def _recomputation(base: Program, head: Program) -> Iterator[ProgramChange]:
    """Yield checkpointing that only one side has, or that covers other ops."""
    on_one_side = bool(base.recomputed) != bool(head.recomputed)
    if on_one_side or base.barriers != head.barriers or _recomputes_other_products(base, head):
        ours, theirs = map(_recomputed_lines, (base, head))
        lines = theirs - ours if head.recomputed >= base.recomputed else ours - theirs
        old, new = str(base.recomputed), str(head.recomputed)
        count = abs(head.recomputed - base.recomputed)
        if count:
            most = tuple(line for line, _ in lines.most_common(_NAMES))
            yield ProgramChange(
                ChangeKind.RECOMPUTATION, old, new, count, lines=most, line_count=len(lines)
            )


def _recomputed_lines(program: Program) -> Counter[str]:
    """Return how many instructions each source line recomputes."""
    lines = Counter[str]()
    for operation in program.operations:
        if operation.key.phase is Phase.RECOMPUTED and operation.key.line:
            lines[operation.key.line] += operation.count
    return lines


def _recomputes_other_products(base: Program, head: Program) -> bool:
    """Return whether both compute the same matrix products, and recompute another number."""
    (ours, ours_again), (theirs, theirs_again) = map(_count_products, (base, head))
    return ours == theirs and ours_again != theirs_again


def _count_products(program: Program) -> tuple[int, int]:
    """Return how many matrix products a program computes, and how many it computes again."""
    counts = Counter[bool]()
    for operation in program.operations:
        products = sum(number for opcode, number in operation.opcodes if opcode in MATRIX_PRODUCTS)
        counts[operation.key.phase is Phase.RECOMPUTED] += products
    return counts[False], counts[True]


def _loops(base: Program, head: Program) -> Iterator[ProgramChange]:
    """Yield trip counts that differ, with the loops as the head names them."""
    for change in find_trip_changes(base.loops, head.loops):
        names = tuple(theirs.name for _, theirs in change.loops)
        lines = dict.fromkeys(theirs.key.line for _, theirs in change.loops if theirs.key.line)
        yield ProgramChange(
            ChangeKind.LOOPS,
            str(change.base),
            str(change.head),
            len(names),
            names[:_NAMES],
            tuple(lines)[:_NAMES],
        )


def _donation(pairs: Sequence[tuple[GivenArgument, GivenArgument]]) -> Iterator[ProgramChange]:
    changed = [other for ours, other in pairs if ours.donated != other.donated]
    if changed:
        old, new = (sum(pair[side].donated for pair in pairs) for side in (0, 1))
        yield ProgramChange(
            ChangeKind.DONATION,
            str(old),
            str(new),
            len(changed),
            tuple(argument.label for argument in changed[:_NAMES]),
            bytes=sum(argument.bytes or 0 for argument in changed),
        )


def _operations(base: Program, head: Program, known: set[ChangeKind]) -> Iterator[ProgramChange]:
    """Yield ops that only one side has, without those that known changes explain."""
    explained = {
        *(_OF_TYPES if ChangeKind.TYPE in known else ()),
        *(_OF_SHARDING if ChangeKind.SHARDING in known else ()),
        *(_OF_RECOMPUTING if ChangeKind.RECOMPUTATION in known else ()),
    }
    ours, theirs = _count_operations(base, explained), _count_operations(head, explained)
    gone = sorted(op for op in ours if op not in theirs)
    new = sorted(op for op in theirs if op not in ours)
    if known <= _SAME_OPERATIONS:
        if not gone and not new:
            ours, theirs = _opcodes(base), _opcodes(head)
        gone += _heaviest_first(op for op in ours - theirs if op not in gone)
        new += _heaviest_first(op for op in theirs - ours if op not in new)
    if gone or new:
        count = sum(abs(theirs[op] - ours[op]) for op in {*gone, *new})
        old, other = (", ".join(ops[:_NAMES]) for ops in (gone, new))
        before, after = find_changed_lines(base.operations, head.operations, gone, new)
        yield ProgramChange(
            ChangeKind.OPERATIONS,
            old,
            other,
            count,
            lines=after[:_NAMES],
            base_lines=before[:_NAMES],
        )


def _heaviest_first(opcodes: Iterable[str]) -> list[str]:
    """Return opcodes with those first that cost most in a program, whatever their number."""
    return sorted(opcodes, key=lambda opcode: -heaviness(opcode))


def _opcodes(program: Program) -> Counter[str]:
    """Return the number of instructions of each opcode."""
    counts = Counter[str]()
    for operation in program.operations:
        counts.update(dict(operation.opcodes))
    del counts[_CALL]
    return counts


def _count_operations(program: Program, explained: set[str]) -> Counter[str]:
    """Return the number of instructions of each op; without op_names, of each opcode."""
    counts = Counter[str]()
    for operation in program.operations:
        if operation.key.op and all(name == _CALL for name, _ in operation.opcodes):
            continue
        if operation.key.op and operation.key.op not in explained:
            counts[operation.key.op] += operation.count
        elif not operation.key.op:
            opcodes = ((name, count) for name, count in operation.opcodes if name != _CALL)
            counts.update({f"{name} (opcode)": count for name, count in opcodes})
    return counts
