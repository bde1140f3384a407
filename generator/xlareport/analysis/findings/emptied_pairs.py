"""Collective-permutes that lost their source-target pairs, and the step that dropped them."""

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.shardings.device_groups import parse_pairs
from xlareport.snapshots import ParsedSnapshot

_PERMUTES = frozenset({"collective-permute", "collective-permute-start"})


class EmptyingStep(Struct, frozen=True):
    """The step in which a module got its first collective-permute without pairs."""

    name: str
    """Of the pass; empty if not known."""
    number: str


def find_emptying_step(snapshots: Sequence[ParsedSnapshot]) -> EmptyingStep | None:
    """Return the first step that adds a collective-permute without pairs; None if none does."""
    if not snapshots or not has_empty_permute(snapshots[-1].hlo):
        return None
    for earlier, later in pairwise(snapshots):
        if has_empty_permute(later.hlo) and not has_empty_permute(earlier.hlo):
            number = later.stage.sequence
            name = later.stage.after if later.stage.name == "pass" else None
            return EmptyingStep(name or "", "" if number is None else f"{number:04d}")
    return None


def is_empty_permute(instruction: Instruction) -> bool:
    """Return whether an instruction is a collective-permute without source-target pairs."""
    is_permute = instruction.opcode in _PERMUTES
    return is_permute and parse_pairs(instruction.attributes.get("source_target_pairs", "")) == ()


def has_empty_permute(module: HloModule) -> bool:
    """Return whether a module has a collective-permute without source-target pairs."""
    return any(map(is_empty_permute, module.instructions))
