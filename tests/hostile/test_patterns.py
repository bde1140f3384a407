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
USED = tuple(used_patterns())


@pytest.mark.parametrize("used", USED, ids=[used_pattern.place for used_pattern in USED])
def test_time_is_linear(used: Used) -> None:
    found = growth(used.pattern, anywhere=used.anywhere)
    allowed = {"linear", "polynomial"} if used.longest <= LONGEST_NAME else {"linear"}
    assert found in allowed or used.place in EXCUSED


def test_all_are_looked_at() -> None:
    assert len(USED) > 350
    assert set(EXCUSED) <= {used_pattern.place for used_pattern in USED}


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
