"""What a module is but for names, metadata and the order of lines that no schedule fixes.

Made from the lines alone, so that it can judge what the matching says.
"""

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from xlareport.hlo.attributes import CALLING
from xlareport.hlo.model import Computation, HloModule, Instruction

_NAME = re.compile(r"%[\w.\-]+")


def fingerprint(module: HloModule) -> bytes:
    """Return the same bytes for modules that differ in names, metadata and free order alone."""
    computations = contents(module)
    header = [f"{key}={_NAME.sub('%', value)}" for key, value in module.attributes.items()]
    return _digest([*sorted(computations.values()), *map(str.encode, sorted(header))])


def contents(module: HloModule) -> Mapping[str, bytes]:
    """Return the same bytes for computations that differ in names, metadata and free order."""
    scheduled = module.attributes.get("is_scheduled") == "true"
    computations: dict[str, bytes] = {}
    for computation in module.computations:
        computations[computation.name] = _of_computation(
            computation, computations, scheduled=scheduled
        )
    return computations


def _of_computation(
    computation: Computation, computations: Mapping[str, bytes], *, scheduled: bool
) -> bytes:
    values: dict[str, bytes] = {}
    for instruction in computation.instructions:
        values[instruction.name] = _of_instruction(instruction, values, computations)
    lines = [*values.values()]
    ends = (computation.is_entry, computation.execution_thread)
    return _digest([repr(ends).encode(), *(lines if scheduled else sorted(lines))])


def _of_instruction(
    instruction: Instruction, values: Mapping[str, bytes], computations: Mapping[str, bytes]
) -> bytes:
    kept = {
        key: _NAME.sub("%", value)
        for key, value in instruction.attributes.items()
        if key not in CALLING and key != "metadata"
    }
    words = (
        instruction.opcode,
        instruction.shape.text,
        instruction.argument,
        instruction.is_root,
        sorted(kept.items()),
    )
    read = (
        values.get(name.partition("#")[0], b"?") + _element(name) for name in instruction.operands
    )
    called = (key.encode() + computations.get(name, b"?") for key, name in instruction.called)
    return _digest([repr(words).encode(), *read, *called])


def _element(operand: str) -> bytes:
    return operand.partition("#")[2].encode()


def _digest(parts: Iterable[bytes]) -> bytes:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()
