from xlareport.analysis.matching.search.pairing import PairEvidence, Pairing, Place, Relation
from xlareport.knowledge.grades import Grade

BEFORE, FIRST, FURTHER = (Place("main", name) for name in ("dot", "dot.1", "dot.2"))


def copies(grade: Grade) -> Pairing:
    pairing = Pairing((BEFORE,), (FIRST, FURTHER), Grade.MATCHED, "by name", Relation.CLONED)
    pairing.add_evidence((BEFORE, FURTHER), grade, "in order")
    return pairing


def test_a_further_copy_keeps_its_own_grade() -> None:
    pairing = copies(Grade.GUESSED)
    assert pairing.known_of(BEFORE, FIRST) == PairEvidence(Grade.MATCHED, "by name")
    assert pairing.known_of(BEFORE, FURTHER) == PairEvidence(Grade.GUESSED, "in order")
    assert pairing.weakest.grade is Grade.GUESSED


def test_a_further_copy_is_no_surer_than_the_first() -> None:
    pairing = copies(Grade.EXACT)
    assert pairing.known_of(BEFORE, FURTHER) == PairEvidence(Grade.MATCHED, "in order")
    assert pairing.weakest.grade is Grade.MATCHED
