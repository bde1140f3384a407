from xlareport.dump.grammar import file_forms, name_forms, path_forms, suffix_forms
from xlareport.dump.tokens import table
from xlareport.dump.vocabulary import kinds
from xlareport.knowledge.kinds import all_entries

LEFT_TO_THE_ENDING = {"by-format", "by-report"}


def test_the_forms_give_only_kinds_of_the_vocabulary() -> None:
    forms = (*suffix_forms(), *name_forms(), *file_forms(), *path_forms())

    assert {form.kind for form in forms} - LEFT_TO_THE_ENDING <= set(kinds())


def test_the_endings_give_only_kinds_of_the_vocabulary() -> None:
    endings = table("endings")

    assert set(endings["by_format"].values()) <= set(kinds())
    assert set(endings["by_report"].values()) <= set(kinds())
    assert set(endings["by_ending"]) | set(endings["by_name"]) <= set(kinds())


def test_every_kind_has_an_entry_in_the_knowledge_base() -> None:
    assert set(all_entries()) == set(kinds())
