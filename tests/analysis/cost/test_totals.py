"""Totals of computations: what an instruction costs alone, and with all that it runs."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost.loops import Loops
from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.totals import (
    MOST_WORK,
    NO_COST,
    Composition,
    Tallies,
    Total,
    total_of,
    weight,
)
from xlareport.hlo.graph import callees_first

TEXT = """HloModule m

%sum (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] add(%p, %q)
}

%fused (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %n = f32[8]{0} negate(%a)
  ROOT %e = f32[8]{0} exponential(%n)
}

%body (t: (s32[], f32[8])) -> (s32[], f32[8]) {
  %t = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%t), index=0
  %x = f32[8]{0} get-tuple-element(%t), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %double = f32[8]{0} add(%x, %x)
  ROOT %r = (s32[], f32[8]{0}) tuple(%next, %double)
}

%cond (t: (s32[], f32[8])) -> pred[] {
  %t = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%t), index=0
  %five = s32[] constant(5)
  ROOT %less = pred[] compare(%i, %five), direction=LT
}

%cheap (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%a)
}

%dear (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} negate(%a)
  ROOT %n = f32[8]{0} negate(%b)
}

ENTRY %main (x: f32[8], which: pred[]) -> f32[] {
  %x = f32[8]{0} parameter(0)
  %which = pred[] parameter(1)
  %zero = s32[] constant(0)
  %start = (s32[], f32[8]{0}) tuple(%zero, %x)
  %loop = (s32[], f32[8]{0}) while(%start), condition=%cond, body=%body
  %y = f32[8]{0} get-tuple-element(%loop), index=1
  %f = f32[8]{0} fusion(%y), kind=kLoop, calls=%fused
  %c = f32[8]{0} conditional(%which, %f, %f), true_computation=%cheap, false_computation=%dear
  %called = f32[8]{0} call(%c), to_apply=%cheap
  %init = f32[] constant(0)
  ROOT %all = f32[] reduce(%called, %init), dimensions={0}, to_apply=%sum
}
"""


def composed(text: str) -> Composition:
    module = parse_module(text)
    order, tallies = callees_first(module) or (), Tallies()
    composition = Composition(
        module,
        {computation.name: tallies.of(computation) for computation in order},
        Loops(module),
    )
    for computation in order:
        composition.add(computation)
    return composition


def cost(composition: Composition, name: str, computation: str = "main") -> Total:
    home = composition.module.by_name[computation]
    (local,) = (
        local for local in composition.tallies[computation].locals if local.instruction.name == name
    )
    return composition.cost(home, local)


def test_totals_are_added_and_multiplied_figure_by_figure() -> None:
    total = Total(1, 2, 3) + Total(10, 20, 30) * 2
    assert total == Total(21, 42, 63)
    assert total_of([total, total, NO_COST]) == total * 2
    assert total.arithmetic() == Total(21, 42, 0)
    assert weight(total) == 21 + 42 + 630


def test_a_loop_runs_its_body_as_often_as_it_goes_round_and_its_condition_once_more() -> None:
    composition = composed(TEXT)
    body, condition = composition.own["body"], composition.own["cond"]
    assert cost(composition, "loop") == body * 5 + condition * 6
    assert body.flops == 1 + 8
    assert condition.flops == 1


def test_a_fusion_accesses_its_operands_and_results_and_computes_what_is_inside() -> None:
    assert cost(composed(TEXT), "f") == Total(8, 8, 2 * 32)


def test_a_conditional_costs_its_dearest_branch() -> None:
    composition = composed(TEXT)
    assert cost(composition, "c") == composition.own["dear"]
    assert weight(composition.own["dear"]) > weight(composition.own["cheap"])


def test_a_call_costs_what_it_calls() -> None:
    composition = composed(TEXT)
    assert cost(composition, "called") == composition.own["cheap"] == Total(8, 0, 64)


def test_a_reduction_applies_its_computation_without_its_bytes() -> None:
    assert cost(composed(TEXT), "all") == Total(7, 0, 32 + 4 + 4)


def test_the_total_of_a_computation_is_that_of_its_instructions() -> None:
    composition = composed(TEXT)
    module = composition.module
    names = [instruction.name for instruction in module.by_name["main"].instructions]
    assert composition.own["main"] == total_of(cost(composition, name) for name in names)


def test_equal_instructions_on_equal_shapes_are_counted_once() -> None:
    module, tallies = parse_module(TEXT), Tallies()
    first, second = (tallies.of(module.by_name[name]) for name in ("cheap", "fused"))
    assert first.locals[0] is second.locals[0]  # the same parameter
    assert first.own == Total(8, 0, 64)
    assert second.calling == ()


def test_an_instruction_that_cannot_be_counted_is_a_guess_of_nothing() -> None:
    text = (
        "HloModule m\n\nENTRY %e (x: f32[8]) -> f32[8] {\n  ROOT %r = f32[8] add(%gone, %gone)\n}\n"
    )
    (local,) = Tallies().of(parse_module(text).by_name["e"]).locals
    assert (local.work, local.traffic, local.grade) == (None, None, "guessed")
    assert local.note


def test_a_custom_call_with_computations_is_counted_by_these() -> None:
    composition = composed(
        TEXT.replace(
            "call(%c), to_apply=%cheap", 'custom-call(%c), custom_call_target="x", calls=%cheap'
        )
    )
    (local,) = (
        local for local in composition.tallies["main"].locals if local.instruction.name == "called"
    )
    assert (local.runs_callees, local.grade) == (True, "matched")
    assert cost(composition, "called") == composition.own["cheap"]


def test_a_sum_that_cannot_be_meant_is_refused() -> None:
    body = TEXT
    for _ in range(3):
        body = body.replace("constant(5)", f"constant({2**62})")
    composition = composed(body.replace("s32[]", "s64[]"))
    composition.own["body"] = Total(MOST_WORK)
    with pytest.raises(UncountableError, match="main cannot be as dear"):
        composition.add(composition.module.by_name["main"])
