"""Dots of the same values, told apart by what they sum over."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules.heavy.told_apart import reduced_over, summed_over
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_TURNED = """
ENTRY %main (a: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %neg = f32[8,8]{1,0} negate(%a)
  %transpose.1 = f32[8,8]{1,0} transpose(%neg), dimensions={1,0}
  %dot.1 = f32[8,8]{1,0} dot(%transpose.1, %transpose.1), LHS={1}, RHS={1}
  %dot.2 = f32[8,8]{1,0} dot(%transpose.1, %transpose.1), LHS={0}, RHS={0}
  ROOT %out = (f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%dot.1, %dot.2)
}
""".replace("LHS", "lhs_contracting_dims").replace("RHS", "rhs_contracting_dims")
_FOLDED = (
    _TURNED.replace("  %transpose.1 = f32[8,8]{1,0} transpose(%neg), dimensions={1,0}\n", "")
    .replace("(%transpose.1, %transpose.1)", "(%neg, %neg)")
    .replace("dims={1}", "dims={x}")
    .replace("dims={0}", "dims={1}")
    .replace("dims={x}", "dims={0}")
)


def _summed(side: Side, name: str) -> object:
    home = side.homes["main"]
    return summed_over(side, home.node(home.computation.by_name[name]))


def test_dimensions_are_those_of_what_a_transpose_reads(read: Read) -> None:
    search = start(read(_TURNED), read(_FOLDED))
    assert _summed(search.before, "dot.1") == _summed(search.after, "dot.1") == (((0,), ()),) * 2
    assert _summed(search.before, "dot.2") == _summed(search.after, "dot.2") == (((1,), ()),) * 2


def test_a_bitcast_keeps_the_order_of_dimensions_in_memory(read: Read) -> None:
    turned = "%transpose.1 = f32[8,8]{0,1} bitcast(%neg)"
    kept = "%transpose.1 = f32[8,8]{1,0} bitcast(%neg)"
    line = "%transpose.1 = f32[8,8]{1,0} transpose(%neg), dimensions={1,0}"
    for cast, number in ((turned, 0), (kept, 1)):
        side = start(read(_TURNED.replace(line, cast)), read(_FOLDED)).before
        assert _summed(side, "dot.1") == (((number,), ()),) * 2


def test_dimensions_are_not_known_behind_another_shape_nor_of_other_work(read: Read) -> None:
    cast = _TURNED.replace(
        "%transpose.1 = f32[8,8]{1,0} transpose(%neg), dimensions={1,0}",
        "%transpose.1 = f32[4,16]{1,0} bitcast(%neg)",
    )
    side = start(read(cast), read(_FOLDED)).before
    assert _summed(side, "dot.1") is None
    assert _summed(side, "neg") is None


def test_products_of_a_value_and_its_transpose_are_not_exchanged(read: Read) -> None:
    """What `transpose-folding` does to both products of a matrix with itself."""
    matching = match(read(_TURNED), read(_FOLDED))
    for name in ("dot.1", "dot.2"):
        pairing = matching.pairing_before(Place("main", name))
        assert pairing is not None
        assert pairing.after == (Place("main", name),)
        assert pairing.grade is Grade.MATCHED


_NORMS = """
%sum.1 (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add = f32[] add(%x, %y)
}

ENTRY %main (a: f32[64,8,8]) -> f32[64] {
  %a = f32[64,8,8]{2,1,0} parameter(0)
  %abs = f32[64,8,8]{2,1,0} abs(%a)
  %zero = f32[] constant(0)
  %reshape.1 = f32[64,1,8,8]{3,2,1,0} reshape(%abs)
  %rows.1 = f32[64,1,8]{2,1,0} reduce(%reshape.1, %zero), dimensions={3}, to_apply=%sum.1
  %total.1 = f32[64,1]{1,0} reduce(%rows.1, %zero), dimensions={2}, to_apply=%sum.1
  %reshape.2 = f32[64]{0} reshape(%total.1)
  %columns.1 = f32[64,1,8]{2,1,0} reduce(%reshape.1, %zero), dimensions={2}, to_apply=%sum.1
  %total.2 = f32[64,1]{1,0} reduce(%columns.1, %zero), dimensions={2}, to_apply=%sum.1
  %reshape.3 = f32[64]{0} reshape(%total.2)
  ROOT %multiply = f32[64]{0} multiply(%reshape.2, %reshape.3)
}
"""
_SQUEEZED = (
    _NORMS.replace("  %reshape.1 = f32[64,1,8,8]{3,2,1,0} reshape(%abs)\n", "")
    .replace("(%reshape.1, %zero), dimensions={2}", "(%abs, %zero), dimensions={1}")
    .replace("(%reshape.1, %zero), dimensions={3}", "(%abs, %zero), dimensions={2}")
    .replace("f32[64,1,8]{2,1,0} reduce", "f32[64,8]{1,0} reduce")
    .replace("f32[64,1]{1,0} reduce", "f32[64]{0} reduce")
    .replace("s.1, %zero), dimensions={2}", "s.1, %zero), dimensions={1}")
    .replace("%rows.1", "%reduce.1")
    .replace("%columns.1", "%reduce.2")
    .replace("%total.1", "%reduce.3")
    .replace("%total.2", "%reduce.4")
    .replace("{0} reshape(%reduce.3)", "{0} copy(%reduce.3)")
    .replace("{0} reshape(%reduce.4)", "{0} copy(%reduce.4)")
)


def test_dimensions_of_one_element_do_not_count(read: Read) -> None:
    search = start(read(_NORMS), read(_SQUEEZED))
    search.evaluate()
    for here, names in ((search.before, ("rows.1", "columns.1")), (search.after, _SUMS)):
        home = here.homes["main"]
        nodes = [home.node(home.computation.by_name[name]) for name in names]
        assert [(reduced_over(here, node) or ("none",))[0] for node in nodes] == [(2,), (1,)]


_SUMS = ("reduce.1", "reduce.2")


def test_sums_of_rows_and_of_columns_are_not_exchanged(read: Read) -> None:
    """What `tpu-reduce-rewriter` does to both norms of a matrix."""
    matching = match(read(_NORMS), read(_SQUEEZED))
    names = {"rows.1": 1, "columns.1": 2, "total.1": 3, "total.2": 4}
    for name, number in names.items():
        pairing = matching.pairing_before(Place("main", name))
        assert pairing is not None
        assert pairing.after == (Place("main", f"reduce.{number}"),)
        assert pairing.grade is Grade.MATCHED


_RUNNING = """
%sum.1 (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add = f32[] add(%x, %y)
}

ENTRY %main (a: f32[64,256]) -> f32[64,256] {
  %a = f32[64,256]{1,0} parameter(0)
  %exp = f32[64,256]{1,0} exponential(%a)
  %zero = f32[] constant(0)
  %sums = f32[64,256]{1,0} reduce-window(%exp, %zero), window={size=1x256 pad=0_0x255_0}, to_apply=%sum.1
  ROOT %tanh = f32[64,256]{1,0} tanh(%sums)
}
"""  # noqa: E501 - lines as XLA writes them
_IN_BLOCKS = _RUNNING.replace(
    """  %sums = f32[64,256]{1,0} reduce-window(%exp, %zero), window={size=1x256 pad=0_0x255_0}, to_apply=%sum.1
""",  # noqa: E501 - lines as XLA writes them
    """  %blocks = f32[64,2,128]{2,1,0} reshape(%exp)
  %inner = f32[64,2,128]{2,1,0} reduce-window(%blocks, %zero), window={size=1x1x128 pad=0_0x0_0x127_0}, to_apply=%sum.1
  %ends = f32[64,2,1]{2,1,0} slice(%inner), slice={[0:64], [0:2], [127:128]}
  %flat = f32[64,2]{1,0} reshape(%ends)
  %outer = f32[64,3]{1,0} reduce-window(%flat, %zero), window={size=1x2 pad=0_0x2_0}, to_apply=%sum.1
  %before = f32[64,2]{1,0} slice(%outer), slice={[0:64], [0:2]}
  %wide = f32[64,2,128]{2,1,0} broadcast(%before), dimensions={0,1}
  %map = f32[64,2,128]{2,1,0} map(%inner, %wide), dimensions={0,1,2}, to_apply=%sum.1
  %whole = f32[64,256]{1,0} reshape(%map)
""",  # noqa: E501 - lines as XLA writes them
).replace("tanh(%sums)", "tanh(%whole)")


def test_a_running_sum_in_blocks_is_an_expansion_of_it(read: Read) -> None:
    """What `tpu-reduce-window-rewriter` does to `jnp.cumsum`."""
    matching = match(read(_RUNNING), read(_IN_BLOCKS))
    for name in ("inner", "outer", "map", "whole"):
        pairing = matching.pairing_after(Place("main", name))
        assert pairing is not None
        assert pairing.relation is Relation.EXPANDED
        assert pairing.before == (Place("main", "sums"),)


_LAID_OUT = """
%sum.1 (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add = f32[] add(%x, %y)
}

ENTRY %main (a: f32[4,8,16]) -> (f32[4,8], f32[4,16]) {
  %a = f32[4,8,16]{1,0,2} parameter(0)
  %abs = f32[4,8,16]{1,0,2} abs(%a)
  %zero = f32[] constant(0)
  %over.16 = f32[4,8]{1,0} reduce(%abs, %zero), dimensions={2}, to_apply=%sum.1
  %over.8 = f32[4,16]{1,0} reduce(%abs, %zero), dimensions={1}, to_apply=%sum.1
  ROOT %out = (f32[4,8]{1,0}, f32[4,16]{1,0}) tuple(%over.16, %over.8)
}
"""
_NORMALIZED = _LAID_OUT.replace(
    "  %over.16 = f32[4,8]{1,0} reduce(%abs, %zero), dimensions={2}",
    """  %bitcast.1 = f32[16,4,8]{2,1,0} bitcast(%abs)
  %over.16 = f32[4,8]{1,0} reduce(%bitcast.1, %zero), dimensions={0}""",
).replace(
    "  %over.8 = f32[4,16]{1,0} reduce(%abs, %zero), dimensions={1}, to_apply=%sum.1",
    """  %bitcast.2 = f32[16,4,8]{2,1,0} bitcast(%abs)
  %reduce.9 = f32[16,4]{0,1} reduce(%bitcast.2, %zero), dimensions={2}, to_apply=%sum.1
  %over.8 = f32[4,16]{1,0} bitcast(%reduce.9)""",
)


def test_sums_of_a_value_are_not_exchanged_where_its_layout_became_plain(read: Read) -> None:
    """What `reduction-layout-normalizer` does to sums over two dimensions of one value."""
    matching = match(read(_LAID_OUT), read(_NORMALIZED))
    for name, now in (("over.16", "over.16"), ("over.8", "reduce.9")):
        pairing = matching.pairing_before(Place("main", name))
        assert pairing is not None
        assert pairing.after[0] == Place("main", now)
        assert pairing.grade is not Grade.GUESSED
