"""Decisions of the fusion pass, followed to the instruction that came of them."""

from collections.abc import Callable
from pathlib import Path

from tests.modules import parse_module

from xlareport.analysis.code.decisions import group_decisions
from xlareport.analysis.code.unfused_pairs import SLOWER, list_unfused_finally
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.readers.fusion_decisions import FusionDecision, read_fusion_decisions

TEXT = b"""HloModule m

fused {
  p = f32[4] parameter(0)
  mul.3.1 = f32[4] negate(p)
  ROOT add.5.2 = f32[4] negate(mul.3.1)
}

ENTRY main {
  a = f32[4] parameter(0)
  dot.1 = f32[4] negate(a)
  loop_add_fusion = f32[4] fusion(dot.1), kind=kLoop, calls=fused
  ROOT reduce.7 = f32[4] negate(loop_add_fusion)
}
"""


def module() -> HloModule:
    return parse_module(TEXT)


def fused(producer: str, consumer: str, fusion: str) -> FusionDecision:
    return FusionDecision("fusion", producer, (consumer,), fusion, "", None, None)


def refused(producer: str, reason: str) -> FusionDecision:
    return FusionDecision("producer_ineligible", producer, (), "", reason, None, None)


def test_a_fusion_of_a_fusion_is_followed_to_the_instruction_of_the_end() -> None:
    steps = (
        refused("dot.1", "no"),
        fused("mul.3.0", "add.5.0", "fusion.1"),
        fused("exp.9", "fusion.1", "fusion.2"),
        refused("fusion.2", "the consumer is not fusible"),
    )
    found, gone = group_decisions(steps, module())
    assert gone == ()
    assert found["main", "dot.1"].decisions == steps[:1]
    assert found["main", "loop_add_fusion"].decisions == steps[1:]
    assert found["main", "loop_add_fusion"].grade == "matched"
    assert set(found) == {("main", "dot.1"), ("main", "loop_add_fusion")}


JOINED = b"""HloModule m

fused {
  p = f32[4] parameter(0)
  mul.3.1 = f32[4] negate(p)
  add.5.2 = f32[4] negate(mul.3.1)
  exp.7.1 = f32[4] negate(p)
  view.1 = f32[2,2] bitcast(exp.7.1)
  sub.8.1 = f32[4] negate(p)
  ROOT t = (f32[4], f32[2,2], f32[4]) tuple(add.5.2, view.1, sub.8.1)
}

ENTRY main {
  a = f32[4] parameter(0)
  loop_fusion = (f32[4], f32[2,2], f32[4]) fusion(a), kind=kLoop, calls=fused
  first = f32[4] get-tuple-element(loop_fusion), index=0
  second = f32[2,2] get-tuple-element(loop_fusion), index=1
  x = f32[4] custom-call(first), custom_call_target="k"
  y = f32[2,2] negate(second)
  ROOT r = (f32[4], f32[2,2]) tuple(x, y)
}
"""


def test_what_was_weighed_apart_and_joined_later_has_decisions_by_result() -> None:
    joined = parse_module(JOINED)
    slower = FusionDecision("update_priority", "exp.7.0", ("y",), "", "", 405.0, 320.0)
    steps = (
        fused("mul.3.0", "add.5.0", "fusion.1"),
        refused("fusion.1", "only bitcast users"),
        slower,
    )
    linked, _ = group_decisions(steps, joined)
    results = linked["main", "loop_fusion"].results
    assert results == {0: steps[:2], 1: (slower,)}
    pairs = {pair.consumer: pair.reason for pair in list_unfused_finally(joined, steps)}
    assert pairs == {"x": "only bitcast users", "y": SLOWER}


def test_a_copy_that_a_later_pass_made_is_not_what_the_pass_refused() -> None:
    text = TEXT.replace(
        b"  dot.1 =", b"  copy.8 = f32[4] copy(a)\n  copy.9 = f32[4] copy(a)\n  dot.1 ="
    )
    parsed = parse_module(text)
    step = refused("copy.3", "the consumer is not fusible")
    assert group_decisions([step], parsed) == ({}, (step,))


def test_names_that_nothing_has_are_told_apart() -> None:
    step = refused("mystery.1", "no")
    assert group_decisions([step], module()) == ({}, (step,))


def test_most_decisions_of_a_gpu_dump_are_followed(unpacked: Callable[[str], Path]) -> None:
    folder = unpacked("gpu-h100x2-train")
    text = next(folder.glob("module_0001*gpu_after_optimizations.txt"))
    final = TextReader().read(text.read_bytes(), text.name)
    assert final is not None
    dump = next(folder.glob("module_0001*priority_fusion_dump.txt"))
    decisions, problems = read_fusion_decisions(dump.read_bytes(), dump.name)
    assert not problems
    found, gone = group_decisions(decisions, final)
    linked = sum(len(decision.decisions) for decision in found.values())
    assert linked + len(gone) == len(decisions)
    assert linked >= 0.6 * len(decisions) > 0
    assert all(place[1] in final.by_name[place[0]].by_name for place in found)


def test_of_instructions_with_equally_many_names_the_first_of_the_file_is_taken() -> None:
    names = [f"mul.{number}" for number in range(8, 0, -1)]
    lines = "".join(f"  {name}.1 = f32[4] negate(a)\n" for name in sorted(names))
    text = TEXT.replace(b"  dot.1 =", lines.encode() + b"  dot.1 =")
    steps = [fused("gone.1", f"{name}.0", "fusion.1") for name in names]
    linked, _ = group_decisions(steps, parse_module(text))
    assert {place: known.grade for place, known in linked.items()} == {
        ("main", "mul.8.1"): "guessed"
    }
