"""The answer on cost: equal times are counted, and loops of unknown trip count are told apart."""

from types import SimpleNamespace
from typing import Any

import pytest

from xlareport.pages.home.cost_answer import _tied, _tied_words, _uncounted


def heavy_row(name: str, seconds: float, opcode: str = "all-reduce-start") -> Any:
    return SimpleNamespace(instruction=name, seconds=seconds, opcode=opcode)


def test_instructions_that_need_the_same_time_are_counted() -> None:
    tied = [heavy_row(f"all-reduce-start.{number}", 111.8e-6) for number in (1, 11, 12, 2, 3)]
    cost: Any = SimpleNamespace(heaviest=[*tied, heavy_row("fusion", 1e-6, "fusion")])
    assert _tied_words(_tied(cost)) == (
        "5 all-reduces of 112 µs each (`%all-reduce-start.1`, `%all-reduce-start.2`, "
        "`%all-reduce-start.3` and 2 more)"
    )
    few: Any = SimpleNamespace(heaviest=[*tied[:3], heavy_row("fusion", 1e-6, "fusion")])
    assert not _tied(few)


@pytest.mark.parametrize(
    ("unknown", "trips", "opcodes", "words"),
    [
        (0, [4], [], ""),
        (1, [None, 4], [], " 1 loop of unknown trip count: counted once."),
        (1, [], ["custom-call"], " 1 custom call cannot be counted."),
        (
            3,
            [None],
            ["custom-call", "rng"],
            (
                " 2 instructions cannot be counted (1 custom call among them). "
                "1 loop of unknown trip count: counted once."
            ),
        ),
    ],
)
def test_loops_of_unknown_trip_count_are_no_uncounted_instructions(
    unknown: int, trips: list[int | None], opcodes: list[str], words: str
) -> None:
    loops = [
        SimpleNamespace(
            instruction="loop", trip_count=SimpleNamespace(count=count, most=None), seconds=0.0
        )
        for count in trips
    ]
    uncounted = [SimpleNamespace(opcode=opcode) for opcode in opcodes]
    totals = SimpleNamespace(unknown_ops=unknown)
    cost: Any = SimpleNamespace(totals=totals, loops=loops, uncounted=uncounted, whole_seconds=1.0)
    assert _uncounted(cost) == words
