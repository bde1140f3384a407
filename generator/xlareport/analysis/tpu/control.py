"""The scalar operations of a program that decide its branches, ready for the interpreter.

Bundles drive the vector units; control flow depends on few scalar operations. These are the
branches, and all operations that write a register or a spill slot that those read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct

from xlareport.analysis.tpu.scalar_operations import Value, signed
from xlareport.readers.llo.bundle_operation import LloOperation, registers
from xlareport.readers.llo.bundles import Bundle
from xlareport.runtime.graphs import reachable

_TARGET = re.compile(r"target bundleno = (\d{1,9})\b")
_SLOT = re.compile(r"\[(?:smem:)?\[?(#allocation\d{1,9}_spill)\]")
_NUMBER = re.compile(r"-?\d{1,19}")
_BRANCHES = ("sbr",)
_ALIASES = ("sphi", "inlined_call_operand", "int_to_ptr", "compiler-scheduling-barrier", "reloc")
"""Opcodes that only name a value: it stays in its register."""

SELECT = "select"
"""Returns its second operand where the first is true, else the third."""
SELECT_NOT = "select.not"
"""The other way round."""
Argument = str | Value
"""A register, a spill slot, or a number; None where it is neither."""


class Action(Struct):
    """An operation that the interpreter runs."""

    opcode: str
    target: str
    """The register or spill slot that it writes; empty for a branch."""
    arguments: tuple[Argument, ...]
    predicate: str
    negated: bool
    branch: int | None = None
    """The address that a branch goes to; -1 where the listing does not say."""

    @property
    def reads(self) -> Iterator[str]:
        """Yield the registers and spill slots that it reads."""
        yield from (argument for argument in self.arguments if isinstance(argument, str))
        if self.predicate:
            yield self.predicate

    @property
    def is_branch(self) -> bool:
        """Whether the actions may continue at another address."""
        return self.branch is not None


def control_actions(
    addressed: Iterable[tuple[int, Sequence[LloOperation]]],
) -> Mapping[int, tuple[Action, ...]]:
    """Return the operations that decide the branches, by the address of the bundle."""
    candidates = {
        address: [action for operation in operations for action in _actions(operation)]
        for address, operations in addressed
    }
    wanted = _needed(action for actions in candidates.values() for action in actions)
    actions_at = {
        address: tuple(action for action in actions if action.is_branch or action.target in wanted)
        for address, actions in candidates.items()
    }
    return {address: actions for address, actions in actions_at.items() if actions}


def _needed(actions: Iterable[Action]) -> set[str]:
    """Return every register and slot on which a branch depends, wherever it is written."""
    writers: dict[str, list[Action]] = {}
    read: list[str] = []
    for action in actions:
        if action.is_branch:
            read.extend(action.reads)
        else:
            writers.setdefault(action.target, []).append(action)
    return {*reachable(read, lambda register: _read_by(writers.get(register, ())))}


def _read_by(actions: Iterable[Action]) -> Iterator[str]:
    return chain.from_iterable(action.reads for action in actions)


def _actions(operation: LloOperation) -> Iterator[Action]:
    opcode = operation.opcode
    name = opcode.partition(".")[0]
    guard = (operation.predicate, operation.negated)
    if name in _BRANCHES:
        target = _TARGET.search(operation.operands)
        yield Action(opcode, "", (), *guard, branch=int(target[1]) if target else -1)
    elif name in _ALIASES or (not operation.result and name != "sst"):
        return
    elif name == "sst":
        slot, value = _SLOT.search(operation.operands), registers(operation.operands)
        if slot:
            yield Action("smov", slot[1], value[-1:] or (None,), *guard)
    elif operation.result[0] in "sp":
        yield _scalar(operation)


def _scalar(operation: LloOperation) -> Action:
    guard = (operation.predicate, operation.negated)
    slot = _SLOT.search(operation.operands) if operation.opcode == "sld" else None
    if slot:
        return Action("smov", operation.result, (slot[1],), *guard)
    arguments = tuple(_argument(text) for text in operation.operands.split(","))
    opcode = operation.opcode
    if opcode == "scalar_select" or operation.operands.startswith("(!"):
        opcode = SELECT
    elif operation.operands.startswith("("):  # `smov (%p0, %s1), 0` keeps s1 where p0 is false
        opcode = SELECT_NOT
    return Action(opcode, operation.result, arguments, *guard)


def _argument(text: str) -> Argument:
    plain = text.strip().removeprefix("(!").strip("()")
    if _NUMBER.fullmatch(plain):
        return signed(int(plain))
    named = registers(plain)
    return named[0] if len(named) == 1 and plain.startswith("%") else None


def bundles_with_operations(
    bundles: Iterable[Bundle],
) -> Iterator[tuple[int, Sequence[LloOperation]]]:
    """Yield the bundles that start something, each with its operations."""
    for bundle in bundles:
        operations = bundle.operations
        if operations:
            yield bundle.address, operations
