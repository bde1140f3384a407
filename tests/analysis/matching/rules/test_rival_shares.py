from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules.rival_shares import RivalShares
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search_start import start
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

BEFORE = """ENTRY %main (a: f32[8,8], b: f32[8,4]) -> (f32[8,8], f32[8,4]) {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[8,4]{1,0} parameter(1)
  %neg.1 = f32[8,8]{1,0} negate(%a), metadata={op_name="jit(f)/neg"}
  %neg.2 = f32[8,4]{1,0} negate(%b), metadata={op_name="jit(f)/neg"}
  ROOT %out = (f32[8,8]{1,0}, f32[8,4]{1,0}) tuple(%neg.1, %neg.2)
}
"""
AFTER = """ENTRY %main_spmd (c: f32[8,4], d: f32[8,2]) -> (f32[8,4], f32[8,2]) {
  %c = f32[8,4]{1,0} parameter(0)
  %d = f32[8,2]{1,0} parameter(1)
  %neg.3 = f32[8,4]{1,0} negate(%c), metadata={op_name="jit(f)/neg"}
  %neg.4 = f32[8,2]{1,0} negate(%d), metadata={op_name="jit(f)/neg"}
  ROOT %out.1 = (f32[8,4]{1,0}, f32[8,2]{1,0}) tuple(%neg.3, %neg.4)
}
"""


def test_an_equal_shape_may_be_the_share_of_another(read: Read) -> None:
    search = start(read(BEFORE), read(AFTER))
    old, new = (
        {node.instruction.name: node for node in side.nodes}
        for side in (search.before, search.after)
    )
    rivals = RivalShares(search)
    assert rivals.has_any(old["neg.2"], new["neg.3"])
    alone = RivalShares(start(read(BEFORE.replace("[8,8]", "[8,9]")), read(AFTER)))
    assert not alone.has_any(old["neg.2"], new["neg.3"]) or rivals.has_any(
        old["neg.1"], new["neg.3"]
    )


def test_shares_are_paired_with_what_they_are_shares_of(read: Read) -> None:
    matching = match(read(BEFORE), read(AFTER))
    assert matching.partner_before(Place("main_spmd", "neg.3")) == Place("main", "neg.1")
    assert matching.partner_before(Place("main_spmd", "neg.4")) == Place("main", "neg.2")
