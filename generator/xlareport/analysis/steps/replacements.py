"""What changed of an instruction besides the opcode: where it is, its shape and its layout."""

from collections.abc import Mapping, Sequence

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.destinations import destination
from xlareport.analysis.steps.details import Difference
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.shape_changes import compare_shapes
from xlareport.hlo.async_fusions import is_async_piece
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.opcode_groups import BOUNDARIES

_PLACES = frozenset({Kind.HOISTED, Kind.SUNK, Kind.MOVED})
"""Kinds of change that say where an instruction is now."""
ASYNC_FUSION = "AsyncCollectiveStart"
ASYNC_FUSION_END = "AsyncCollectiveDone"
"""Targets of the custom calls that begin and end a collective which several fusions execute."""
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


def is_summed_product(opcodes: tuple[str, str]) -> bool:
    """Return whether a dot became a sum: `dot-strength-reduction` multiplies, then reduces."""
    return opcodes == ("dot", "reduce")


def is_product_by_reciprocal(opcodes: tuple[str, str]) -> bool:
    """Return whether a quotient became a product: `algsimp` divides before it repeats."""
    return opcodes == ("divide", "multiply")


def operation(line: Instruction) -> str:
    """Return the opcode; of a custom call its target."""
    return target(line) or line.opcode


def new_target(module: HloModule, place: Place | None, former: Instruction | None) -> str:
    """Return the target of the custom call at a place, or of that which begins an async fusion.

    Of a start that became the collective in such a fusion, that is the custom call beside it.
    """
    line = module.find(*place) if place is not None else None
    if place is None or line is None or former is None:
        return target(line)
    is_joined = former.opcode == f"{line.opcode}-start"
    is_piece = is_joined and is_async_piece(module.by_name[place.computation], line)
    return ASYNC_FUSION if is_piece else target(line)


def target(line: Instruction | None) -> str:
    """Return the target of a custom call; '' for other opcodes or without a target."""
    if line is None or line.opcode != "custom-call":
        return ""
    return line.call_target
