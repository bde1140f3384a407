"""Which argument a value is, and how a sentence names it."""

from collections.abc import Callable

import pytest

from xlareport.analysis.collectives.argument_values import describe_value
from xlareport.analysis.collectives.collective_origin import explain_cause
from xlareport.analysis.collectives.find import find_collectives
from xlareport.analysis.collectives.partitioning import PartitioningStep
from xlareport.analysis.matching.match import match
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.hlo.model import HloModule

ReadText = Callable[[str], HloModule]
_PROGRAM = """
%body (s: (f32[8,4], f32[2,8,4], s32[])) -> (f32[8,4], f32[2,8,4], s32[]) {
  %s = (f32[8,4], f32[2,8,4], s32[]) parameter(0)
  %carry = f32[8,4] get-tuple-element(%s), index=0
  %weights = f32[2,8,4] get-tuple-element(%s), index=1
  %i = s32[] get-tuple-element(%s), index=2
  %zero = s32[] constant(0)
  %cut = f32[1,8,4] dynamic-slice(%weights, %i, %zero, %zero), dynamic_slice_sizes={1,8,4}
  %layer = f32[8,4] reshape(%cut)
  %next = f32[8,4] add(%carry, %layer)
  %was = f32[8,4] copy(%carry)
  ROOT %t = (f32[8,4], f32[2,8,4], s32[]) tuple(%next, %weights, %i)
}

%condition (s: (f32[8,4], f32[2,8,4], s32[])) -> pred[] {
  %s = (f32[8,4], f32[2,8,4], s32[]) parameter(0)
  ROOT %p = pred[] custom-call(%s), custom_call_target="p"
}

ENTRY %main (x: f32[8,4], w: f32[2,8,4], v: f32[4]) -> f32[8,4] {
  %x = f32[8,4] parameter(0), metadata={op_name="x"}
  %w = f32[2,8,4] parameter(1), metadata={op_name="p[\\'w\\']"}
  %v = f32[4] parameter(2)
  %half = bf16[8,4] convert(%x)
  %turned = bf16[4,8] transpose(%half), dimensions={1,0}
  %twice = bf16[8,4] add(%half, %half)
  %unnamed = bf16[4] convert(%v)
  %packed = (f32[8,4], f32[2,8,4]) tuple(%x, %w)
  %barrier = (f32[8,4], f32[2,8,4]) opt-barrier(%packed)
  %behind = f32[2,8,4] get-tuple-element(%barrier), index=1
  %start = s32[] constant(0)
  %state = (f32[8,4], f32[2,8,4], s32[]) tuple(%x, %behind, %start)
  %loop = (f32[8,4], f32[2,8,4], s32[]) while(%state), condition=%condition, body=%body
  ROOT %r = f32[8,4] get-tuple-element(%loop), index=0
}
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x", "`x`"),
        ("half", "`x` (bf16)"),
        ("turned", "`x` (bf16)"),
        ("twice", "`twice`"),
        ("unnamed", "`unnamed`"),
        ("behind", "`p['w']`"),
        ("layer", "a slice of `p['w']`"),
        ("was", "`was`"),  # the loop changes it
        ("r", "`r`"),
    ],
)
def test_a_value_is_an_argument_behind_conversions(
    name: str, words: str, read_text: ReadText
) -> None:
    module = read_text(_PROGRAM)
    (place,) = (home for home in module.computations if name in home.by_name)
    assert describe_value(module, place, place.by_name[name]) == words


_WHOLE = """
ENTRY %main (w: f32[64,16], x: bf16[8,64]) -> bf16[8,16] {
  %w = f32[64,16] parameter(0), sharding={devices=[8,1]<=[8]}, metadata={op_name="p[\\'embed\\']"}
  %x = bf16[8,64] parameter(1), sharding={replicated}, metadata={op_name="x"}
  %half = bf16[64,16] convert(%w), sharding={devices=[8,1]<=[8]}, metadata={op_name="f/convert"}
  ROOT %dot.9 = bf16[8,16] dot(%x, %half), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
sharding={replicated}, metadata={op_name="f/dot"}
}
"""
_PARTS = """
ENTRY %main (w: f32[8,16], x: bf16[8,64]) -> bf16[8,16] {
  %w = f32[8,16] parameter(0)
  %x = bf16[8,64] parameter(1)
  %half = bf16[8,16] convert(%w), metadata={op_name="f/convert"}
  %all-gather.1 = bf16[64,16] all-gather(%half), channel_id=1, replica_groups=[1,8]<=[8], \
dimensions={0}, use_global_device_ids=true, metadata={op_name="f/dot"}
  ROOT %dot.1 = bf16[8,16] dot(%x, %all-gather.1), lhs_contracting_dims={1}, \
rhs_contracting_dims={0}, metadata={op_name="f/dot"}
}
"""


@pytest.mark.parametrize("op_name", ["f/dot", ""])
def test_an_all_gather_of_a_converted_argument_gathers_it(
    op_name: str, read_text: ReadText
) -> None:
    """Also where the op that needs it is known only as the one that reads it."""
    parts = _PARTS.replace("f/dot", op_name)
    before, after = read_text(_WHOLE), read_text(parts)
    step = PartitioningStep(Partitioning(before, after), match(before, after))
    cause = explain_cause(step, find_collectives(after)[0], 8)
    assert cause.detail == (
        "Gathers `p['embed']` (bf16) from `{devices=[8,1]<=[8]}` to `{replicated}` for `dot.9` "
        "(dot)."
    )
    assert cause.sharding is not None
    assert cause.sharding.value == "half"
