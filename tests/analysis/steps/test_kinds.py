"""The table of what is said of each kind of change."""

import re

import pytest

from xlareport.analysis.steps.kinds import Kind, words_of_kinds
from xlareport.analysis.steps.phrases import phrase
from xlareport.runtime.resources import read_toml

_PUT_IN = {
    *("old", "new", "old_name", "new_name", "opcode", "home", "new_home", "where", "reason"),
    *("detail", "members", "holders", "result", "link"),
}
"""What a clause may name: see `clauses.py`."""


def test_every_kind_is_in_the_table_once_and_in_its_order() -> None:
    assert [*words_of_kinds()] == [*Kind]
    assert [*read_toml("xlareport.analysis.steps", "change_kinds.toml")] == [
        str(kind) for kind in Kind
    ]


def test_each_kind_has_a_heading_of_its_own() -> None:
    labels = [words.label for words in words_of_kinds().values()]
    assert len(set(labels)) == len(labels)
    assert all(label[:1].isupper() or label.startswith("backend_config") for label in labels)


@pytest.mark.parametrize("kind", Kind)
def test_a_clause_names_what_is_known_of_a_change(kind: Kind) -> None:
    words = words_of_kinds()[kind]
    for template in (words.clause, words.same_name):
        assert set(re.findall(r"{(\w*)}", template)) <= _PUT_IN


@pytest.mark.parametrize("kind", Kind)
def test_each_kind_has_a_verb_or_a_function_for_the_headline(kind: Kind) -> None:
    if not words_of_kinds()[kind].verb:
        assert not phrase(kind, {kind: ()}).startswith(" ")


def test_what_is_new_or_follows_from_others_counts_less_than_its_cause() -> None:
    words = words_of_kinds()
    causes = (Kind.FUSED, Kind.SPLIT, Kind.EXPANDED, Kind.COMBINED, Kind.INLINED)
    consequences = (Kind.MOVED, Kind.ARGUMENT, Kind.PARAMETER, Kind.PART, Kind.REDIRECTED)
    heaviest = max(words[kind].importance for kind in consequences)
    assert heaviest < min(words[kind].importance for kind in causes)
