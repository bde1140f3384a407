"""Which sharding made a collective: what its operand had, and what the op behind it wanted.

Shardings are gone after partitioning, but for those of parameters. So each collective is led back
to the parameter whose pieces it moves, and, by the framework op it was made for, to the instruction
that had a sharding in the last snapshot before partitioning. One that combines several has an op of
one of them only: there each operand is led back by the op of what made it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xlareport.analysis.cost.wire import KINDS
from xlareport.hlo.model import Computation, HloModule, Instruction

_PASSING = frozenset(
    {"bitcast", "convert", "copy", "reshape", "transpose", "copy-start", "copy-done"}
)
_FARTHEST = 50
_LONGEST = 200
"""Characters of a sharding that are kept."""


@dataclass(frozen=True, slots=True)
class Sharded:
    """Something with the sharding that it has."""

    instruction: str
    sharding: str
    """As the snapshot writes it."""


@dataclass(frozen=True, slots=True)
class Resharding:
    """What is known of the shardings behind one collective, or behind one operand of it."""

    operand: str
    """Which one, where the collective combines several; else empty."""
    parameter: Sharded | None
    """The argument whose pieces it moves, as far as operands lead there without a choice."""
    wanted_by: Sharded | None
    """The instruction before partitioning that the same framework op became."""
    operands: tuple[Sharded, ...]
    """Its operands, before partitioning, that have a sharding."""
    grade: str
    """`exact` by operands alone; `matched` by a framework op, `guessed` where it became several
    instructions with different shardings: the first of them is given."""


def explain_reshardings(
    final: HloModule, earlier: Sequence[HloModule]
) -> Mapping[tuple[str, str], tuple[Resharding, ...]]:
    """Return what is known for each collective by (computation, instruction)."""
    collectives = [
        (place, instruction)
        for place in final.computations
        for instruction in place.instructions
        if instruction.opcode.removesuffix("-start") in KINDS
    ]
    if not collectives:
        return {}
    made_for = _by_op(_before_partitioning(earlier))
    result = (
        (place, instruction, tuple(_of(place, instruction, made_for)))
        for place, instruction in collectives
    )
    return {(place.name, instruction.name): known for place, instruction, known in result if known}


def _of(
    place: Computation, instruction: Instruction, made_for: Mapping[str, Sequence["_Placed"]]
) -> Iterator[Resharding]:
    """Yield what is known of a collective; of one that combines several, for each operand."""
    if len(instruction.operand_names) < 2:
        reshardings = [
            _resharding(
                "", _argument(place, instruction), made_for.get(instruction.metadata.op_name, ())
            )
        ]
    else:
        reshardings = [_of_operand(place, name, made_for) for name in instruction.operand_names]
    yield from (known for known in reshardings if known is not None)


def _of_operand(
    place: Computation, name: str, made_for: Mapping[str, Sequence["_Placed"]]
) -> Resharding | None:
    maker = place.by_name.get(name)
    if maker is None:
        return None
    return _resharding(name, _argument(place, maker), made_for.get(maker.metadata.op_name, ()))


def _resharding(
    operand: str, parameter: Sharded | None, collectives: Sequence["_Placed"]
) -> Resharding | None:
    if parameter is None and not collectives:
        return None
    first = collectives[0] if collectives else None
    alike = len({_shardings(each) for each in collectives}) < 2
    grade = "exact" if first is None else "matched" if alike else "guessed"
    return Resharding(
        operand=operand,
        parameter=parameter,
        wanted_by=_sharded(first.instruction) if first else None,
        operands=tuple(_operands(first)) if first else (),
        grade=grade,
    )


@dataclass(frozen=True, slots=True)
class _Placed:
    place: Computation
    instruction: Instruction


def _shardings(collective: _Placed) -> tuple[str, ...]:
    sharded = (_sharded(collective.instruction), *_operands(collective))
    return tuple(sharded.sharding for sharded in sharded if sharded is not None)


def _operands(collective: _Placed) -> Iterable[Sharded]:
    for name in collective.instruction.operand_names:
        operand = collective.place.by_name.get(name)
        sharded = _sharded(operand) if operand is not None else None
        if sharded is not None:
            yield sharded


def _argument(place: Computation, instruction: Instruction) -> Sharded | None:
    """Follow an instruction's only operand back to an argument that says how it is sharded."""
    for _ in range(_FARTHEST):
        if instruction.opcode == "parameter":
            return _sharded(instruction)
        names = instruction.operand_names
        passes = (
            instruction.opcode in _PASSING or instruction.opcode.removesuffix("-start") in KINDS
        )
        before = place.by_name.get(names[0]) if len(names) == 1 else None
        if before is None or not (passes or instruction.opcode == "fusion"):
            return None
        instruction = before
    return None


def _sharded(instruction: Instruction) -> Sharded | None:
    written = instruction.attributes.get("sharding", "")
    return Sharded(instruction.name, written[:_LONGEST]) if written else None


def _before_partitioning(earlier: Sequence[HloModule]) -> HloModule | None:
    """Return the snapshot in which most instructions have a sharding, the last of equals."""
    every = {place for module in earlier for place in module.computations}
    sharded = {place: _sharded_count(place) for place in every}
    counted = [
        (sum(sharded[place] for place in module.computations), number)
        for number, module in enumerate(earlier)
    ]
    most, number = max(counted, default=(0, 0))
    return earlier[number] if most else None


def _sharded_count(place: Computation) -> int:
    return sum("sharding=" in instruction.attributes_text for instruction in place.instructions)


def _by_op(module: HloModule | None) -> Mapping[str, Sequence[_Placed]]:
    collectives: dict[str, list[_Placed]] = {}
    for place in module.computations if module is not None else ():
        for instruction in place.instructions:
            collective = _Placed(place, instruction)
            if (
                instruction.metadata.op_name
                and instruction.opcode != "parameter"
                and _shardings(collective)
            ):
                collectives.setdefault(instruction.metadata.op_name, []).append(collective)
    return collectives
