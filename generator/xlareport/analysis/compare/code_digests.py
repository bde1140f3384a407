"""The form of a module: what it is apart from names, numbers in names, and source lines.

Two modules of one form differ only in how things are called. Computations that snapshots share are
looked at once.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b

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
        places = {each.name: place for place, each in enumerate(computation.instructions)}
        parts = [self._of_instruction(each, places) for each in computation.instructions]
        result = _digest([*parts, *called, computation.execution_thread.encode()])
        self._computations[computation] = (called, result)
        return result

    def _of_instruction(self, instruction: Instruction, places: dict[str, int]) -> bytes:
        head = self._instructions.get(instruction)
        if head is None:
            head = self._instructions[instruction] = _head(instruction, self._ignored)
        return head + ",".join(_placed(name, places) for name in instruction.operands).encode()


def _head(instruction: Instruction, ignored: frozenset[str]) -> bytes:
    """Return everything of an instruction that does not depend on where it stands."""
    calling = {attribute for attribute, _ in instruction.called}
    kept = [
        f"{key}={value}"
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


def _placed(operand: str, places: dict[str, int]) -> str:
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
