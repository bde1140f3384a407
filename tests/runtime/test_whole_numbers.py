import pytest

from xlareport.runtime.whole_numbers import parse_whole_number, round_up


def test_what_xla_writes_is_read() -> None:
    assert [parse_whole_number(text) for text in ("0", "007", "9" * 18)] == [0, 7, 10**18 - 1]


@pytest.mark.parametrize(
    "text", ["", "-1", "+1", " 1", "1_0", "²", "٣", "1.0", "9" * 19, "9" * 5000]
)
def test_anything_else_is_none(text: str) -> None:
    assert parse_whole_number(text) is None


@pytest.mark.parametrize(("number", "expected"), [(0, 0), (1, 4), (4, 4), (5, 8)])
def test_a_number_is_rounded_up_to_a_multiple(number: int, expected: int) -> None:
    assert round_up(number, 4) == expected
