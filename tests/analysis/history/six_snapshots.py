"""Six snapshots of a small module."""

from collections.abc import Callable

from xlareport.analysis.history.instruction import (
    SnapshotSequence,
)
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


FIRST = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %half = f32[8]{0} divide(%a, %a), metadata={op_name="jit(f)/mlp/div"}
  %idle = f32[8]{0} tanh(%a)
  ROOT %out = f32[8]{0} negate(%half)
}
"""


CLEANED = FIRST.replace("  %idle = f32[8]{0} tanh(%a)\n", "")


RENAMED = CLEANED.replace("%half", "%quotient")


REPLACED = RENAMED.replace("divide", "multiply")


FUSED = """
%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %quotient.1 = f32[8]{0} multiply(%p, %p), metadata={op_name="jit(f)/mlp/div"}
  ROOT %out.1 = f32[8]{0} negate(%quotient.1)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  ROOT %fusion = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused
}
"""


def at(name: str, computation: str = "main") -> Place:
    return Place(computation, name)


def snapshots(read: Read) -> SnapshotSequence:
    return SnapshotSequence(
        [read(one) for one in (FIRST, CLEANED, CLEANED, RENAMED, REPLACED, FUSED)]
    )
