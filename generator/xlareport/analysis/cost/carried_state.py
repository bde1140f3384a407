"""State that fusions of an asynchronous collective carry, and neither read nor write."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from xlareport.hlo.model import Computation, Instruction
from xlareport.knowledge.opcodes import opcode_work

_COLLECTIVES = opcode_work().collectives
_ALIAS = re.compile(r"\{([\d, ]{0,40})\}: \((\d{1,6}), \{\}")
_ASYNC_START = "AsyncCollectiveStart"
_ASYNC_COMPUTATION = "AsyncCollective"


class CarriedState(NamedTuple):
    """State that a fusion carries but neither reads nor writes.

    The fusion that begins an asynchronous collective reads the operand and counts the result; those
    that continue and end it are given both buffers, with semaphores, and neither read nor write
    them.
    """

    parameters: frozenset[int]
    results: frozenset[tuple[int, ...]]


NOTHING_CARRIED = CarriedState(frozenset(), frozenset())


def find_carried_state(computation: Computation, fusion: Instruction) -> CarriedState:
    """Return the parameters and results of a fusion that are the state of such a collective."""
    pieces = {line.name for line in computation.instructions if _is_piece(line)}
    root = computation.root
    if not pieces or root is None:
        return NOTHING_CARRIED
    begins = _ASYNC_START in root.attributes_text
    passed = {number for _, number in _aliases(fusion)}
    read = {name for piece in pieces for name in computation.by_name[piece].operand_names}
    state = {
        number
        for number, parameter in enumerate(computation.parameters)
        if (number in passed or parameter.name in read)
        and all(_carries(user, pieces, root) for user in computation.users.get(parameter.name, ()))
    }
    results = {path for path, number in _aliases(fusion) if number in state}
    if begins:
        return CarriedState(frozenset(), frozenset(results))
    if root.opcode == "tuple":
        results |= {(at,) for at, name in enumerate(root.operand_names) if name in pieces}
    return CarriedState(frozenset(state), frozenset(results))


def _is_piece(line: Instruction) -> bool:
    chained = "chain_id=" in line.attributes.get("frontend_attributes", "")
    return chained and line.opcode in _COLLECTIVES


def _carries(user: Instruction, pieces: set[str], root: Instruction) -> bool:
    """Return whether a user is the collective, or only passes its state on."""
    passes = user is root and (root.opcode == "tuple" or _ASYNC_COMPUTATION in root.attributes_text)
    return user.name in pieces or passes


def _aliases(fusion: Instruction) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the results that are given in the memory of an operand, with its number."""
    written = fusion.attributes.get("output_to_operand_aliasing", "")
    for match in _ALIAS.finditer(written):
        yield tuple(int(word) for word in match[1].split(",") if word.strip()), int(match[2])
