"""Collective-permutes that lost their source-target pairs, and the step that dropped them."""

from collections.abc import Sequence
from itertools import pairwise

from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.shardings.device_groups import parse_pairs
from xlareport.snapshots import ParsedSnapshot, PassStep

_PERMUTES = frozenset({"collective-permute", "collective-permute-start"})


def find_emptying_step(snapshots: Sequence[ParsedSnapshot]) -> PassStep | None:
    """Return the first step that adds a collective-permute without pairs; None if none does."""
    if not snapshots or not has_empty_permute(snapshots[-1].hlo):
        return None
    for earlier, later in pairwise(snapshots):
        if has_empty_permute(later.hlo) and not has_empty_permute(earlier.hlo):
            stage = later.stage
            name = stage.after if stage.name == "pass" else None
            return PassStep(name or "", "" if stage.sequence is None else stage.key)
    return None


def is_empty_permute(instruction: Instruction) -> bool:
    """Return whether an instruction is a collective-permute without source-target pairs."""
    is_permute = instruction.opcode in _PERMUTES
    return is_permute and parse_pairs(instruction.attributes.get("source_target_pairs", "")) == ()


def has_empty_permute(module: HloModule) -> bool:
    """Return whether a module has a collective-permute without source-target pairs."""
    return any(map(is_empty_permute, module.instructions))
