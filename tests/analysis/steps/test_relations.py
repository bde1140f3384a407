"""What kind of change a pairing is."""

from xlareport.analysis.matching.search.pairing import ChangeCause, Pairing, Place, Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.relations import kind_of, kind_of_moved, reason_of
from xlareport.knowledge.grades import Grade

_A, _B, _C = (Place("main", name) for name in "abc")


def test_a_cause_says_more_than_that_something_is_gone() -> None:
    gone = Pairing((_A,), (), Grade.EXACT, "", Relation.REMOVED)
    assert kind_of(gone) is Kind.REMOVED
    gone.cause = ChangeCause.UNREAD
    assert kind_of(gone) is Kind.DEAD
    gone.cause = ChangeCause.UNTRACED
    assert kind_of(gone) is Kind.UNTRACED


def test_beside_what_was_moved_a_copy_is_moved_too_if_it_passed_something() -> None:
    moved = Pairing((_A,), (_B, _C), Grade.MATCHED, Past("x"), Relation.SWAPPED)
    assert kind_of_moved(moved, _A, _B) is Kind.SWAPPED
    moved.add_evidence((_A, _C), Grade.MATCHED, "a further copy")
    assert kind_of_moved(moved, _A, _C) is Kind.CLONED
    moved.add_evidence((_A, _C), Grade.MATCHED, Past("y", of_copy=True))
    assert kind_of_moved(moved, _A, _C) is Kind.SWAPPED
    assert kind_of_moved(moved, _C, _B) is Kind.MERGED


def test_a_further_part_has_a_reason_of_its_own() -> None:
    split = Pairing((_A,), (_B, _C), Grade.MATCHED, "the same name", Relation.SPLIT)
    first, further = split.known_of(_A, _B), split.known_of(_A, _C)
    assert reason_of(Kind.SPLIT, split, first) == "the same name"
    assert reason_of(Kind.PART, split, further) == "a part of what %a was split into"
    combined = Pairing((_A, _B), (_C,), Grade.MATCHED, "of all", Relation.COMBINED)
    known = combined.known_of(_B, _C)
    assert reason_of(Kind.PART, combined, known) == "a member of the combined %c"
