from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from xlareport.analysis.cost.loops import (
    Loops,
    TripCount,
    find_trip_counts,
    unevaluated_conditions,
)
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

ReadModule: TypeAlias = Callable[[str], HloModule]
Unpack: TypeAlias = Callable[[str], Path]

COUNTER = """body {
  s = (s32[], f32[4], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[4] get-tuple-element(s), index=1
  y = f32[4] add(x, x)
  n = s32[] get-tuple-element(s), index=2
  ROOT t = (s32[], f32[4], s32[]) tuple(next, y, n)
}

condition {
  s = (s32[], f32[4], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=2
  ROOT less = pred[] compare(i, n), direction=LT
}
"""
ENTRY = """ENTRY e {
  zero = s32[] constant(0)
  start = s32[] copy(zero)
  bound = s32[] constant(7)
  x = f32[4] parameter(0)
  t = (s32[], f32[4], s32[]) tuple(start, x, bound)
  ROOT w = (s32[], f32[4], s32[]) while(t), condition=condition, body=body
}"""
LOOP = COUNTER + "\n" + ENTRY


def only_loop(module: HloModule) -> TripCount:
    found = [
        (place, one)
        for place in module.computations
        for one in place.instructions
        if one.opcode == "while"
    ]
    assert len(found) == 1
    return Loops(module).trip_count(*found[0])


@pytest.mark.parametrize(
    ("start", "step", "direction", "bound", "expected"),
    [
        (0, 1, "LT", 7, 7),
        (0, 2, "LT", 7, 4),
        (0, 2, "LE", 8, 5),
        (9, 1, "LT", 7, 0),
        (7, -1, "GT", 0, 7),
        (7, -2, "GE", 0, 4),
        (0, 3, "NE", 9, 3),
        (0, 3, "NE", 10, None),
        (0, 1, "GT", 7, None),
        (0, -1, "LT", 7, None),
    ],
)
def test_trips(start: int, step: int, direction: str, bound: int, expected: int | None) -> None:
    assert find_trip_counts(start, step, direction, bound) == expected


def test_a_bound_carried_through_the_state(module_of: ReadModule) -> None:
    found = only_loop(module_of(LOOP))
    assert (found.count, found.grade) == (7, "exact")
    assert found.reason == "Inferred from the loop condition: init 0, step 1, LT 7."


def test_compact_elements_and_a_mirrored_comparison(module_of: ReadModule) -> None:
    text = LOOP.replace("compare(i, n), direction=LT", "compare(s#2, s#0), direction=GT")
    assert only_loop(module_of(text)).count == 7


def test_the_compilers_note_comes_first(module_of: ReadModule) -> None:
    note = ', backend_config={"known_trip_count":{"n":"5"},"known_init_step":{"init":"0"}}'
    found = only_loop(module_of(LOOP.replace("body=body", "body=body" + note)))
    assert (found.count, found.reason) == (5, "From backend_config known_trip_count.")


def test_a_quoted_note(module_of: ReadModule) -> None:
    note = ', backend_config="{\\"known_trip_count\\":{\\"n\\":\\"5\\"}}"'
    assert only_loop(module_of(LOOP.replace("body=body", "body=body" + note))).count == 5


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("bound = s32[] constant(7)", "bound = s32[] parameter(1)", "bound"),
        ("zero = s32[] constant(0)", "zero = s32[] parameter(1)", "start"),
        ("next = s32[] add(i, one)", "next = s32[] multiply(i, one)", "step"),
        ("tuple(next, y, n)", "tuple(next, y, next)", "bound"),
        ("compare(i, n), direction=LT", "is-finite(i)", "not a comparison"),
        ("compare(i, n), direction=LT", "compare(i), direction=LT", "drawing"),
        ("direction=LT", "direction=GT", "does not run towards"),
        ("body=body", "body=elsewhere", "not in this module"),
        (
            "ROOT less = pred[] compare(i, n), direction=LT",
            (
                "less = pred[] compare(i, n), direction=LT\n"
                "  f = f32[4] get-tuple-element(s), index=1\n"
                "  finite = pred[] is-finite(f)\n  ROOT both = pred[] and(finite, less)"
            ),
            "At most 7: the condition also tests",
        ),
    ],
)
def test_what_cannot_be_told_says_why(
    module_of: ReadModule, old: str, new: str, reason: str
) -> None:
    found = only_loop(module_of(LOOP.replace(old, new)))
    assert (found.count, found.grade) == (None, "guessed")
    assert reason in found.reason


def test_a_loop_inside_a_loop_keeps_its_bound(module_of: ReadModule) -> None:
    outer = """outer_body {
  s = (s32[], f32[4], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  two = s32[] constant(2)
  next = s32[] add(i, two)
  zero = s32[] constant(0)
  x = f32[4] get-tuple-element(s), index=1
  n = s32[] get-tuple-element(s), index=2
  t = (s32[], f32[4], s32[]) tuple(zero, x, n)
  w = (s32[], f32[4], s32[]) while(t), condition=condition, body=body
  y = f32[4] get-tuple-element(w), index=1
  ROOT r = (s32[], f32[4], s32[]) tuple(next, y, n)
}
"""
    entry = ENTRY.replace("body=body", "body=outer_body")
    module = module_of(COUNTER + "\n" + outer + "\n" + entry)
    loops = Loops(module)
    inner = loops.trip_count(
        module.by_name["outer_body"], module.by_name["outer_body"].by_name["w"]
    )
    assert inner.count == 7
    assert loops.trip_count(module.by_name["e"], module.by_name["e"].by_name["w"]).count == 4


def test_calls_that_go_round_end(module_of: ReadModule) -> None:
    text = LOOP.replace("next = s32[] add(i, one)", "next = s32[] call(i), to_apply=body")
    assert only_loop(module_of(text)).count is None


def test_both_loops_of_a_tpu_scan_through_every_pass(unpacked: Unpack) -> None:
    reader, seen = TextReader(), 0
    for path in sorted(unpacked("tpu-v5e-scan").glob("*.txt")):
        text = path.read_bytes()
        module = reader.read(text, path.name) if b" while(" in text else None
        for place in module.computations if module else ():
            for one in place.instructions:
                if one.opcode == "while":
                    assert Loops(module).counted(place, one).count == 11
                    seen += 1
    assert seen > 200


def test_conditions_are_not_evaluated_if_the_trip_count_is_stated(read: ReadModule) -> None:
    stated = LOOP.replace("body=body", 'body=body, backend_config={"known_trip_count":{"n":"7"}}')
    assert unevaluated_conditions(read(LOOP)) == frozenset()
    assert unevaluated_conditions(read(stated)) == {"condition"}
