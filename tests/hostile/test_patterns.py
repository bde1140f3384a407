"""No regular expression takes more than linear time, as far as its form tells."""

import re

import pytest
from ambiguity import growth
from patterns import Used, used_patterns

LONGEST_NAME = 512
"""Characters: what is only put to names may be quadratic in these."""
EXCUSED = {
    "cli.terminal._ORDER": "what is long in it is looked for at the beginning of the text alone",
    "hlo.line._LINE": "from one closing bracket it looks no further than to the next opening one",
}


@pytest.fixture(scope="module")
def used() -> tuple[Used, ...]:
    """Return all patterns: to find them takes a second, which no other test should wait for."""
    return tuple(used_patterns())


def is_fast(pattern: Used) -> bool:
    allowed = {"linear", "polynomial"} if pattern.longest <= LONGEST_NAME else {"linear"}
    return growth(pattern.pattern, anywhere=pattern.anywhere) in allowed


def test_time_is_linear(used: tuple[Used, ...]) -> None:
    slow = {pattern.place for pattern in used if not is_fast(pattern)}
    assert slow <= set(EXCUSED)


def test_all_are_looked_at(used: tuple[Used, ...]) -> None:
    assert len(used) > 350
    assert set(EXCUSED) <= {pattern.place for pattern in used}


AT_A_PLACE = {
    r"(a+)+b": "exponential",
    r"(?:a|b|ab)*c": "exponential",
    r"(?:a*)*b": "exponential",
    r"a*a*b": "polynomial",
    r".*b.*c": "polynomial",
    r"\s*\n\s*x": "polynomial",
    r"a*+a*b": "linear",
    r"a*ba*c": "linear",
    r"\w+\s*=\s*\w+": "linear",
    r"a{1,100}a{1,100}b": "linear",
}
ANYWHERE = {
    r"<script[^>]*>": "polynomial",
    r"<script[^<>]*>": "linear",
    r"\d++\Z": "polynomial",
    r"\(\d++\)\Z": "linear",
    r"\d+": "linear",
    r"\b\w++=": "linear",
    r"(?<![a-z])[a-z]+=": "linear",
    r"[a-z]+=": "polynomial",
    r"^a[^\n]*b": "linear",
    r'"(?:[^"\\]|\\.)*+"': "polynomial",
    r'"(?:[^"\\]|\\.)*+"?+': "linear",
}


@pytest.mark.parametrize("pattern", AT_A_PLACE)
def test_what_is_known_of_a_pattern(pattern: str) -> None:
    assert growth(re.compile(pattern), anywhere=False) == AT_A_PLACE[pattern]


@pytest.mark.parametrize("pattern", ANYWHERE)
def test_what_is_known_of_a_pattern_that_is_looked_for(pattern: str) -> None:
    assert growth(re.compile(pattern), anywhere=True) == ANYWHERE[pattern]
