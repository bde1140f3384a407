"""Names and times of events of a profile."""

import pytest

from xlareport.readers.op_events import (
    OpEvent,
    instruction_name,
    is_time,
    module_name,
    run_name,
)


@pytest.mark.parametrize(
    ("written", "name"),
    [("%dot.1 = f32[] dot(a, b)", "dot.1"), ("dot.1=f32[]", "dot.1"), ("dot.1", "dot.1"), ("", "")],
)
def test_the_name_that_heads_the_text_of_an_instruction(written: str, name: str) -> None:
    assert instruction_name(written) == name


@pytest.mark.parametrize(
    ("written", "name"),
    [("jit_f(1234)", "jit_f"), ("jit_f", "jit_f"), ("f(x)", "f(x)"), ("f(1)(2)", "f(1)")],
)
def test_a_module_loses_the_number_of_its_program(written: str, name: str) -> None:
    assert module_name(written) == name


def test_a_run_without_a_name() -> None:
    assert run_name("-1") == ""
    assert run_name("7") == "7"


@pytest.mark.parametrize(
    ("start", "duration", "credible"),
    [(0, 0, True), (5, 10, True), (-1, 1, False), (0, -1, False), (1 << 62, 0, False)],
)
def test_times_that_a_clock_could_give(start: int, duration: int, credible: bool) -> None:  # noqa: FBT001 - the expected value of a case
    assert is_time(start, duration) is credible


def test_an_event_ends_after_its_duration() -> None:
    assert OpEvent("m", "dot.1", "", (0,), start=5, duration=10).end == 15
