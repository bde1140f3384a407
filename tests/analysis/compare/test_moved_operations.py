"""Ops that a program has in another loop or call than before."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.modules import parse_module

from xlareport.analysis.compare.cause_words import program as describe_program_change
from xlareport.analysis.compare.given_program import read_program
from xlareport.analysis.compare.moved_operations import Depth, Move, find_moves, read_depths
from xlareport.analysis.compare.program_changes import ChangeKind, ProgramChange

BODY = """HloModule f

inner {
  q = f32[4] parameter(0)
  INNER
  ROOT n = f32[4] negate(q), metadata={op_name="jit(f)/neg"}
}

cond {
  c = f32[4] parameter(0)
  ROOT t = pred[] constant(true)
}

body {
  p = f32[4] parameter(0)
  ROOT k = f32[4] call(p), to_apply=inner, metadata={op_name="jit(f)/while/body/g"}
}

ENTRY main {
  x = f32[4] parameter(0)
  OUTER
  ROOT w = f32[4] while(x), condition=cond, body=body, metadata={op_name="jit(f)/while"}
}
"""
SINE = 's = f32[4] sine({}), metadata={{op_name="jit(f)/sin"}}'
INSIDE = BODY.replace("INNER", SINE.format("q")).replace("  OUTER\n", "")
OUTSIDE = BODY.replace("OUTER", SINE.format("x")).replace("  INNER\n", "")


def test_the_loops_and_calls_around_a_computation() -> None:
    depths = read_depths(parse_module(INSIDE))
    assert depths["body"] == depths["cond"] == Depth(loops=1)
    assert depths["inner"] == Depth(loops=1, calls=1)


def test_an_op_that_left_a_loop() -> None:
    base, head = (read_program(parse_module(text)).operations for text in (INSIDE, OUTSIDE))
    assert find_moves(base, head) == (Move("sin", 1, Depth(1, 1), Depth()),)
    assert find_moves(base, base) == ()


@pytest.mark.parametrize(
    ("base", "head", "words"),
    [
        (Depth(2, 1), Depth(), "6 `psum` are outside of loops instead of in 2 nested loops"),
        (Depth(1, 0), Depth(1, 1), "6 `psum` are in a call instead of outside of calls"),
    ],
)
def test_where_it_is_in_words(base: Depth, head: Depth, words: str) -> None:
    change = ProgramChange(ChangeKind.OTHER, "", "", 6, moves=(Move("psum", 6, base, head),))
    comparison = cast("Any", SimpleNamespace(base=None, head=None))
    sentence = describe_program_change(change, comparison)
    assert sentence == f"The program has the same operations in other places: {words}."
