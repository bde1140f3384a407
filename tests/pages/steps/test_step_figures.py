import pytest

from xlareport.analysis.passes.growth import Growth
from xlareport.analysis.passes.pass_times import StepTime
from xlareport.analysis.steps.effect import StepEffect
from xlareport.pages.steps.step_figures import (
    describe_uncounted,
    effect_chips,
    step_figures,
    time_words,
)


def test_each_figure_has_what_was_what_is_and_the_difference() -> None:
    before, after = Growth(10, 2, 0, 2_000, 4096), Growth(8, 3, 0, 1_000, 4096)
    assert step_figures(before, after) == (
        ("instructions", "10", "8", "\N{MINUS SIGN}2"),
        ("computations", "2", "3", "+1"),
        ("fusions", "0", "0", ""),
        ("FLOPs", "2.00 kFLOP", "1.00 kFLOP", "\N{MINUS SIGN}1.00 kFLOP"),
        ("bytes accessed", "4.0 KiB", "4.0 KiB", ""),
    )


def test_what_is_not_known_on_both_sides_is_left_out() -> None:
    rows = step_figures(Growth(1, 1, 0, None, 5), Growth(1, 1, 0, 7, None))
    assert [what for what, *_ in rows] == ["instructions", "computations", "fusions"]


def test_what_was_not_counted_is_named() -> None:
    before = Growth(1, 1, 0, 5, None)
    assert describe_uncounted(before, before) == "Not counted for this step: bytes accessed."
    assert not describe_uncounted(Growth(1, 1, 0, 5, 6), Growth(1, 1, 0, 7, 8))


@pytest.mark.parametrize(
    ("time", "said"),
    [
        (None, ""),
        (StepTime(0.0021, measured=True), "The passes of this step took 2.1 ms by the compiler"),
        (StepTime(3.5, measured=False), "About 3.5 s lie between the times of the two files; "),
        (
            StepTime(3.0, measured=False),
            "About 3 s lie between the times of the two files, which are",
        ),
    ],
)
def test_a_time_says_how_it_is_known(time: StepTime | None, said: str) -> None:
    assert time_words(time).startswith(said)


def test_what_partitioning_takes_from_one_device_is_no_saving() -> None:
    before = Growth(10, 2, 0, 4_000, 8192)
    after = Growth(12, 2, 0, 1_000, 2048, partitions=4)
    *_, work, moved = step_figures(before, after)
    said = "1.00 kFLOP per device, 4.00 kFLOP on all 4"
    assert work == ("FLOPs", "4.00 kFLOP", said, "partitioned")
    assert moved[2:] == ("2.0 KiB per device, 8.0 KiB on all 4", "partitioned")
    *_, work, _ = step_figures(after, Growth(12, 2, 0, 500, 2048, partitions=4))
    assert work[0] == "FLOPs per device"
    assert work[3] == "\N{MINUS SIGN}500 FLOP"
    *_, work, _ = step_figures(after, Growth(12, 2, 0, 1_000, 2048))
    assert work == ("FLOPs", "1.00 kFLOP", "1.00 kFLOP", "")


def test_the_effect_of_a_step_is_told_in_a_few_words() -> None:
    effect = StepEffect(fusions=-3, collectives=1, precision=14, layout=2, order=1200)
    assert list(effect_chips(effect, Growth(9, 1, 9, 1, 1000), Growth(9, 1, 6, 1, 877))) == [
        ("collectives", "1 collective"),
        ("fusions", "\N{MINUS SIGN}3 fusions"),
        ("bytes", "\N{MINUS SIGN}12.3% bytes"),
        ("precision", "14 precision"),
        ("layout", "2 layout"),
        ("order", "1,200 reordered"),
    ]


def test_bytes_that_grow_many_times_are_written_in_full() -> None:
    (chip,) = effect_chips(StepEffect(), Growth(9, 1, 0, 1, 1000), Growth(9, 1, 0, 1, 27_700))
    assert chip == ("bytes", "+2,670% bytes")


def test_work_of_dead_code_is_told_beside_the_figure_that_has_it() -> None:
    before = Growth(10, 2, 0, 4_000, 8192)
    after = Growth(14, 2, 0, 2_000, 2048, partitions=4, dead_flops=1_000, dead_bytes_accessed=0)
    *_, work, moved = step_figures(before, after)
    device, everywhere = (
        "2.00 kFLOP (1.00 kFLOP in dead code)",
        "8.00 kFLOP (4.00 kFLOP in dead code)",
    )
    assert work == (
        "FLOPs",
        "4.00 kFLOP",
        f"{device} per device, {everywhere} on all 4",
        "partitioned",
    )
    assert moved[2] == "2.0 KiB per device, 8.0 KiB on all 4"
    *_, work, _ = step_figures(after, Growth(12, 2, 0, 1_000, 2048, partitions=4))
    assert work[1:] == (device, "1.00 kFLOP", "\N{MINUS SIGN}1.00 kFLOP")


def test_a_step_that_leaves_work_dead_changes_no_total_but_the_figure() -> None:
    before, after = Growth(10, 2, 0, 2_000, 64), Growth(10, 2, 0, 2_000, 64, dead_flops=1_000)
    *_, work, _ = step_figures(before, after)
    assert work == ("FLOPs", "2.00 kFLOP", "2.00 kFLOP (1.00 kFLOP in dead code)", "same total")
