from collections.abc import Callable

import pytest

from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

TEXT = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} negate(%a)
  ROOT %c = f32[8]{0} tanh(%b)
}
"""


def at(name: str, computation: str = "main") -> Place:
    return Place(computation, name)


def matching(read: Read, *pairings: Pairing) -> Matching:
    after = read(TEXT.replace("main", "main_spmd"))
    return Matching(read(TEXT), after, {"main": "main_spmd"}, pairings)


def test_a_line_of_a_paired_computation_is_its_own_partner(read: Read) -> None:
    found = matching(read)
    assert found.partner_after(at("b")) == at("b", "main_spmd")
    assert found.partner_before(at("b", "main_spmd")) == at("b")


def test_a_pairing_goes_before_the_name(read: Read) -> None:
    pairing = Pairing((at("b"),), (at("c", "main_spmd"),), Grade.MATCHED, "for a reason")
    found = matching(read, pairing)
    assert found.partner_after(at("b")) == at("c", "main_spmd")
    assert found.pairing_before(at("b")) is pairing


def test_what_holds_a_group_is_no_partner(read: Read) -> None:
    group = Pairing((at("b"), at("c")), (at("c", "main_spmd"),), Grade.EXACT, "", Relation.FUSED)
    found = matching(read, group)
    assert found.partner_before(at("c", "main_spmd")) is None
    assert found.pairing_after(at("c", "main_spmd")) is group


def test_a_partner_is_preferred_to_a_group(read: Read) -> None:
    group = Pairing((at("b"),), (at("c", "main_spmd"),), Grade.EXACT, "", Relation.FUSED)
    partner = Pairing((at("b"),), (at("b", "main_spmd"),), Grade.EXACT, "")
    assert matching(read, group, partner).partner_after(at("b")) == at("b", "main_spmd")


def test_gone_and_new_are_listed(read: Read) -> None:
    gone = Pairing((at("b"),), (), Grade.EXACT, "nothing read it", Relation.REMOVED)
    new = Pairing((), (at("b", "main_spmd"),), Grade.MATCHED, "read by %c", Relation.ADDED)
    found = matching(read, gone, new)
    assert (found.removed, found.added) == ((at("b"),), (at("b", "main_spmd"),))
    assert found.partner_after(at("b")) is None


@pytest.mark.parametrize("copies_first", [True, False])
def test_copies_are_preferred_to_the_fusion_that_holds_them(
    read: Read, *, copies_first: bool
) -> None:
    fused = Pairing((at("b"), at("c")), (at("c", "main_spmd"),), Grade.EXACT, "", Relation.FUSED)
    places = (at("a", "main_spmd"), at("b", "main_spmd"))
    copies = Pairing((at("b"),), places, Grade.EXACT, "", Relation.CLONED)
    found = matching(read, *((copies, fused) if copies_first else (fused, copies)))
    assert found.pairing_before(at("b")) is copies
    assert found.partner_after(at("b")) == places[0]
