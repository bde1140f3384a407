"""Which rows of joined values products read."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules.heavy.sliced_reads import read_other_rows, rows_read
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search_start import start
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_JOINED = """
HloModule m
ENTRY %main (x: f32[4,8], w: f32[3,8,8]) -> (f32[4,8], f32[4,8]) {
  %x = f32[4,8]{1,0} parameter(0)
  %w = f32[3,8,8]{2,1,0} parameter(1)
  %exp.1 = f32[3,8,8]{2,1,0} exponential(%w)
  %slice.1 = f32[1,8,8]{2,1,0} slice(%exp.1), slice={[0:1], [0:8], [0:8]}
  %q.1 = f32[8,8]{1,0} reshape(%slice.1)
  %slice.2 = f32[1,8,8]{2,1,0} slice(%exp.1), slice={[1:2], [0:8], [0:8]}
  %k.1 = f32[8,8]{1,0} reshape(%slice.2)
  %dot.1 = f32[4,8]{1,0} dot(%x, %q.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %dot.2 = f32[4,8]{1,0} dot(%x, %k.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %out = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%dot.1, %dot.2)
}
"""
_REWRITTEN = """
HloModule m
ENTRY %main (x.9: f32[4,8], w.9: f32[3,8,8]) -> (f32[4,8], f32[4,8]) {
  %x.9 = f32[4,8]{1,0} parameter(0)
  %w.9 = f32[3,8,8]{2,1,0} parameter(1)
  %exp.9 = f32[3,8,8]{1,2,0} exponential(%w.9)
  %slice.9 = f32[1,8,8]{1,2,0} slice(%exp.9), slice={[1:2], [0:8], [0:8]}
  %bitcast.9 = f32[8,8]{0,1} bitcast(%slice.9)
  %slice.8 = f32[1,8,8]{1,2,0} slice(%exp.9), slice={[0:1], [0:8], [0:8]}
  %bitcast.8 = f32[8,8]{0,1} bitcast(%slice.8)
  %convolution.9 = f32[4,8]{1,0} convolution(%x.9, %bitcast.9), dim_labels=bf_io->bf
  %convolution.8 = f32[4,8]{1,0} convolution(%x.9, %bitcast.8), dim_labels=bf_io->bf
  %sum = f32[4,8]{1,0} add(%convolution.9, %convolution.8)
  %less = f32[4,8]{1,0} subtract(%convolution.9, %convolution.8)
  ROOT %out = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%sum, %less)
}
"""


def test_the_rows_that_products_read(read: Read) -> None:
    side = start(read(_JOINED), read(_REWRITTEN), same_program=True).before
    nodes = {node.instruction.name: node for node in side.nodes}
    assert rows_read(side, nodes["dot.1"]) == {(0,)}
    assert rows_read(side, nodes["dot.2"]) == {(1,)}
    assert not rows_read(side, nodes["exp.1"])


def test_products_of_other_rows_are_apart() -> None:
    query, key = frozenset({(0,)}), frozenset({(1,)})
    assert read_other_rows(query, key)
    assert not read_other_rows(query, query | key)
    assert not read_other_rows(query, frozenset())


def test_a_product_goes_on_as_that_of_its_rows(read: Read) -> None:
    matching = match(read(_JOINED), read(_REWRITTEN))
    for old, new in (("dot.1", "convolution.8"), ("dot.2", "convolution.9")):
        assert matching.partner_after(Place("main", old)) == Place("main", new)
