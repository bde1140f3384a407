import json
import re

from xlareport.knowledge import element_types, opcodes
from xlareport.pages.glossary.page import lexicon


def test_every_kind_of_word_has_its_entries() -> None:
    words = lexicon(["dce"])["words"]

    assert words["opcode"]["dot"].startswith("Multiplies matrices")
    assert words["type"]["bf16"].startswith("Floating point in 16 bits")
    assert "xla_dump_to" in words["flag"]
    assert set(words["pass"]) == {"dce"}


def test_a_pass_that_is_not_known_is_said_to_be_a_guess() -> None:
    words = lexicon(["no-such-pass", "pipeline-start"])["words"]["pass"]

    assert words["no-such-pass"].startswith("Not known. ")
    assert "NoSuchPass (a guess)" in words["no-such-pass"]
    assert words["pipeline-start"].startswith("Not a pass")


def test_sentences_are_plain_and_patterns_are_those_of_scripts() -> None:
    found = lexicon([])

    assert "`" not in json.dumps(found["words"])
    assert found["instruction"]["forms"]
    assert not any(re.search(r"\(\?P", form) for form in found["instruction"]["forms"])


def test_synonyms_lead_to_terms_of_the_glossary() -> None:
    found = lexicon([])

    terms = found["words"]["word"]
    assert set(found["synonyms"].values()) <= terms.keys()
    assert not found["synonyms"].keys() & terms.keys()
    for synonym, term in (
        ("rounds", "trip count"),
        ("least time", "roofline"),
        ("work", "FLOPs"),
        ("traffic", "bytes accessed"),
        ("donate", "donation"),
        ("aliasing", "alias"),
        ("computed again", "rematerialization"),
    ):
        assert found["synonyms"][synonym] == term


def test_types_know_their_bits_and_every_type_has_words() -> None:
    found = lexicon([])

    assert found["bits"]["s4"] == 8
    assert set(found["bits"]) <= set(element_types.all_entries())


def test_opcodes_come_whole() -> None:
    assert set(lexicon([])["words"]["opcode"]) == set(opcodes.all_entries())
