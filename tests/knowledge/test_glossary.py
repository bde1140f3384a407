import re

import pytest

from xlareport.knowledge import glossary, stages
from xlareport.knowledge.wants import wants

EVERYTHING = list(glossary.all_entries().values())


@pytest.mark.parametrize(
    "word",
    [
        "dump",
        "module",
        "computation",
        "instruction",
        "fusion",
        "layout",
        "buffer",
        "alias",
        "donation",
        "trip count",
        "FLOPs",
        "HBM",
        "split-k",
        "rematerialization",
        "op_name",
        "SPMD partitioner",
        "temp",
        "SPMD",
        "roofline",
        "pass",
        "pipeline",
        "snapshot",
        "step",
        "grade",
        "exact",
        "matched",
        "guessed",
        "shape",
        "claim",
        "pairing",
        "story",
        "artifact",
    ],
)
def test_the_words_of_the_report_are_there(word: str) -> None:
    assert glossary.find(word) is not None


def test_a_word_is_found_however_it_is_written() -> None:
    for written in ("hlo", "HLO", "Hlo"):
        word = glossary.find(written)
        assert word is not None
        assert word.name == "HLO"
    donor = glossary.find("buffer donor")
    assert donor is not None
    assert donor.name == "donation"
    assert glossary.find("no such word") is None


def test_texts_are_sentences() -> None:
    for word in EVERYTHING:
        assert word.words.endswith(".")
        assert word.words[0].isupper() or word.words[0] == "`"


def test_words_stand_in_the_order_of_the_alphabet() -> None:
    names = [word.name.casefold().replace("-", " ") for word in EVERYTHING]
    assert names == sorted(names)


def test_no_spelling_is_there_twice() -> None:
    spelled = [name.casefold() for entry in EVERYTHING for name in (entry.name, *entry.aliases)]
    assert len(spelled) == len(set(spelled))


def test_the_labels_of_llo_dumps_that_the_report_reads_are_explained() -> None:
    [labels] = re.findall(r"label_regex=\^\((.*)\)\$", " ".join(wants()["machine"].flags))
    known = {label for label in labels.split("|") if glossary.find(label) or stages.find(label)}
    assert known == set(labels.split("|"))
