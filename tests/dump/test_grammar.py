import re

from xlareport.dump.grammar import (
    Span,
    file_forms,
    instruction_forms,
    module_forms,
    name_forms,
    path_forms,
    spans,
    suffix_forms,
)
from xlareport.dump.tokens import table
from xlareport.knowledge import kinds


def test_spans_are_the_innermost_groups_from_left_to_right() -> None:
    match = re.fullmatch(r"(?P<outer>(?P<a>x)y(?P<b>z))(?P<none>q)?(?P<empty>)", "xyz")

    assert match is not None
    assert spans(match) == (Span("a", 0, 1), Span("b", 2, 3))


def test_every_group_of_a_name_has_a_meaning() -> None:
    explained = set(table("meanings")["fields"]) | {"holder", "owner", "attributes", "old", "clone"}
    forms = (*suffix_forms(), *name_forms(), *file_forms(), *path_forms(), *module_forms())

    groups = {group for form in forms for group in form.pattern.groupindex}

    assert groups - explained == set()


def test_every_group_of_an_instruction_has_a_meaning() -> None:
    groups = {group for form in instruction_forms() for group in form.pattern.groupindex}

    assert groups - set(table("instructions")["fields"]) == set()


def test_no_macro_is_left_in_a_pattern() -> None:
    forms = (*suffix_forms(), *name_forms(), *file_forms(), *path_forms(), *module_forms())

    assert not any(re.search(r"\{[A-Z]+\}", form.pattern.pattern) for form in forms)


def test_the_forms_give_only_known_kinds() -> None:
    forms = (*suffix_forms(), *name_forms(), *file_forms(), *path_forms())
    assert {form.kind for form in forms} - {"by-format", "by-report"} <= set(kinds.all_entries())
