"""The instructions, time and bytes of each framework op in a module, summed over layers.

Instruction names of two compilations differ. The op_name, the scope and the source line stay the
same; an instruction without op_name is counted with its operand. Where that has none either, what
XLA's passes insert is counted by kind.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import isclose

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.fusion_shares import Shares
from xlareport.analysis.cost.wire import KINDS
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.source.scopes import (
    Phase,
    mask_numbers,
    numbered_opcode,
    phase_of,
    scope_of,
    split_path,
)
from xlareport.analysis.source.served_lines import ServedLines
from xlareport.analysis.source.served_ops import main_op, serve_ops, share_out
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import DENSE_PRODUCTS, NO_CODE
from xlareport.hlo.shape import without_layout
from xlareport.runtime.grouping import group_by_key
from xlareport.runtime.whole_numbers import parse_whole_number

COPY_OF = "copy of "
"""Prefix of the operation name of a copied argument."""
MADE_BY_XLA = "made by XLA: "
"""Prefix of the operation names of instructions that passes insert, and that have no op_name."""
_MADE = {
    "copy": "copies",
    **dict.fromkeys(sorted(KINDS), "collectives"),
    "convert": "converts",
    **dict.fromkeys(("reshape", "transpose", "bitcast"), "transposes and reshapes"),
    **dict.fromkeys(("slice", "dynamic-slice", "dynamic-update-slice"), "slices and slice updates"),
    **dict.fromkeys(("concatenate", "pad"), "concatenates and pads"),
    **dict.fromkeys(("broadcast", "constant", "iota"), "broadcasts of constants"),
    **dict.fromkeys(("partition-id", "replica-id"), "partition ids"),
}
"""By opcode: kinds of instructions that passes insert. Frameworks give an op_name to theirs."""
_PRODUCT = "dot_general"
_WRAPPERS = frozenset({"async-start", "async-update", "async-done", "fusion"})
_MOST_OPERATIONS = 4_000
"""Operations of a module that are kept, the slowest first."""
_MOST_UNNAMED = 1_000
"""Instructions without op_name that are kept, the slowest first."""


class OperationKey(Struct, frozen=True):
    """The key of an operation that is the same in two compilations of one program."""

    phase: Phase
    scope: str
    """Named scopes with numbers replaced, so that layers are equal: `layer_*/mlp`."""
    op: str
    """The framework's op, `dot_general`, or what XLA made; empty if unknown."""
    line: str
    """`model.py:12`; empty if unknown."""


class Operation(Struct, frozen=True):
    """All instructions of one key in one run of a module."""

    key: OperationKey
    seconds: float
    """Roofline seconds; instructions in fusions get a share of the fusion's."""
    bytes: int
    """Bytes accessed; instructions in fusions get an estimated share."""
    flops: int
    kernels: int
    """Instructions outside of fusions."""
    opcodes: tuple[tuple[str, int], ...]
    """Inside of fusions too."""
    types: tuple[tuple[str, str], ...]
    """The opcodes with the element types of their results."""


class UnnamedWork(Struct, frozen=True):
    """An instruction without op_name, and the operations with which it is counted."""

    opcode: str
    shape: str
    """Of its result, without layouts."""
    parts: tuple[tuple[OperationKey, float, int], ...]
    """Operations with their share of its roofline seconds and of its bytes."""
    main: OperationKey
    """The operation that has it as an instruction."""
    is_kernel: bool
    """Whether it is outside of fusions."""

    @property
    def seconds(self) -> float:
        """Its roofline seconds in one run."""
        return sum(seconds for _, seconds, _ in self.parts)


class ListedOperations(Struct, frozen=True):
    """The operations of a module, the slowest first."""

    operations: tuple[Operation, ...]
    unnamed: tuple[UnnamedWork, ...]
    """Instructions without op_name that take time, the slowest first."""


@lru_cache(maxsize=65536)
def key_of(op_name: str, line: str) -> OperationKey:
    """Return the key of an op_name and a line; names with a number that XLA gave are none."""
    first = op_name.partition(";")[0]
    if numbered_opcode(first):
        first = ""
    op = split_path(first)[-1] if first else ""
    # A pass that copies an instruction appends its name, as in `jit(f)/shard_map/broadcast.37`.
    op = numbered_opcode(op) or op
    return OperationKey(phase_of(first), mask_numbers(scope_of(first)), op, line)


class _Sum:
    """The summed instructions of one key."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.bytes = self.flops = self.kernels = 0
        self.opcodes, self.types = Counter[str](), set[tuple[str, str]]()

    def add(self, other: "_Sum") -> None:
        """Add the instructions of another key."""
        self.seconds += other.seconds
        self.bytes += other.bytes
        self.flops += other.flops
        self.kernels += other.kernels
        self.opcodes += other.opcodes
        self.types |= other.types


def list_operations(module: HloModule, cost: ModuleCost, shares: Shares) -> ListedOperations:
    """Return the operations of a module, with what is counted with them without an op_name."""
    sums: dict[OperationKey, _Sum] = {}
    lines = ServedLines(module)
    served = serve_ops(module)
    keys = _Keys(module, is_named=any(served.values()))
    unnamed: list[UnnamedWork] = []
    for computation, instruction, count in cost.placed(module):
        key = computation.name, instruction.name
        if instruction.opcode in NO_CODE:
            continue
        ops = served.get(key) or ((_copied_argument(computation, instruction), 1.0),)
        sizes = share_out(shares.bytes.get(key, 0), ops)
        line_of = {op_name: lines.of(computation, instruction, op_name, ops) for op_name, _ in ops}
        parts = []
        for (op_name, share), size in zip(ops, sizes, strict=True):
            key_of_op = keys.of(instruction, op_name, line_of[op_name])
            added = sums.setdefault(key_of_op, _Sum())
            parts.append((key_of_op, share * shares.seconds.get(key, 0.0), size))
            added.seconds += parts[-1][1]
            added.bytes += size
        main = keys.of(instruction, main_op(ops), line_of.get(main_op(ops), ""))
        if not key_of(instruction.metadata.op_name, "").op and shares.seconds.get(key):
            shape = without_layout(instruction.shape.text)
            work = instruction.opcode, shape, tuple(parts), main, not count.fused
            unnamed.append(UnnamedWork(*work))
        added = sums[main]
        added.kernels += not count.fused
        if instruction.opcode != "fusion":
            added.flops += count.of_all_runs(count.flops) or 0
            added.opcodes[instruction.opcode] += 1
            added.types.add((instruction.opcode, instruction.shape.element_type))
    homes = _homes(sums)
    operations = [_operation(key, added) for key, added in _with_lines(sums, homes).items()]
    operations.sort(key=lambda operation: (-operation.seconds, -operation.bytes))
    unnamed.sort(key=lambda work: -work.seconds)
    return ListedOperations(
        operations=tuple(operations[:_MOST_OPERATIONS]),
        unnamed=tuple(_at_home(work, homes) for work in unnamed[:_MOST_UNNAMED]),
    )


def _at_home(work: UnnamedWork, homes: Mapping[OperationKey, OperationKey]) -> UnnamedWork:
    parts = tuple((homes[key], seconds, size) for key, seconds, size in work.parts)
    return replace(work, parts=parts, main=homes[work.main])


class _Keys(Struct, frozen=True):
    """The keys of the instructions of a module."""

    module: HloModule
    is_named: bool
    """Whether any instruction has an op_name: else its absence says nothing."""

    def of(self, instruction: Instruction, op_name: str, line: str) -> OperationKey:
        """Return the key of an instruction under one of its op_names."""
        key = key_of(op_name, line)
        if key.op == "transpose" and instruction.opcode in DENSE_PRODUCTS:
            return replace(key, op=_PRODUCT)  # XLA folded the transpose into the product
        if key.op or key.line or not self.is_named:
            return key
        kind = _MADE.get(self._opcode(instruction), "")
        return OperationKey(key.phase, key.scope, f"{MADE_BY_XLA}{kind}", "") if kind else key

    def _opcode(self, instruction: Instruction) -> str:
        """Return the opcode, that of the root for a fusion and for what runs asynchronously."""
        for _, name in instruction.called if instruction.opcode in _WRAPPERS else ():
            inside = self.module.by_name.get(name)
            return inside.root.opcode if inside and inside.root else ""
        return instruction.opcode.removesuffix("-start").removesuffix("-done")


def _copied_argument(computation: Computation, instruction: Instruction) -> str:
    """Return the name of a copy of an argument, which has no op_name of its own; else nothing."""
    operand = next(iter(instruction.operand_names), "")
    source = computation.by_name.get(operand)
    if not computation.is_entry or instruction.opcode != "copy" or source is None:
        return ""
    label = source.metadata.op_name
    is_plain = source.opcode == "parameter" and label and not {"/", ";"} & {*label}
    return f"{COPY_OF}{label}" if is_plain else ""


def _homes(sums: Mapping[OperationKey, _Sum]) -> Mapping[OperationKey, OperationKey]:
    """Return where each key is counted: without a line, with the costliest line of the same op."""
    lines: dict[tuple[str, ...], OperationKey] = {}
    for key, added in sums.items():
        line_key = lines.get(_without_line(key))
        if key.line and (line_key is None or added.seconds > sums[line_key].seconds):
            lines[_without_line(key)] = key
    return {key: key if key.line else lines.get(_without_line(key), key) for key in sums}


def _with_lines(
    sums: Mapping[OperationKey, _Sum], homes: Mapping[OperationKey, OperationKey]
) -> dict[OperationKey, _Sum]:
    """Return the sums, each added to the one where it is counted."""
    with_lines = {key: added for key, added in sums.items() if homes[key] == key}
    for key, added in sums.items():
        if homes[key] != key:
            with_lines[homes[key]].add(added)
    return with_lines


def _operation(key: OperationKey, added: _Sum) -> Operation:
    return Operation(
        key=key,
        seconds=added.seconds,
        bytes=added.bytes,
        flops=added.flops,
        kernels=added.kernels,
        opcodes=tuple(sorted(added.opcodes.items())),
        types=tuple(sorted(added.types)),
    )


def add_up(operations: Sequence[Operation]) -> Operation:
    """Return the sum of operations, at least one, under the key of the first."""
    opcodes = Counter[str]()
    for operation in operations:
        opcodes.update(dict(operation.opcodes))
    return replace(
        operations[0],
        seconds=sum(operation.seconds for operation in operations),
        bytes=sum(operation.bytes for operation in operations),
        flops=sum(operation.flops for operation in operations),
        kernels=sum(operation.kernels for operation in operations),
        opcodes=tuple(sorted(opcodes.items())),
        types=tuple(sorted({kind for operation in operations for kind in operation.types})),
    )


def count_kernels(module: HloModule, cost: ModuleCost) -> int:
    """Count the instructions outside of fusions that run, each once."""
    return sum(
        not cost.instructions[key].fused for key in _running(module) if key in cost.instructions
    )


def _running(module: HloModule) -> Iterator[tuple[str, str]]:
    for computation, instruction in module.placed:
        if instruction.opcode not in NO_CODE:
            yield computation.name, instruction.name


class OperationChange(Struct, frozen=True):
    """One operation in base and head; None on the side that does not have it."""

    key: OperationKey
    base: Operation | None
    head: Operation | None
    merged: tuple[OperationKey, ...] = ()
    """Operations that are counted here: their matmuls and its own are one in one of the modules."""

    @property
    def in_both(self) -> bool:
        """Whether both sides have the operation."""
        return self.base is not None and self.head is not None

    @property
    def seconds(self) -> float:
        """By how much the estimate grew; 0 where the sums differ in their rounding alone."""
        base = self.base.seconds if self.base else 0.0
        head = self.head.seconds if self.head else 0.0
        return 0.0 if isclose(base, head) else head - base

    @property
    def bytes(self) -> int:
        """By how much the bytes accessed grew."""
        return (self.head.bytes if self.head else 0) - (self.base.bytes if self.base else 0)


def align_operations(
    base: Sequence[Operation], head: Sequence[Operation]
) -> tuple[OperationChange, ...]:
    """Pair the operations of two modules, those whose estimate changed most first.

    By the whole key, then without the line, which moves when a file is edited, then by phase and
    op alone: its scope was renamed.
    """
    ours, theirs = (
        {operation.key: operation for operation in base},
        {operation.key: operation for operation in head},
    )
    pairs = {key: key for key in ours if key in theirs}
    for mark in (_without_line, _without_scope):
        _pair_rest(ours, theirs, pairs, mark)
    taken = set(pairs.values())
    changes = [
        OperationChange(
            pairs.get(key, key), operation, theirs.get(pairs[key]) if key in pairs else None
        )
        for key, operation in ours.items()
    ]
    changes += [OperationChange(key, None, theirs[key]) for key in theirs if key not in taken]
    return tuple(sorted(changes, key=lambda change: (-abs(change.seconds), -abs(change.bytes))))


def _without_line(key: OperationKey) -> tuple[str, ...]:
    return key.phase, key.scope, key.op


def _without_scope(key: OperationKey) -> tuple[str, ...]:
    return key.phase, key.op


def _pair_rest(
    ours: Mapping[OperationKey, Operation],
    theirs: Mapping[OperationKey, Operation],
    pairs: dict[OperationKey, OperationKey],
    mark: Callable[[OperationKey], tuple[str, ...]],
) -> None:
    """Pair the remaining operations with the same mark, in the order of their lines.

    If one side has more of them, those with the same opcodes come first.
    """
    taken = set(pairs.values())
    waiting = group_by_key(
        (mark(key), key) for key in sorted(theirs, key=_in_file) if key not in taken
    )
    asking = group_by_key(
        (mark(key), key) for key in sorted(ours, key=_in_file) if key not in pairs
    )
    for name, olds in asking.items():
        news = waiting.get(name, [])
        for old in list(olds) if len(olds) != len(news) else ():
            alike = (new for new in news if theirs[new].opcodes == ours[old].opcodes)
            new = next(alike, None)
            if new is not None:
                pairs[old] = new
                olds.remove(old)
                news.remove(new)
        pairs.update(zip(olds, news, strict=False))


def _in_file(key: OperationKey) -> tuple[str, int]:
    file, _, line = key.line.rpartition(":")
    return file, parse_whole_number(line) or 0
