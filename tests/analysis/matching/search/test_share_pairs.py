from collections.abc import Callable

from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.search.share_pairs import may_be_share, sole_shares
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
ENTRY %main (a: f32[8,12,16]) -> f32[8,12,16] {
  %a = f32[8,12,16]{2,1,0} parameter(0)
  %deep = f32[1,12,3,16]{3,2,1,0} sine(%a)
  %flat = f32[1,24,16]{2,1,0} sine(%a)
  %wide = f32[1,24,32]{2,1,0} sine(%a)
  ROOT %out = f32[8,12,16]{2,1,0} negate(%a)
}
"""
_AFTER = """
ENTRY %main_spmd (b: f32[4,12,16]) -> f32[4,12,16] {
  %b = f32[4,12,16]{2,1,0} parameter(0)
  %x = f32[1,12,32]{2,1,0} sine(%b)
  %y = f32[12,16]{1,0} sine(%b)
  %z = f32[1,6,3,8]{3,2,1,0} sine(%b)
  ROOT %out.1 = f32[4,12,16]{2,1,0} negate(%b)
}
"""


def test_possible_shares_tell_work_of_one_framework_op_apart(read: Read) -> None:
    search = start(read(_BEFORE), read(_AFTER))
    ours = [node for node in search.before.nodes if node.instruction.opcode == "sine"]
    theirs = [node for node in search.after.nodes if node.instruction.opcode == "sine"]
    pairs = {
        node.instruction.name: other.instruction.name for node, other in sole_shares(ours, theirs)
    }
    assert pairs == {"deep": "z", "flat": "y", "wide": "x"}
    assert may_be_share(ours[2], theirs[1])  # so elimination is needed
    assert not may_be_share(ours[1], theirs[2])


def test_equal_possibilities_tell_nothing(read: Read) -> None:
    search = start(read(_BEFORE), read(_AFTER))
    wide = [node for node in search.before.nodes if node.instruction.name in {"wide", "flat"}]
    narrow = [node for node in search.after.nodes if node.instruction.name == "y"]
    assert sole_shares(wide, narrow) == []
