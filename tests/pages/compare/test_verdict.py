"""Whether a comparison shows a regression, in one sentence."""

import pytest
from msgspec.structs import replace

from xlareport.analysis.compare.comparison import compare_figure
from xlareport.analysis.compare.verdict import (
    Basis,
    Direction,
    Judgement,
    Verdict,
    WorkChange,
    change_of_work,
)
from xlareport.knowledge.grades import Grade
from xlareport.pages.compare.verdict import (
    describe_regression,
    describe_verdict,
    memory_row,
    time_row,
)

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


def test_what_more_than_doubled_is_a_factor() -> None:
    memory = replace(MORE_MEMORY, quantity=compare_figure("occupied_peak_bytes", 200, 1300))
    assert memory_row(memory).headline == "6.5x the memory"
    assert time_row(slower(4320, Basis.ROOFLINE, Grade.MATCHED)).headline == "4.3x the time"
    assert time_row(slower(2000, Basis.ROOFLINE, Grade.MATCHED)).headline == "100.0% slower"


def test_a_change_of_no_weight_is_no_regression() -> None:
    time = replace(GUESSED, direction=Direction.SAME, floor=100)
    memory = replace(MORE_MEMORY, direction=Direction.SAME, floor=16 << 10)
    verdict = Verdict(time, memory)
    assert (
        describe_verdict(verdict) == "As fast to within 100 ns, the same memory to within 16 KiB."
    )
    assert describe_regression(verdict, "").startswith("No: as fast to within 100 ns (roofline")
    assert memory_row(memory).figures == "200 B to 220 B"


def test_what_an_estimate_cannot_resolve_is_said_to_be_within_its_error() -> None:
    assert describe_verdict(Verdict(GUESSED, LESS_MEMORY)) == (
        "3.4% slower (within the error of the estimate), 10.0% less memory."
    )


def test_a_small_change_of_a_guessed_estimate_is_no_regression() -> None:
    said = describe_regression(Verdict(GUESSED, LESS_MEMORY), "the program was changed")
    assert said == (
        "Not shown: 3.4% slower by an estimate for a guessed device, too little to be significant; "
        "10.0% less memory; the program was changed, so the two may not do the same work."
    )
    assert time_row(GUESSED).look == ""
    assert time_row(replace(GUESSED, grade=Grade.MATCHED)).look == "xr-worse"


@pytest.mark.parametrize(
    ("time", "memory", "words"),
    [
        (slower(1200, Basis.ROOFLINE, Grade.GUESSED), LESS_MEMORY, "Probably: 20.0% slower (roof"),
        (slower(1034, Basis.ROOFLINE, Grade.MATCHED), LESS_MEMORY, "Probably: 3.4% slower (roof"),
        (slower(1034, Basis.MEASURED, Grade.EXACT), LESS_MEMORY, "Yes: 3.4% slower (measured)"),
        (GUESSED, MORE_MEMORY, "Yes, in memory: 10.0% more memory; 3.4% slower by an estimate"),
        (UNKNOWN, LESS_MEMORY, "Not shown: the time cannot be compared; 10.0% less memory."),
        (UNKNOWN, UNKNOWN, "Not shown: the time cannot be compared; the memory cannot be"),
        (replace(GUESSED, direction=Direction.SAME, basis=Basis.CODE), LESS_MEMORY, "No: "),
    ],
)
def test_the_answer_rests_on_what_is_known(time: Judgement, memory: Judgement, words: str) -> None:
    said = describe_regression(Verdict(time, memory), "")
    assert said.startswith(words)
    assert "program was changed" not in said


def more_work(time: int, flops: int) -> WorkChange | None:
    return change_of_work(
        slower(time, Basis.ROOFLINE, Grade.MATCHED), compare_figure("flops", 1000, flops)
    )


def test_more_work_in_as_much_more_time_is_no_regression() -> None:
    """A layer more: FLOPs rise as the time does."""
    time = slower(1501, Basis.ROOFLINE, Grade.MATCHED)
    verdict = Verdict(time, MORE_MEMORY, more_work(1501, 1497))
    assert describe_regression(verdict, "the program was changed") == (
        "No sign of one: the program was changed, with 49.7% more FLOPs; 50.1% more time "
        "(roofline estimate, not measured), per FLOP unchanged; 10.0% more memory."
    )
    assert describe_verdict(verdict) == "50.1% more time for 49.7% more FLOPs, 10.0% more memory."
    row = time_row(time, verdict.work)
    assert (row.headline, row.look) == ("50.1% more time for 49.7% more FLOPs", "")
    assert [memory_row(MORE_MEMORY, work).look for work in (verdict.work, None)] == ["", "xr-worse"]


def test_more_time_than_work_is_told_per_flop() -> None:
    time = slower(1500, Basis.ROOFLINE, Grade.MATCHED)
    verdict = Verdict(time, LESS_MEMORY, more_work(1500, 1200))
    assert describe_regression(verdict, "the program was changed") == (
        "Probably: 50.0% slower (roofline estimate, not measured); 10.0% less memory; the program "
        "was changed, with 20.0% more FLOPs, per FLOP it is 25.0% slower."
    )
    assert describe_verdict(verdict) == "50.0% slower, 10.0% less memory."


def test_memory_that_grows_beyond_the_work_is_told() -> None:
    memory = replace(MORE_MEMORY, quantity=compare_figure("occupied_peak_bytes", 200, 400))
    time = slower(1501, Basis.ROOFLINE, Grade.MATCHED)
    said = describe_regression(
        Verdict(time, memory, more_work(1501, 1497)), "the program was changed"
    )
    assert memory_row(memory, more_work(1501, 1497)).look == "xr-worse"
    assert said.startswith("Yes, in memory: the program was changed, with 49.7% more FLOPs; 50.1%")


def test_hardly_more_work_explains_nothing() -> None:
    assert more_work(1500, 1004) is None


@pytest.mark.parametrize(
    ("head", "headline"),
    [(900, "no significant change: runs differ by more"), (1000, "as fast")],
)
def test_measured_times_within_the_noise_of_runs_are_not_called_equal(
    head: int, headline: str
) -> None:
    quantity = compare_figure("time", 1000, head)
    judgement = Judgement(Direction.SAME, Basis.MEASURED, Grade.EXACT, quantity)
    assert time_row(judgement).headline == headline
