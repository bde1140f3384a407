"""Claims about real steps, each checked by hand; see the README beside them."""

import csv
import io
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import zstandard

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.knowledge.grades import Grade

SAMPLE = Path(__file__).parent / "data" / "gpu-checked"
GROUPS = frozenset({Relation.FUSED, Relation.INLINED, Relation.OUTLINED})
HARDEST = ("priority-fusion", "rename-instructions")

Row = Mapping[str, str]
Step = tuple[str, str]


def checked() -> list[Row]:
    with (SAMPLE / "checked.tsv").open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def files_of(row: Row) -> Step:
    return row["file_before"], row["file_after"]


def snapshots() -> Iterator[tuple[str, HloModule]]:
    reader = TextReader()
    with (SAMPLE / "snapshots.tar.zst").open("rb") as packed:
        content = zstandard.ZstdDecompressor().stream_reader(packed).read()
    with tarfile.open(fileobj=io.BytesIO(content)) as files:
        for member in files:
            stream = files.extractfile(member)
            assert stream is not None
            module = reader.read(stream.read(), member.name)
            assert module is not None
            yield member.name, module


@pytest.fixture(scope="module")
def matchings() -> dict[Step, Matching]:
    modules = dict(snapshots())
    return {step: match(modules[step[0]], modules[step[1]]) for step in map(files_of, checked())}


def place(text: str) -> Place | None:
    computation, mark, instruction = text.partition("/%")
    return Place(computation, instruction) if mark else None


def says(matching: Matching, before: Place | None, after: Place | None) -> bool:
    """Whether a matching pairs two places; None on one side: that it has none."""
    if before is not None and before == after and matching.pairing_before(before) is None:
        return matching.partner_after(before) == after
    for pairing in matching.pairings:
        here, there = pairing.before or (None,), pairing.after or (None,)
        if before in here and (after in there or holds(matching, pairing, after)):
            return True
    return False


def holds(matching: Matching, pairing: Pairing, after: Place | None) -> bool:
    """Whether a fusion was merged into one whose computation holds a place."""
    if pairing.relation is not Relation.ABSORBED or after is None:
        return False
    lines = [matching.after.find(*one) for one in pairing.after]
    return any(after.computation == name for line in lines if line for _, name in line.called)


def is_right(row: Row, matching: Matching) -> bool:
    return says(matching, place(row["true_before"]), place(row["true_after"]))


def test_at_least_95_percent_of_what_was_checked_is_said_rightly(
    matchings: dict[Step, Matching],
) -> None:
    wrong = [row for row in checked() if not is_right(row, matchings[files_of(row)])]
    assert len(wrong) <= 0.05 * len(checked()), wrong


@pytest.mark.parametrize("name", HARDEST)
def test_the_hardest_passes_are_told_rightly(name: str, matchings: dict[Step, Matching]) -> None:
    rows = [row for row in checked() if row["pass"] == name]
    assert all(is_right(row, matchings[files_of(row)]) for row in rows)


def test_the_sample_holds_what_its_readme_says() -> None:
    verdicts = Counter((row["draw"], row["verdict"]) for row in checked())
    assert verdicts == {
        ("1", "right"): 184,
        ("1", "wrong"): 16,
        ("2", "right"): 98,
        ("2", "wrong"): 2,
    }


@pytest.mark.parametrize("name", HARDEST)
def test_four_in_five_instructions_are_placed_surely(
    name: str, matchings: dict[Step, Matching]
) -> None:
    for step in {files_of(row) for row in checked() if row["pass"] == name}:
        matching = matchings[step]
        guessed = [pairing for pairing in matching.pairings if pairing.grade is Grade.GUESSED]
        assert len(guessed) <= 0.2 * matching.after.instruction_count


def test_no_place_has_two_primary_partners(matchings: dict[Step, Matching]) -> None:
    for matching in matchings.values():
        partners = [
            (pairing.before[0], pairing.after[0])
            for pairing in matching.pairings
            if pairing.before and pairing.after and pairing.relation not in GROUPS
        ]
        for side in zip(*partners, strict=True):
            assert max(Counter(side).values()) == 1
