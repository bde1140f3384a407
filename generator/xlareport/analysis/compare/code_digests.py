"""The form of a module: what it is apart from names, numbers in names, and source lines.

Two modules of one form differ only in how things are called. Computations that snapshots share are
looked at once.
"""

import json
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from xlareport.hlo.backend_config import read_backend_config
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.graphs import postorder

_OF_NAMES = frozenset(
    ("metadata", "channel_id", "control-predecessors", "origin", "original_value")
)
"""Attributes that say how something is called or where it is from, not what it does."""
_OF_MODULES = ("is_scheduled", "input_output_alias", "num_partitions", "replica_count")
_UNKNOWN = b"?"


class CodeDigests:
    """Digests of computations and modules; one object for all snapshots of a module."""

    def __init__(self, without: frozenset[str] = frozenset()) -> None:
        """`without` names further attributes that do not count."""
        self._ignored = _OF_NAMES | without
        self._instructions: dict[Instruction, bytes] = {}
        self._computations: dict[Computation, tuple[tuple[bytes, ...], bytes]] = {}

    def of_module(self, module: HloModule) -> bytes:
        """Return the digest of a module's entry with all that it calls."""
        known: dict[str, bytes] = {}
        for computation in _callees_first(module):
            known[computation.name] = self._of_computation(computation, known)
        entry = known.get(module.entry.name, _UNKNOWN) if module.entry else b""
        result = [f"{key}={module.attributes.get(key)}" for key in _OF_MODULES]
        return _digest([entry, *(text.encode() for text in result)])

    def _of_computation(self, computation: Computation, known: dict[str, bytes]) -> bytes:
        called = tuple(
            known.get(name, _UNKNOWN)
            for each in computation.instructions
            for _, name in each.called
        )
        former = self._computations.get(computation)
        if former is not None and former[0] == called:
            return former[1]
        places = _places(computation)
        parts = [
            self._of_instruction(each, places)
            for each in computation.instructions
            if "#" not in places[each.name]
        ]
        result = _digest([*parts, *called, computation.execution_thread.encode()])
        self._computations[computation] = (called, result)
        return result

    def _of_instruction(self, instruction: Instruction, places: dict[str, str]) -> bytes:
        head = self._instructions.get(instruction)
        if head is None:
            head = self._instructions[instruction] = _head(instruction, self._ignored)
        return head + ",".join(_placed(name, places) for name in instruction.operands).encode()


def _head(instruction: Instruction, ignored: frozenset[str]) -> bytes:
    """Return everything of an instruction that does not depend on where it stands."""
    calling = {attribute for attribute, _ in instruction.called}
    kept = [
        f"{key}={_in_order(instruction) if key == 'backend_config' else value}"
        for key, value in sorted(instruction.attributes.items())
        if key not in ignored and key not in calling
    ]
    parts = (
        instruction.opcode,
        instruction.shape.text,
        instruction.argument,
        str(instruction.is_root),
        *sorted(calling),
        *kept,
    )
    return "\x00".join((*parts, "")).encode("utf-8", "surrogateescape")


def _in_order(instruction: Instruction) -> str:
    """Return the backend_config with its keys sorted: two writings of one may order them anyhow."""
    value = read_backend_config(instruction)
    if not isinstance(value, dict):
        return instruction.attributes.get("backend_config", "")
    return json.dumps(value, sort_keys=True)


def _places(computation: Computation) -> dict[str, str]:
    """Return where each instruction stands; an element of a tuple by the tuple's place: `3#1`.

    Newer texts write elements at their uses (`%while#1`), protos and older texts as instructions.
    """
    places: dict[str, str] = {}
    number = 0
    for each in computation.instructions:
        if each.opcode == "get-tuple-element" and len(each.operands) == 1 and not each.is_root:
            places[each.name] = (
                f"{_placed(each.operands[0], places)}#{each.attributes.get('index')}"
            )
        else:
            places[each.name] = str(number)
            number += 1
    return places


def _placed(operand: str, places: dict[str, str]) -> str:
    """Return an operand as the place where it is defined; its tuple elements stay."""
    name, mark, element = operand.partition("#")
    return f"{places.get(name, -1)}{mark}{element}"


def _callees_first(module: HloModule) -> Iterator[Computation]:
    """Yield computations after those that they call; what calls itself comes as it stands."""
    names = (computation.name for computation in module.computations)
    for name in postorder(names, lambda caller: _callees(module, module.by_name[caller])):
        yield module.by_name[name]


def _callees(module: HloModule, computation: Computation) -> Iterator[str]:
    for name in dict.fromkeys(name for each in computation.instructions for _, name in each.called):
        if name in module.by_name:
            yield name


def _digest(parts: Sequence[bytes]) -> bytes:
    result = blake2b(digest_size=16)
    for part in parts:
        result.update(len(part).to_bytes(4, "little"))
        result.update(part)
    return result.digest()
