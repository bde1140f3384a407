"""Reductions of reductions: what a pass folded into one, and what it split in two."""

from collections.abc import Callable

from xlareport.analysis.collectives.find import Collective, find_collectives
from xlareport.analysis.collectives.reductions_of_reductions import (
    are_halves,
    find_folded,
    read_reduction,
)
from xlareport.hlo.model import HloModule

ReadText = Callable[[str], HloModule]
BOTH = "{{0,1,2,3,4,5,6,7}}"
INNER = "{{0,1,2,3},{4,5,6,7}}"
OUTER = "{{0,4},{1,5},{2,6},{3,7}}"


def two(read_text: ReadText, first: str, second: str) -> tuple[HloModule, tuple[Collective, ...]]:
    """Return an all-reduce, a slice of its result, and an all-reduce of that."""
    module = read_text(
        f"""
%add (a: f32[], b: f32[]) -> f32[] {{
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}}

ENTRY %main (p: f32[12]) -> f32[3] {{
  %p = f32[12]{{0}} parameter(0)
  %i = s32[] constant(0)
  %r = f32[12]{{0}} all-reduce(%p), replica_groups={first}, to_apply=%add
  %d = f32[3]{{0}} dynamic-slice(%r, %i), dynamic_slice_sizes={{3}}
  ROOT %q = f32[3]{{0}} all-reduce(%d), replica_groups={second}, to_apply=%add
}}
"""
    )
    return module, find_collectives(module)


def test_a_reduction_reads_another_behind_a_slice(read_text: ReadText) -> None:
    module, (first, second) = two(read_text, INNER, OUTER)
    assert read_reduction(module, second) == ("main", "r")
    assert read_reduction(module, first) is None


def test_one_over_both_axes_is_split_into_one_over_each(read_text: ReadText) -> None:
    module, (first, second) = two(read_text, INNER, OUTER)
    former, (whole, _) = two(read_text, BOTH, BOTH)
    assert are_halves((former, whole), [(module, first), (module, second)])
    again, (same, another) = two(read_text, INNER, INNER)
    assert not are_halves((former, whole), [(again, same), (again, another)])


def test_a_reduction_is_folded_into_the_one_that_reads_it(read_text: ReadText) -> None:
    module = read_text(
        """
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

ENTRY %main (p: f32[12]) -> f32[12] {
  %p = f32[12]{0} parameter(0)
  %r = f32[12]{0} all-reduce(%p), replica_groups={{0,1,2,3},{4,5,6,7}}, to_apply=%add
  ROOT %q = f32[12]{0} all-reduce(%r), replica_groups={{0,4},{1,5},{2,6},{3,7}}, to_apply=%add
}
"""
    )
    inner, outer = find_collectives(module)
    assert find_folded(module, (outer, inner)) == (inner,)
    assert find_folded(module, (inner,)) == ()
