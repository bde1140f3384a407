"""Sentences of report.json: how long a value lives."""

import pytest
from msgspec.structs import replace

from xlareport.analysis.cost.lifetimes import End, Follower, Lifetime
from xlareport.knowledge.main_record import main_record
from xlareport.records.sentences import sureness, why

USED = Lifetime(
    start=1, end=5, positions=9, ends=End.USE, last_use="dot.1", operand=0, uses=3
)  # fmt: skip
FOLLOWER = Follower("while.2", (1,), end=8, ends=End.USE, last_use="add.3", operand=0)


@pytest.mark.parametrize(
    ("lifetime", "words"),
    [
        (None, ""),
        (USED, "last use %dot.1 (operand 0, last of 3 by XLA's count)"),
        (replace(USED, uses=1), "last use %dot.1 (operand 0)"),
        (replace(USED, operand=None, uses=None), "last use %dot.1"),
        (replace(USED, ends=End.ARGUMENT), "entry parameter"),
        (replace(USED, ends=End.RESULT), "output"),
        (replace(USED, operand=None, uses=0), "no use; its memory is in use until %dot.1"),
        (
            replace(USED, operand=None, last_read=("copy.4", 1)),
            (
                "last use %copy.4 (operand 1, last of 3 by XLA's count); "
                "its memory is in use until %dot.1"
            ),
        ),
        (
            replace(USED, follower=FOLLOWER),
            "as %while.2{1} until %add.3 (position 8); last own use %dot.1",
        ),
        (
            replace(USED, follower=replace(FOLLOWER, ends=End.RESULT)),
            "output as %while.2{1}; last own use %dot.1",
        ),
        (
            replace(USED, operand=None, follower=FOLLOWER),
            "as %while.2{1} until %add.3 (position 8); no own use",
        ),
    ],
)
def test_why_a_value_is_live_that_long(lifetime: Lifetime | None, words: str) -> None:
    assert why(lifetime) == words


def test_every_recorded_sureness_has_words() -> None:
    for name in ("clear", "likely", "tie", "only", "marker"):
        assert sureness(name)
    assert main_record().keys() - {"unseen"} <= {"clear", "likely", "tie", "only"}
