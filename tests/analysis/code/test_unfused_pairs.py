"""Why pairs were not fused: the last word of the log on the producer, as the text has it too."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.modules import parse_module

from xlareport.analysis.code.unfused_pairs import (
    BEHIND_BITCAST,
    OF_THE_PRODUCER,
    SLOWER,
    UNDECIDED,
    list_unfused_finally,
    list_unfused_pairs,
)
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.program import ParsedModule, read_module
from xlareport.readers.fusion_decisions import read_fusion_decisions

HLO = b"""HloModule m

ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] add(p, p)
  b = f32[4] bitcast(a)
  c = f32[4] negate(b)
  d = f32[4] multiply(a, c)
  ROOT t = (f32[4], f32[4]) tuple(d, c)
}
"""


def log(*steps: str) -> bytes:
    return "".join(f"fusion_steps {{\n  {step}\n}}\n" for step in steps).encode()


def pairs(*steps: str) -> list[tuple[str, str, str, str]]:
    module = parse_module(HLO)
    decisions, problems = read_fusion_decisions(log(*steps), "log")
    assert problems == []
    unfused_pairs = list_unfused_pairs(module, decisions)
    return [
        (unfused_pair.producer, unfused_pair.consumer, unfused_pair.reason, unfused_pair.grade)
        for unfused_pair in unfused_pairs
    ]


def test_the_last_word_counts() -> None:
    """A reason after an estimate; it is not about users behind a bitcast."""
    weighed = 'update_priority {\n producer_name: "a"\n us_fused: 1.5\n us_unfused: 2.5\n}'
    refused = 'producer_ineligible {\n producer_name: "a"\n reason: "too many"\n}'
    wanted = [("a", "d", "too many", "exact"), ("a", "c", BEHIND_BITCAST, "matched")]
    assert pairs(weighed, refused) == wanted
    assert {reason for *_, reason, _ in pairs(refused, weighed)} != {"too many"}


def test_the_reason_of_a_pair_alone() -> None:
    """With one consumer the reason is that of the pair."""
    refused = 'producer_ineligible {\n producer_name: "c"\n reason: "too many"\n}'
    assert pairs(refused) == [("c", "d", "too many", "exact")]
    unable = 'producer_ineligible {\n producer_name: "a"\n reason: "the producer is not fusible"\n}'
    assert {grade for *_, grade in pairs(unable)} == {"exact"}


def test_an_estimate_speaks_against_it() -> None:
    """The pass does not fuse what it expects to become no faster; that is not its own word."""
    weighed = 'update_priority {\n producer_name: "c"\n us_fused: 3.5\n us_unfused: 2.5\n}'
    assert pairs(weighed) == [("c", "d", SLOWER, "matched")]


def estimate(producer: str, fused: float, apart: float, consumers: str = "d") -> str:
    names = f'producer_name: "{producer}"\n consumer_names: "{consumers}"'
    return f"update_priority {{\n {names}\n us_fused: {fused}\n us_unfused: {apart}\n}}"


def fuse(producer: str, consumer: str, fusion: str) -> str:
    names = f'producer_name: "{producer}"\n consumer_name: "{consumer}"'
    return f'fusion {{\n {names}\n fusion_name: "{fusion}"\n}}'


@pytest.mark.parametrize(
    ("steps", "reason", "fused"),
    [
        ((estimate("c", 3.0, 2.0),), SLOWER, 3.0),
        ((estimate("c", 3.0, 2.0), estimate("c", 0.5, 0.4)), SLOWER, None),
        ((estimate("c", 2.0, 3.0), estimate("c", 0.5, 0.4)), UNDECIDED, None),
        ((estimate("c", 2.0, 3.0), fuse("x", "y", "c"), estimate("c", 5.0, 4.0)), SLOWER, 5.0),
    ],
    ids=["whole", "changed", "the whole speaks for it", "whole again"],
)
def test_a_second_estimate_is_of_what_changed_alone(
    steps: tuple[str, ...], reason: str, fused: float | None
) -> None:
    """XLA adds up the differences; an instruction that took in another is estimated anew."""
    decisions, _ = read_fusion_decisions(log(*steps), "log")
    (pair,) = list_unfused_pairs(parse_module(HLO), decisions)
    assert (pair.reason, pair.microseconds_fused) == (reason, fused)
    assert pair.listed == ("d",)


def test_a_reader_behind_a_bitcast_takes_no_part_in_the_decision() -> None:
    """XLA names the bitcast, and estimates and fuses the others."""
    weighed = estimate("a", 3.0, 2.0, "b")
    assert pairs(weighed) == [("a", "d", SLOWER, "matched"), ("a", "c", BEHIND_BITCAST, "matched")]
    assert pairs(weighed, fuse("a", "d", "d")) == [("a", "c", BEHIND_BITCAST, "matched")]
    unable = 'producer_ineligible {\n producer_name: "a"\n reason: "the producer is not fusible"\n}'
    assert {reason for *_, reason, _ in pairs(unable)} == {"the producer is not fusible"}


def test_a_bitcast_of_a_later_pass_was_not_weighed() -> None:
    module = parse_module(HLO)
    for listed, reason in (("b", BEHIND_BITCAST), ("d", SLOWER)):
        decisions, _ = read_fusion_decisions(log(estimate("a", 3.0, 2.0, listed)), "log")
        reasons = {
            unfused_pair.consumer: unfused_pair.reason
            for unfused_pair in list_unfused_finally(module, decisions)
        }
        assert reasons == {"d": SLOWER, "c": reason}


def test_what_was_fused_has_no_pair() -> None:
    """A producer that was fused away, and one that the log does not name."""
    weighed = 'update_priority {\n producer_name: "c"\n us_fused: 3.5\n us_unfused: 2.5\n}'
    fused = 'fusion {\n producer_name: "c"\n consumer_name: "d"\n fusion_name: "fusion.1"\n}'
    assert pairs(weighed, fused) == []
    assert pairs() == []


@pytest.fixture(scope="module", params=["tagged-gpu-mlp", "tagged-gpu-experts", "tagged-gpu-conv"])
def module(request: pytest.FixtureRequest, unpacked: Callable[[str], Path]) -> ParsedModule:
    with open_source(unpacked(request.param)) as source:
        modules = [read_module(files) for files in group(name_files(source)).modules]
    return max(modules, key=lambda each: len(each.code.decisions))


def test_every_pair_in_the_text_of_real_logs(module: ParsedModule) -> None:
    """The last step of the text that names the producer has the reason, or only estimates."""
    artifacts = module.files.artifacts
    artifact = next(each for each in artifacts if "priority_fusion_dump" in each.path)
    text = artifact.entry.read().decode().replace('\\"', '"')
    steps = re.split(r"(?=^fusion_steps \{)", text, flags=re.MULTILINE)
    (snapshot,) = (each for each in module.snapshots if each.stage.after == "priority-fusion")
    unfused_pairs = list_unfused_pairs(snapshot.hlo, module.code.decisions)
    assert unfused_pairs
    for pair in unfused_pairs:
        if pair.reason == BEHIND_BITCAST:
            continue
        last = [step for step in steps if f'producer_name: "{pair.producer}"' in step][-1]
        is_own = pair.consumers == 1 or pair.reason.startswith(OF_THE_PRODUCER)
        assert pair.grade == "matched" or is_own
        if pair.reason != SLOWER:
            assert f'reason: "{pair.reason}"' in last
        else:
            assert "update_priority" in last
            assert "reason" not in last


def test_final_pairs_have_the_reason_of_their_producer_in_the_log(module: ParsedModule) -> None:
    """No pair is exact, and each reason is one that the log gives, or follows from estimates."""
    assert module.final is not None
    reasons = {decision.reason for decision in module.code.decisions if decision.reason}
    unfused_finally = list_unfused_finally(module.final.hlo, module.code.decisions)
    assert unfused_finally
    assert {pair.grade for pair in unfused_finally} <= {"matched", "guessed"}
    for pair in unfused_finally:
        (home,) = (
            computation
            for computation in module.final.hlo.computations
            if pair.producer in computation.by_name
        )
        assert pair.consumer in home.by_name
        assert pair.reason in {*reasons, BEHIND_BITCAST, SLOWER, UNDECIDED}


_BESIDE = b"""HloModule m

ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] add(p, p)
  c = f32[4] negate(a)
  d = f32[4] custom-call(a), custom_call_target="library"
  ROOT t = (f32[4], f32[4]) tuple(c, d)
}
"""


def test_a_user_that_nothing_is_fused_into_is_named() -> None:
    refused = (
        'producer_ineligible {\n producer_name: "a"\n reason: "the consumer is not fusible"\n}'
    )
    decisions, _ = read_fusion_decisions(log(refused), "log")
    unfused_pairs = list_unfused_pairs(parse_module(_BESIDE), decisions)
    assert {pair.blockers for pair in unfused_pairs} == {("d",)}
    other = 'producer_ineligible {\n producer_name: "a"\n reason: "too many"\n}'
    decisions, _ = read_fusion_decisions(log(other), "log")
    assert {pair.blockers for pair in list_unfused_pairs(parse_module(_BESIDE), decisions)} == {()}


@pytest.mark.parametrize(
    ("kind", "blockers"), [("__triton_gemm", ("d",)), ("__triton", ()), ("__custom_fusion", ("d",))]
)
def test_nothing_is_fused_into_a_custom_fusion(kind: str, blockers: tuple[str, ...]) -> None:
    config = f'backend_config={{"fusion_backend_config":{{"kind":"{kind}"}}}}'
    fused = "f {\n  x = f32[4] parameter(0)\n  ROOT n = f32[4] negate(x)\n}\n\nENTRY e {"
    text = _BESIDE.decode().replace("ENTRY e {", fused)
    text = text.replace(
        'custom-call(a), custom_call_target="library"',
        f"fusion(a), kind=kCustom, calls=f, {config}",
    )
    refused = (
        'producer_ineligible {\n producer_name: "a"\n reason: "the consumer is not fusible"\n}'
    )
    decisions, _ = read_fusion_decisions(log(refused), "log")
    found = list_unfused_pairs(parse_module(text), decisions)
    assert {pair.blockers for pair in found} == {blockers}
