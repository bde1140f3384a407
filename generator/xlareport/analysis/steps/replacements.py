"""What changed of an instruction besides the opcode: where it is, its shape and its layout."""

from collections.abc import Mapping, Sequence

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.destinations import destination
from xlareport.analysis.steps.details import Difference
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.shape_changes import compare_shapes
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import BOUNDARIES

_PLACES = frozenset({Kind.HOISTED, Kind.SUNK, Kind.MOVED})
"""Kinds of change that say where an instruction is now."""
_ANYWHERE = BOUNDARIES | {"constant", "iota"}
"""Opcodes of what is made wherever it is read, so that its place says nothing."""


def besides_opcode(
    matching: Matching, before: tuple[Place, Instruction], after: tuple[Place, Instruction]
) -> Mapping[Kind, Difference]:
    """Return how a replacement differs apart from its opcode; shapes of tuples are left out."""
    (here, old), (there, new) = before, after
    result: dict[Kind, Difference] = {}
    home = matching.computations.get(here.computation, here.computation)
    if home != there.computation and _ANYWHERE.isdisjoint((old.opcode, new.opcode)):
        result |= destination(matching, here, there, new.opcode)
    if not (old.shape.elements or new.shape.elements):
        result |= compare_shapes(old.shape, new.shape)
    return result


def place_of(kinds: Sequence[Kind], details: Sequence[Difference]) -> str:
    """Return where an instruction with these changes is now; '' if it stays."""
    if len(kinds) != len(details):
        return ""
    pairs = zip(kinds, details, strict=True)
    return next((str(detail) for kind, detail in pairs if kind in _PLACES), "")


def operation(line: Instruction) -> str:
    """Return the opcode; of a custom call its target."""
    return target(line) or line.opcode


def target(line: Instruction | None) -> str:
    """Return the target of a custom call; '' for other opcodes or without a target."""
    if line is None or line.opcode != "custom-call":
        return ""
    return line.call_target
