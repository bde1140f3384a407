"""Digests of modules and computations without names, numbers in names and source lines.

Two modules with the same digest differ only in names and in the order of independent instructions.
Computations that snapshots share are read once.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b

from xlareport.hlo.backend_config import read_backend_config
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.graphs import postorder

_OF_NAMES = frozenset(
    ("metadata", "channel_id", "control-predecessors", "origin", "original_value")
)
"""Attributes about names and origins, which do not affect the result."""
OF_HEADER = ("is_scheduled", "input_output_alias", "num_partitions", "replica_count")
"""Attributes of the header that count."""
_UNKNOWN = b"?"
_NOT_KNOWN = (_UNKNOWN, _UNKNOWN)
_PRIME = (1 << 127) - 1
_FACTOR = 0x5851F42D4C957F2D14057B7EF767814F
"""Factor of the digests of values, which are numbers below a prime for speed."""


class HloDigests:
    """Digests of computations and modules; one object for all snapshots of a module."""

    def __init__(self, without: frozenset[str] = frozenset()) -> None:
        """`without` names fields of backend configs that do not count, however deep."""
        self._without = without
        self._heads: dict[Instruction, tuple[int, tuple[str, ...]]] = {}
        """What does not depend on where an instruction is, and the computations that it calls."""
        self._attributes: dict[str, str] = {}
        """The part of a head that its attributes make, by their text, which many share."""
        self._indices: dict[Instruction, int] = {}
        """Digests of the indices of tuple elements."""
        self._computations: dict[Computation, tuple[tuple[bytes, ...], bytes, bytes]] = {}
        self._opcodes: dict[Computation, Counter[str]] = {}
        self._callees: dict[Computation, tuple[str, ...]] = {}
        self._modules: dict[tuple[Computation, ...], tuple[bytes, bytes]] = {}

    def opcodes(self, computation: Computation) -> Counter[str]:
        """Return how often each opcode is in a computation."""
        counts = self._opcodes.get(computation)
        if counts is None:
            counts = Counter(instruction.opcode for instruction in computation.instructions)
            self._opcodes[computation] = counts
        return counts

    def of_module(self, module: HloModule, *, ordered: bool = False) -> bytes:
        """Return the digest of a module's entry, including all callees.

        The order of instructions counts only if `ordered`: by itself it is the order of a schedule.
        """
        entry = self._entry(module)
        result = [f"{key}={module.attributes.get(key)}" for key in OF_HEADER]
        return _digest([entry[ordered], *(text.encode() for text in result)])

    def instructions_of(self, module: HloModule) -> bytes:
        """Return the digest of a module's entry with all callees, without the header."""
        return self._entry(module)[0]

    def _entry(self, module: HloModule) -> tuple[bytes, bytes]:
        entry = self._modules.get(module.computations)
        if entry is None:
            entry = self._modules[module.computations] = self._of_entry(module)
        return entry

    def contents_of(self, module: HloModule) -> bytes:
        """Return the digest of a module's set of instructions, without operands and callees.

        Parameter numbers and tuple element indices do not count: they are only positions.
        """
        heads = sum(
            _digest_number(instruction.shape.text.encode("utf-8", "surrogateescape"))
            if instruction.opcode == "parameter"
            else (self._heads.get(instruction) or self._head(instruction))[0]
            for instruction in module.instructions
            if instruction.opcode != "tuple"
        )
        return _bytes(heads % _PRIME)

    def of_computations(self, module: HloModule) -> Mapping[str, tuple[bytes, bytes]]:
        """Return two digests of each computation with its callees: without and with order."""
        known: dict[str, tuple[bytes, bytes]] = {}
        for computation in self._callees_first(module):
            known[computation.name] = self._of_computation(computation, known)
        return known

    def of_call(self, instruction: Instruction, known: Mapping[str, tuple[bytes, bytes]]) -> bytes:
        """Return the digest of an instruction with what it calls, in order, without its operands.

        `known` are the digests of the module's computations.
        """
        head, called = self._heads.get(instruction) or self._head(instruction)
        callees = (known.get(name, _NOT_KNOWN)[1] for name in called)
        return _digest([_bytes(head), *callees])

    def _of_entry(self, module: HloModule) -> tuple[bytes, bytes]:
        """Return the digests of the entry with all that it calls, without and with the order."""
        if module.entry is None:
            return b"", b""
        return self.of_computations(module).get(module.entry.name, _NOT_KNOWN)

    def _callees_first(self, module: HloModule) -> Iterator[Computation]:
        """Yield computations after their callees; recursive ones in any order."""
        names = (computation.name for computation in module.computations)
        by_name = module.by_name
        for name in postorder(names, lambda caller: self._callees_in(by_name, caller)):
            yield by_name[name]

    def _callees_in(self, by_name: Mapping[str, Computation], caller: str) -> tuple[str, ...]:
        callees = self._called_by(by_name[caller])
        return tuple([name for name in dict.fromkeys(callees) if name in by_name])

    def _called_by(self, computation: Computation) -> tuple[str, ...]:
        """Return the computations that the instructions call, in order."""
        callees = self._callees.get(computation)
        if callees is None:
            callees = self._callees[computation] = tuple(
                [name for instruction in computation.calling for _, name in instruction.called]
            )
        return callees

    def _of_computation(
        self, computation: Computation, known: dict[str, tuple[bytes, bytes]]
    ) -> tuple[bytes, bytes]:
        """Return the digest without and with the order."""
        called = [known.get(name, _NOT_KNOWN) for name in self._called_by(computation)]
        callees = tuple(part for pair in called for part in pair)
        former = self._computations.get(computation)
        if former is not None and former[0] == callees:
            return former[1:]
        values, order = self._values(computation, known)
        root = values.get(computation.root.name, 0) if computation.root else 0
        whole = _bytes(sum(order)), _bytes(root), computation.execution_thread.encode()
        loose = _digest(whole)
        strict = _digest([loose, *map(_bytes, order), *(pair[1] for pair in called)])
        self._computations[computation] = (callees, loose, strict)
        return loose, strict

    def _values(
        self, computation: Computation, known: dict[str, tuple[bytes, bytes]]
    ) -> tuple[dict[str, int], list[int]]:
        """Return the digest of each value including its operands, and the digests in order."""
        values: dict[str, int] = {}
        order = []
        for instruction in computation.instructions:
            if instruction.opcode == "get-tuple-element" and len(instruction.operands) == 1:
                index = self._indices.get(instruction) or self._index(instruction)
                value = (_operand(instruction.operands[0], values) * _FACTOR + index) % _PRIME
                values[instruction.name] = value
                if not instruction.is_root:
                    continue
            else:
                value, called = self._heads.get(instruction) or self._head(instruction)
                for name in instruction.operands:
                    operand = values.get(name)
                    if operand is None:
                        operand = _operand(name, values)
                    value = (value * _FACTOR + operand) % _PRIME
                for name in called:
                    callee = known.get(name, (_UNKNOWN,))[0]
                    value = (value * _FACTOR + int.from_bytes(callee)) % _PRIME
                value = values[instruction.name] = (value * value + _FACTOR) % _PRIME
            order.append(value)
        return values, order

    def _index(self, instruction: Instruction) -> int:
        index = instruction.attributes.get("index")
        value = self._indices[instruction] = _index_number(index)
        return value

    def _head(self, instruction: Instruction) -> tuple[int, tuple[str, ...]]:
        text = instruction.attributes_text
        attributes = self._attributes.get(text)
        if attributes is None:
            attributes = self._attributes[text] = _attributes(instruction, self._without)
        parts = instruction.opcode, instruction.shape.text, instruction.argument, attributes
        number = _digest_number("\x00".join(parts).encode("utf-8", "surrogateescape"))
        called = tuple([name for _, name in instruction.called])
        head = self._heads[instruction] = (number, called)
        return head


def _operand(name: str, values: dict[str, int]) -> int:
    """Return the digest of an operand, `%while.6#1` being an element of a tuple."""
    value = values.get(name)
    if value is not None:
        return value
    whole, *elements = name.split("#")
    value = values.get(whole, 0)
    for element in elements:
        value = _digest_element(value, element)
    return value


def _digest_element(value: int, index: str | None) -> int:
    """Return the digest of an element: newer texts write it at its use, older as an instruction."""
    return (value * _FACTOR + _index_number(index)) % _PRIME


def _index_number(index: str | None) -> int:
    return _digest_number(f"#{index}".encode())


@lru_cache(maxsize=1 << 16)
def _digest_number(text: bytes) -> int:
    return int.from_bytes(blake2b(text, digest_size=16).digest())


def _bytes(value: int) -> bytes:
    return value.to_bytes(24)


def _attributes(instruction: Instruction, without: frozenset[str]) -> str:
    """Return what attributes say of an instruction that does not depend on where it is.

    `without` names fields of its backend config that do not count.
    """
    calling = {attribute for attribute, _ in instruction.called}
    kept = [
        f"{key}={_sorted_config(instruction, without) if key == 'backend_config' else value}"
        for key, value in sorted(instruction.attributes.items())
        if key not in _OF_NAMES and key not in calling
    ]
    return "\x00".join((*sorted(calling), *kept, ""))


def _sorted_config(instruction: Instruction, without: frozenset[str]) -> str:
    """Return the backend_config with sorted keys, because their order varies."""
    value = read_backend_config(instruction)
    if not isinstance(value, dict):
        return instruction.attributes.get("backend_config", "")
    return json.dumps(_without_fields(value, without) if without else value, sort_keys=True)


def _without_fields(value: object, names: frozenset[str]) -> object:
    """Return a JSON value without some fields, at any depth; the reader limits the depth."""
    if isinstance(value, dict):
        kept = {name: field for name, field in value.items() if name not in names}
        return {name: _without_fields(field, names) for name, field in kept.items()}
    return [_without_fields(item, names) for item in value] if isinstance(value, list) else value


def digest_header(module: HloModule) -> tuple[tuple[str, str | None], ...]:
    """Return the attributes of the header that count, each with a digest; None without it."""
    values = ((name, module.attributes.get(name)) for name in OF_HEADER)
    return tuple(
        (name, None if value is None else _digest([value.encode("utf-8", "surrogateescape")]).hex())
        for name, value in values
    )


def _digest(parts: Sequence[bytes]) -> bytes:
    result = blake2b(digest_size=16)
    for part in parts:
        result.update(len(part).to_bytes(4, "little"))
        result.update(part)
    return result.digest()
