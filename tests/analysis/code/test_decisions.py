"""Decisions of the fusion pass, followed to the instruction that came of them."""

from collections.abc import Callable
from pathlib import Path

from xlareport.analysis.code.decisions import group_decisions
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
    parsed = TextReader().read(TEXT, "m.txt")
    assert parsed is not None
    return parsed


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


def test_a_copy_that_a_later_pass_made_is_not_what_the_pass_refused() -> None:
    text = TEXT.replace(
        b"  dot.1 =", b"  copy.8 = f32[4] copy(a)\n  copy.9 = f32[4] copy(a)\n  dot.1 ="
    )
    parsed = TextReader().read(text, "m.txt")
    assert parsed is not None
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
