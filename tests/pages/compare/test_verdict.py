"""Whether a comparison shows a regression, in one sentence."""

from dataclasses import replace

import pytest

from xlareport.analysis.compare.comparison import compare_figure
from xlareport.analysis.compare.verdict import Basis, Direction, Judgement, Verdict
from xlareport.knowledge.grades import Grade
from xlareport.pages.compare.verdict import regression_sentence, time_row

LESS_MEMORY = Judgement(
    Direction.LESS, Basis.PEAK, Grade.EXACT, compare_figure("occupied_peak_bytes", 200, 180)
)
MORE_MEMORY = Judgement(
    Direction.MORE, Basis.PEAK, Grade.EXACT, compare_figure("occupied_peak_bytes", 200, 220)
)
UNKNOWN = Judgement(Direction.UNKNOWN, Basis.NONE, Grade.GUESSED)


def slower(head: int, basis: Basis, grade: Grade) -> Judgement:
    return Judgement(Direction.MORE, basis, grade, compare_figure("time", 1000, head))


GUESSED = slower(1034, Basis.ROOFLINE, Grade.GUESSED)


def test_a_small_change_of_a_guessed_estimate_is_no_regression() -> None:
    said = regression_sentence(Verdict(GUESSED, LESS_MEMORY), is_changed=True)
    assert said == (
        "Not shown: 3.4% slower by an estimate for a guessed device, too little to tell from none; "
        "10.0% less memory; the program was changed, so both need not do the same work."
    )
    assert time_row(GUESSED).look == ""
    assert time_row(replace(GUESSED, grade=Grade.MATCHED)).look == "xr-worse"


@pytest.mark.parametrize(
    ("time", "memory", "words"),
    [
        (slower(1200, Basis.ROOFLINE, Grade.GUESSED), LESS_MEMORY, "Probably: 20.0% slower (roof"),
        (slower(1034, Basis.ROOFLINE, Grade.MATCHED), LESS_MEMORY, "Probably: 3.4% slower (roof"),
        (slower(1034, Basis.MEASURED, Grade.EXACT), LESS_MEMORY, "Yes: 3.4% slower (measured)"),
        (GUESSED, MORE_MEMORY, "In memory: 3.4% slower by an estimate"),
        (UNKNOWN, LESS_MEMORY, "Not shown: the time cannot be compared; 10.0% less memory."),
        (UNKNOWN, UNKNOWN, "Not shown: the time cannot be compared; the memory cannot be"),
        (replace(GUESSED, direction=Direction.SAME, basis=Basis.CODE), LESS_MEMORY, "No: "),
    ],
)
def test_the_answer_rests_on_what_is_known(time: Judgement, memory: Judgement, words: str) -> None:
    said = regression_sentence(Verdict(time, memory), is_changed=False)
    assert said.startswith(words)
    assert "program was changed" not in said
