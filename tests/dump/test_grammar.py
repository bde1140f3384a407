import re

import pytest

from xlareport.dump.grammar import (
    Span,
    between,
    file_forms,
    instruction_forms,
    meaning,
    module_forms,
    moment,
    name_forms,
    path_forms,
    pieces,
    spans,
    suffix_forms,
)
from xlareport.dump.tokens import joined, table
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


def test_a_pattern_s_groups_and_the_text_between_become_tokens() -> None:
    match = re.fullmatch(r"(?P<sequence>\d+)\.after_(?P<after>\w+)", "0003.after_dce")

    assert match is not None
    tokens = list(pieces(match))
    assert [(token.text, token.field) for token in tokens] == [
        ("0003", "sequence"),
        (".", "sign"),
        ("after", "word"),
        ("_", "sign"),
        ("dce", "after"),
    ]


def test_pieces_can_begin_in_the_middle() -> None:
    match = re.fullmatch(r"(?P<kernel>\w+)\.(?P<format>\w+)", "k.txt")

    assert match is not None
    assert joined(pieces(match, start=1)) == ".txt"


@pytest.mark.parametrize("text", ["", ".", "._", "-fusion.", "module", "_gpu_"])
def test_the_text_between_is_kept_whole(text: str) -> None:
    assert joined(between(text)) == text


@pytest.mark.parametrize(
    ("field", "text", "told"),
    [
        ("timestamp", "1624325116260738", "2021-06-22 01:25:16 UTC"),
        ("timestamp_ms", "1795253747247", "2026-11-21 09:35:47 UTC"),
        ("timestamp_ns", "1795253747247000000", "2026-11-21 09:35:47 UTC"),
        ("time_us_hex", "562b1355a7a69", "2018-01-14 00:02:07 UTC"),
        ("timestamp", "9" * 19, "a moment outside the calendar"),
    ],
)
def test_a_moment_is_a_date_by_the_unit_of_its_field(field: str, text: str, told: str) -> None:
    assert moment(field, text) == told


def test_a_part_is_explained_by_its_own_text_first() -> None:
    assert "H100" in meaning("target", "sm_9.0")
    assert meaning("target", "sm_99.9") == "What the code is compiled for: sm_99.9."
