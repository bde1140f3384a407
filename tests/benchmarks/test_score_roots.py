"""Scores of which instructions of the first snapshot a single step leads back to."""

import sys
from pathlib import Path

import pytest

from xlareport.analysis.matching.search.pairing import Place

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from score_roots import compare_roots, judge_dump

_FIRST, _SECOND = Place("main", "dot.1"), Place("main", "dot.2")


@pytest.mark.parametrize(
    ("known", "claimed", "verdict"),
    [
        ({_FIRST}, {_FIRST}, "right"),
        ({_FIRST, _SECOND}, {_FIRST}, "partly"),
        ({_FIRST}, {_SECOND}, "wrong"),
        ({_FIRST}, set(), "missed"),
        (set(), {_FIRST}, "invented"),
    ],
)
def test_the_single_step_is_judged_by_the_histories(
    known: set[Place], claimed: set[Place], verdict: str
) -> None:
    assert compare_roots(frozenset(known), frozenset(claimed)) == verdict


def test_a_dump_of_every_pass_has_a_verdict_on_each_counted_instruction(data: Path) -> None:
    verdicts = judge_dump(data / "jax-cpu-train")
    assert {verdict.devices for verdict in verdicts} == {"one"}
    assert {verdict.opcode for verdict in verdicts} >= {"dot", "fusion", "multiply"}
    assert not {verdict.opcode for verdict in verdicts} & {"bitcast", "parameter", "tuple"}
    assert all("the single step: " in verdict.words for verdict in verdicts)
