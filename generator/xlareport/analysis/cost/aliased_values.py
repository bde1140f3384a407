"""Values of the dump that share one buffer, because loops and conditionals pass them on.

A buffer holds several values where XLA's alias analysis says so: the initial value of a loop's
state, what each iteration reads and returns, and the loop's result. `HloAliasAnalysis` in
openxla/xla, xla/hlo/analysis/hlo_alias_analysis.cc.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from xlareport.analysis.cost.lifetimes import Lifetime
from xlareport.analysis.cost.occupancy import HELD, BufferKey
from xlareport.hlo.model import HloModule, Instruction
from xlareport.readers.buffer_assignment import BufferAssignment
from xlareport.readers.buffer_values import UsedValue
from xlareport.runtime.grouping import group_by_key

_BRANCHES = frozenset({"branch_computations", "true_computation", "false_computation"})
_PASSING = frozenset({"conditional", "parameter", "while"})
_LOOP = frozenset({"body", "condition"})


def group_aliased_values(
    module: HloModule, values: Sequence[UsedValue]
) -> tuple[tuple[BufferKey, ...], ...]:
    """Return the values of each buffer that holds several."""
    at = {position: value for value in values for position in value.positions}
    places = group_by_key(at)
    groups: dict[int, list[UsedValue]] = {value.id: [value] for value in values}
    for names in _passed_on(module):
        indexes = {index for name in names for index in places.get(name, ())}
        for index in indexes:
            _unite(groups, [at[name, index] for name in names if (name, index) in at])
    shared = {id(group): group for group in groups.values() if len(group) > 1}
    return tuple(
        tuple((value.instruction, value.index) for value in group) for group in shared.values()
    )


def group_places(assignment: BufferAssignment | None) -> Iterator[tuple[BufferKey, ...]]:
    """Yield groups of values that occupy the same bytes of temporary memory.

    One that begins where another ends is written over it in place: others never share a position.
    """
    for allocation in assignment.allocations if assignment else ():
        places = group_by_key(
            ((value.offset, value.size), (value.instruction, value.index))
            for value in (allocation.values if allocation.kind not in HELD else ())
        )
        yield from (tuple(keys) for keys in places.values() if len(keys) > 1)


def find_writer(
    keys: Iterable[BufferKey],
    instructions: Mapping[str, Instruction],
    lives: Mapping[BufferKey, Lifetime],
) -> str:
    """Return the instruction that makes the last of the values of a buffer; empty if none does.

    Parameters, loops and conditionals only pass values on.
    """
    written = [
        key
        for key in keys
        if key in lives
        and (instruction := instructions.get(key[0])) is not None
        and instruction.opcode not in _PASSING
    ]
    return max(written, key=lambda key: lives[key].start, default=("", ()))[0]


def _unite(groups: dict[int, list[UsedValue]], values: Sequence[UsedValue]) -> None:
    """Merge the groups of the values into the largest of them."""
    largest = max((groups[value.id] for value in values), key=len)
    for value in values:
        group = groups[value.id]
        if group is largest:
            continue
        largest += group
        for member in group:
            groups[member.id] = largest


def _passed_on(module: HloModule) -> Iterator[tuple[str, ...]]:
    """Yield the names of instructions whose values with the same index share one buffer."""
    for instruction in module.instructions:
        if instruction.opcode == "while":
            yield tuple(_names_of_loop(module, instruction))
        elif instruction.opcode == "conditional":
            yield (instruction.name, *_roots(module, instruction, _BRANCHES))


def _names_of_loop(module: HloModule, loop: Instruction) -> Iterator[str]:
    yield loop.name
    yield from loop.operand_names[:1]
    for kind, name in loop.called:
        called = module.by_name.get(name)
        if called is not None and kind in _LOOP:
            yield from (parameter.name for parameter in called.parameters[:1])
    yield from _roots(module, loop, frozenset({"body"}))


def _roots(module: HloModule, caller: Instruction, kinds: Iterable[str]) -> Iterator[str]:
    for kind, name in caller.called:
        called = module.by_name.get(name)
        if kind in kinds and called is not None and called.root is not None:
            yield called.root.name
