"""Dots of the same values, told apart by what they sum over."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules.heavy.told_apart import summed_over
from xlareport.analysis.matching.search.pairing import Place
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


def test_dimensions_are_not_known_behind_a_reshape_nor_of_other_work(read: Read) -> None:
    reshaped = _TURNED.replace("transpose(%neg), dimensions={1,0}", "reshape(%neg)")
    side = start(read(reshaped), read(_FOLDED)).before
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
