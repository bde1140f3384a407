from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

APART = """
HloModule step
ENTRY %main (x: f32[32,64], q: f32[64,16], k: f32[64,24], v: f32[64,8]) -> (f32[32,16], f32[32,24], f32[32,8]) {
  %x = f32[32,64]{1,0} parameter(0)
  %q = f32[64,16]{1,0} parameter(1)
  %k = f32[64,24]{1,0} parameter(2)
  %v = f32[64,8]{1,0} parameter(3)
  %dot.17 = f32[32,16]{1,0} dot(%x, %q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %dot.18 = f32[32,24]{1,0} dot(%x, %k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %dot.19 = f32[32,8]{1,0} dot(%x, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %out = (f32[32,16]{1,0}, f32[32,24]{1,0}, f32[32,8]{1,0}) tuple(%dot.17, %dot.18, %dot.19)
}
"""  # noqa: E501 - as XLA prints it

TOGETHER = """
HloModule step
ENTRY %main (x: f32[32,64], q: f32[64,16], k: f32[64,24], v: f32[64,8]) -> (f32[32,16], f32[32,24], f32[32,8]) {
  %x = f32[32,64]{1,0} parameter(0)
  %q = f32[64,16]{1,0} parameter(1)
  %k = f32[64,24]{1,0} parameter(2)
  %v = f32[64,8]{1,0} parameter(3)
  %concatenate = f32[64,40]{1,0} concatenate(%q, %k), dimensions={1}
  %concatenate.1 = f32[64,48]{1,0} concatenate(%concatenate, %v), dimensions={1}
  %dot.27 = f32[32,48]{1,0} dot(%x, %concatenate.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %slice.2 = f32[32,40]{1,0} slice(%dot.27), slice={[0:32], [0:40]}
  %slice = f32[32,16]{1,0} slice(%slice.2), slice={[0:32], [0:16]}
  %slice.1 = f32[32,24]{1,0} slice(%slice.2), slice={[0:32], [16:40]}
  %slice.3 = f32[32,8]{1,0} slice(%dot.27), slice={[0:32], [40:48]}
  ROOT %out = (f32[32,16]{1,0}, f32[32,24]{1,0}, f32[32,8]{1,0}) tuple(%slice, %slice.1, %slice.3)
}
"""  # noqa: E501 - as XLA prints it

SEVERAL = ("dot.17", "dot.18", "dot.19")


def at(*names: str) -> tuple[Place, ...]:
    return tuple(Place("main", name) for name in names)


def test_dots_of_one_operand_are_combined_in_the_order_of_the_others(read: Read) -> None:
    matching = match(read(APART), read(TOGETHER))
    combined = [item for item in matching.pairings if item.relation is Relation.COMBINED]
    assert [(item.before, item.after) for item in combined] == [(at(*SEVERAL), at("dot.27"))]


def test_slices_of_the_new_dot_are_added(read: Read) -> None:
    matching = match(read(APART), read(TOGETHER))
    assert {*at("slice", "slice.1", "slice.2", "slice.3")} <= {*matching.added}


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("%concatenate.1 = f32[64,48]{1,0} concatenate(%concatenate, %v)", "(%concatenate, %q)"),
        ("%dot.27 = f32[32,48]{1,0} dot(%x, %concatenate.1), lhs_contracting_dims={1}", "={0}"),
    ],
    ids=["a piece that no dot reads", "other contracting dimensions"],
)
def test_other_work_is_no_combination(read: Read, text: str, changed: str) -> None:
    end = changed[0]
    other = TOGETHER.replace(text, text[: text.rindex(end)] + changed)
    assert other != TOGETHER
    matching = match(read(APART), read(other))
    assert not any(item.relation is Relation.COMBINED for item in matching.pairings)


def test_a_concatenation_along_a_contracted_dimension_is_no_combination(read: Read) -> None:
    """The new dot then adds up the products of the pieces, which has the size of each."""
    before = """
HloModule step
ENTRY %main (x: f32[4,4], y: f32[4,4]) -> (f32[4,4], f32[4,4]) {
  %x = f32[4,4]{1,0} parameter(0)
  %y = f32[4,4]{1,0} parameter(1)
  %dot.1 = f32[4,4]{1,0} dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %dot.2 = f32[4,4]{1,0} dot(%x, %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %out = (f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(%dot.1, %dot.2)
}
"""
    after = """
HloModule step
ENTRY %main (x: f32[4,4], y: f32[4,4]) -> (f32[4,4], f32[4,4]) {
  %x = f32[4,4]{1,0} parameter(0)
  %y = f32[4,4]{1,0} parameter(1)
  %concatenate = f32[8,4]{1,0} concatenate(%x, %y), dimensions={0}
  %dot.3 = f32[4,4]{1,0} dot(%x, %concatenate), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %out = (f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(%dot.3, %dot.3)
}
"""
    matching = match(read(before), read(after))
    assert not any(item.relation is Relation.COMBINED for item in matching.pairings)


def test_what_was_combined_stays_so_whatever_is_known_of_its_slices(read: Read) -> None:
    """XLA combines two dots at a time, so that the slices of the first two are sliced again."""

    def module(first: str, second: str, third: str, dots: str) -> HloModule:
        shape = "f32[32,16]{1,0}"
        return read(
            f"""
HloModule step
ENTRY %main (x: f32[32,64], y: f32[32,64], z: f32[32,64], w: f32[64,16]) -> f32[32,16] {{
  %x = f32[32,64]{{1,0}} parameter(0)
  %y = f32[32,64]{{1,0}} parameter(1)
  %z = f32[32,64]{{1,0}} parameter(2)
  %w = f32[64,16]{{1,0}} parameter(3)
{dots}
  %add.1 = {shape} add(%{first}, %{second})
  ROOT %add.2 = {shape} add(%add.1, %{third})
}}
"""
        )

    numbers = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    apart = "\n".join(
        f"  %dot.{place} = f32[32,16]{{1,0}} dot(%{name}, %w), {numbers}"
        for place, name in enumerate("xyz", 1)
    )
    apart += f"\n  %unread = f32[64,64]{{1,0}} dot(%x, %y), {numbers.replace('{1}', '{0}')}"
    together = f"""
  %concatenate = f32[64,64]{{1,0}} concatenate(%x, %y), dimensions={{0}}
  %concatenate.1 = f32[96,64]{{1,0}} concatenate(%concatenate, %z), dimensions={{0}}
  %dot.9 = f32[96,16]{{1,0}} dot(%concatenate.1, %w), {numbers}
  %slice.2 = f32[64,16]{{1,0}} slice(%dot.9), slice={{[0:64], [0:16]}}
  %slice = f32[32,16]{{1,0}} slice(%slice.2), slice={{[0:32], [0:16]}}
  %slice.1 = f32[32,16]{{1,0}} slice(%slice.2), slice={{[32:64], [0:16]}}
  %slice.3 = f32[32,16]{{1,0}} slice(%dot.9), slice={{[64:96], [0:16]}}"""
    before = module("dot.1", "dot.2", "dot.3", apart)
    after = module("slice", "slice.1", "slice.3", together)
    pairing = match(before, after).pairing_before(Place("main", "dot.2"))
    assert pairing is not None
    assert pairing.relation is Relation.COMBINED
    assert pairing.before == tuple(Place("main", f"dot.{place}") for place in (1, 2, 3))
