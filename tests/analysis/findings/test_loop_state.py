"""What no iteration of a loop changes, and the loops in which that matters."""

import pytest
from tests.analysis.findings.texts import having
from tests.modules import parse_module

from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.findings.loop_state import (
    RepeatedLoop,
    follow_invariants,
    kept_elements,
    repeated_loops,
)
from xlareport.hlo.model import Computation

LOOP = having("loop-invariant-work")
BY_ANOTHER_TEST = (
    "  ROOT c = pred[] compare(i, k), direction=LT",
    """  less = pred[] compare(i, k), direction=LT
  x = f32[1024,1024] get-tuple-element(state), index=1
  finite = pred[] is-finite(x)
  ROOT c = pred[] and(less, finite)""",
)
BY_DATA = ("k = s32[] constant(16)", "k = s32[] get-tuple-element(state), index=0")


def loops(text: str) -> list[RepeatedLoop]:
    module = parse_module(text)
    return list(repeated_loops(module, count_cost(module)))


def body(text: str = LOOP) -> Computation:
    return parse_module(text).by_name["body"]


def test_a_loop_comes_with_its_body_and_trip_count() -> None:
    (loop,) = loops(LOOP)
    assert (loop.name, loop.body.name, loop.trips) == ("loop", "body", 16)
    assert loop.share_again == 15 / 16


def test_of_an_unknown_trip_count_each_iteration_counts_as_a_repeat() -> None:
    (loop,) = loops(LOOP.replace(*BY_DATA))
    assert loop.trips is None
    assert loop.share_again == 1


@pytest.mark.parametrize(
    ("trips", "repeats"), [("constant(0)", False), ("constant(1)", False), ("constant(2)", True)]
)
def test_a_loop_of_one_iteration_repeats_nothing(trips: str, repeats: bool) -> None:  # noqa: FBT001 - the expected value of a case
    assert bool(loops(LOOP.replace("constant(16)", trips))) is repeats


def test_a_loop_of_at_most_one_iteration_repeats_nothing() -> None:
    bounded = LOOP.replace(*BY_ANOTHER_TEST)
    (loop,) = loops(bounded)
    assert loop.trips is None  # at most 16
    assert not loops(bounded.replace("constant(16)", "constant(1)"))


def test_an_element_is_kept_if_the_next_state_has_it_at_its_place() -> None:
    assert [line.name for line in kept_elements(body())] == ["v"]
    assert not list(kept_elements(body(LOOP.replace("tuple(j, z, v)", "tuple(j, z, w1)"))))


def test_values_follow_with_the_elements_that_they_depend_on() -> None:
    behind = follow_invariants(body())
    assert behind["w"] == ("v",)
    assert behind["k"] == ()  # of a constant alone
    assert "z" not in behind  # it reads the element that changes
    assert "j" not in behind


@pytest.mark.parametrize("opcode", ["custom-call", "rng-bit-generator", "all-reduce", "call"])
def test_what_may_differ_or_act_is_not_followed(opcode: str) -> None:
    other = LOOP.replace("broadcast(v), dimensions={0}", f"{opcode}(v)", 1)
    assert "w" not in follow_invariants(body(other))


def test_of_a_tuple_in_the_body_only_the_element_counts() -> None:
    lines = (
        "  both = (f32[1024], f32[1024,1024]) tuple(v, x)\n"
        "  kept = f32[1024] get-tuple-element(both), index=0\n"
        "  changed = f32[1024,1024] get-tuple-element(both), index=1\n"
    )
    behind = follow_invariants(body(LOOP.replace("  w = f32", f"{lines}  w = f32", 1)))
    assert behind["kept"] == ("v",)
    assert "changed" not in behind
