"""The collectives of a module in execution order, and the first difference of two orders."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest

from msgspec import Struct

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shardings.device_groups import Groups, parse_groups
from xlareport.knowledge.opcodes import begins_collective

_MOST_COLLECTIVES = 100_000
"""Limit on compared collectives."""
_MOST_NESTED = 200
_ALL: Groups = ((),)
"""The groups of a collective of all devices."""
_EXCHANGES = ("send", "recv")


class CollectiveStep(Struct, frozen=True):
    """A collective, as far as all devices of its groups must agree on it."""

    opcode: str
    shape: str
    """Types and dimensions, without layouts."""
    groups: Groups | str
    """The devices of each group; the text if its form is unknown."""
    written_groups: str
    computation: str
    name: str
    op_name: str

    @property
    def agreed(self) -> tuple[object, ...]:
        """The properties that must be equal on all devices of a group."""
        return self.opcode, self.shape, self.groups

    @property
    def words(self) -> str:
        """The name of the position in a sentence."""
        groups = f" over {self.written_groups}" if self.written_groups else ""
        return f"{self.opcode} {self.shape}{groups}"


class OrderDifference(Struct, frozen=True):
    """The first place at which two sequences differ; None on the side that has ended."""

    number: int
    """From 1."""
    base: CollectiveStep | None
    other: CollectiveStep | None
    only_values: bool = False
    """Kinds, shapes and groups agree; which of the like ones comes first does not."""


def collective_order(module: HloModule) -> tuple[CollectiveStep, ...]:
    """Return the collectives of a module, those of a loop's body once, in the order of the text."""
    if module.entry is None:
        return ()
    steps = _steps(module, module.entry, _kept(module), 0)
    return tuple(step for step, _ in zip(steps, range(_MOST_COLLECTIVES), strict=False))


def compare_order(
    base: Sequence[CollectiveStep], other: Sequence[CollectiveStep]
) -> OrderDifference | None:
    """Return the first difference of two ranks' sequences; None if equal or without common device.

    Collectives with equal kind, shape and groups are identified by name, if both sides have the
    same names.
    """
    rows = list(zip_longest(base, other))
    for number, (ours, theirs) in enumerate(rows, 1):
        if ours is None or theirs is None or ours.agreed != theirs.agreed:
            shared = _share_devices(base, other)
            return OrderDifference(number, ours, theirs) if shared else None
    if sorted(map(_identity, base)) != sorted(map(_identity, other)):
        return None
    for number, (ours, theirs) in enumerate(rows, 1):
        if ours and theirs and _identity(ours) != _identity(theirs):
            return OrderDifference(number, ours, theirs, only_values=True)
    return None


def run_apart(base: Sequence[CollectiveStep], other: Sequence[CollectiveStep]) -> bool:
    """Return whether both have collectives, but no device takes part in those of both."""
    return not _share_devices(base, other)


def _identity(step: CollectiveStep) -> tuple[str, str]:
    return step.name, step.op_name


def _share_devices(base: Sequence[CollectiveStep], other: Sequence[CollectiveStep]) -> bool:
    """Return whether a device may run collectives of both; pipeline stages share none."""
    ours, theirs = _devices(base), _devices(other)
    return ours is None or theirs is None or not ours or not theirs or bool(ours & theirs)


def _devices(steps: Sequence[CollectiveStep]) -> frozenset[int] | None:
    """Return the devices of the collectives; None where some are of all devices, or not known."""
    members: set[int] = set()
    for step in steps:
        if isinstance(step.groups, str) or step.groups == _ALL:
            return None
        members.update(chain.from_iterable(step.groups))
    return frozenset(members)


def _kept(module: HloModule) -> Mapping[Computation, bool]:
    """Return for each computation whether a collective is in it or below."""
    is_kept: dict[Computation, bool] = {}
    for computation in module.computations:  # callees come first
        is_kept[computation] = any(
            _is_step(instruction)
            or any(is_kept.get(callee, True) for callee in _called(module, instruction))
            for instruction in computation.instructions
        )
    return is_kept


def _steps(
    module: HloModule, computation: Computation, kept: Mapping[Computation, bool], depth: int
) -> Iterator[CollectiveStep]:
    for instruction in computation.instructions:
        if _is_step(instruction):
            yield _step(instruction, computation.name)
            continue
        for callee in _called(module, instruction):
            if depth < _MOST_NESTED and kept.get(callee):
                yield from _steps(module, callee, kept, depth + 1)


def _called(module: HloModule, instruction: Instruction) -> Iterator[Computation]:
    if instruction.opcode.endswith(("-update", "-done")):  # what `-start` calls
        return
    yield from module.callees(instruction)


def _is_step(instruction: Instruction) -> bool:
    opcode = instruction.opcode
    return opcode in _EXCHANGES or begins_collective(opcode)


def _step(instruction: Instruction, computation: str) -> CollectiveStep:
    attributes = instruction.attributes
    written = attributes.get("replica_groups", attributes.get("source_target_pairs", ""))
    parsed = parse_groups(written)
    groups: Groups | str = written if parsed is None or parsed.groups is None else parsed.groups
    if written.strip() in ("", "{}"):
        groups = _ALL
    return CollectiveStep(
        opcode=instruction.opcode.removesuffix("-start"),
        shape=instruction.shape.plain,
        groups=groups,
        written_groups=written,
        computation=computation,
        name=instruction.name,
        op_name=instruction.metadata.op_name,
    )
