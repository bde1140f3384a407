"""What passes after the fusion pass made is not what that pass refused to fuse."""

from pathlib import Path

import pytest
from tests.analyzed import analyze_named

from xlareport.analysis.code.later_instructions import find_later_instructions
from xlareport.analysis.code.unfused_pairs import list_unfused_finally
from xlareport.analysis.findings.cases import make_case
from xlareport.analysis.findings.refused_fusions import refused_fusions
from xlareport.analysis.module import AnalyzedModule
from xlareport.pages.history.instruction_facts import facts_payload
from xlareport.storage.payloads import read_payload, write_payload

ADD = """
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
"""
WEIGHED = f"""HloModule m
{ADD}
ENTRY e {{
  p = f32[4194304] parameter(0)
  q = f32[4194304] parameter(1)
  exp.1 = f32[4194304] exponential(p)
  flat.1 = f32[4194304] bitcast(exp.1)
  all-reduce.1 = f32[4194304] all-reduce(flat.1), replica_groups={{}}, to_apply=add
  all-reduce.2 = f32[4194304] all-reduce(q), replica_groups={{}}, to_apply=add
  log.1 = f32[4194304] log(all-reduce.1)
  sum.1 = f32[4194304] add(all-reduce.2, log.1)
  sine.1 = f32[4194304] sine(sum.1)
  ROOT t = (f32[4194304], f32[4194304]) tuple(sum.1, sine.1)
}}
"""
JOINED = f"""HloModule m
{ADD}
ENTRY e {{
  p = f32[4194304] parameter(0)
  q = f32[4194304] parameter(1)
  exp.1 = f32[4194304] exponential(p)
  flat.1 = f32[4194304] bitcast(exp.1)
  both.1 = f32[8388608] concatenate(flat.1, q), dimensions={{0}}
  all-reduce.3 = f32[8388608] all-reduce(both.1), replica_groups={{}}, to_apply=add
  part.1 = f32[4194304] slice(all-reduce.3), slice={{[0:4194304]}}
  part.2 = f32[4194304] slice(all-reduce.3), slice={{[4194304:8388608]}}
  log.1 = f32[4194304] log(part.1)
  sum.1 = f32[4194304] add(part.2, log.1)
  sine.1 = f32[4194304] sine(sum.1)
  ROOT t = (f32[4194304], f32[4194304]) tuple(sum.1, sine.1)
}}
"""
WRAPPED = (
    JOINED.replace(
        "\nENTRY",
        """
wrapped {
  a = f32[4194304] parameter(0)
  b = f32[4194304] parameter(1)
  ROOT both.2 = f32[8388608] concatenate(a, b), dimensions={0}
}

ENTRY""",
    )
    .replace(
        "concatenate(flat.1, q), dimensions={0}", "fusion(flat.1, q), kind=kLoop, calls=wrapped"
    )
    .replace("both.1", "wrapped_concatenate")
)
LOG = """fusion_steps {
  producer_ineligible {
    producer_name: "exp.1"
    reason: "not fusing because there are only bitcast users"
  }
}
fusion_steps {
  producer_ineligible {
    producer_name: "sum.1"
    reason: "too many"
  }
}
fusion_steps {
  producer_ineligible {
    producer_name: "part.1"
    reason: "another instruction of this name"
  }
}
"""
BY = "by `all-reduce-contiguous` (0003)"
WRAPPED_BY = f"by `fusion-wrapper` (0004), around `both.1`, which was made {BY}"
MADE = f"made after the fusion pass, {BY}"


@pytest.fixture(name="analyzed")
def _analyzed(tmp_path: Path) -> AnalyzedModule[None]:
    texts = {
        "before_optimizations": WEIGHED,
        "0001.fusion.after_pipeline-start.before_priority-fusion": WEIGHED,
        "0002.fusion.after_priority-fusion.before_all-reduce-contiguous": WEIGHED,
        "0003.fusion.after_all-reduce-contiguous.before_fusion-wrapper": JOINED,
        "0004.fusion.after_fusion-wrapper.before_pipeline-end": WRAPPED,
        "sm_9.0a_gpu_after_optimizations": WRAPPED,
        "priority_fusion_dump": LOG,
    }
    for name, text in texts.items():
        (tmp_path / f"module_0001.jit_f.{name}.txt").write_text(text)
    return analyze_named(tmp_path, "jit_f", device="h100-sxm")


def test_the_step_is_that_of_the_instruction_and_of_its_wrapper(
    analyzed: AnalyzedModule[None],
) -> None:
    later = find_later_instructions(analyzed.module.snapshots, analyzed.snapshots)
    made = {name: step.words for (_, name), step in later.items()}
    assert made == {"wrapped_concatenate": WRAPPED_BY, "part.1": BY, "part.2": BY}
    assert find_later_instructions(analyzed.module.snapshots, None) == {}
    unlogged = [s for s in analyzed.module.snapshots if s.stage.after != "priority-fusion"]
    assert find_later_instructions(unlogged, analyzed.snapshots) == {}


def test_a_pair_with_a_later_consumer_has_no_reason_of_the_pass(
    analyzed: AnalyzedModule[None],
) -> None:
    module = analyzed.module
    assert module.final is not None
    later = find_later_instructions(module.snapshots, analyzed.snapshots)
    pairs = list_unfused_finally(module.final.hlo, module.code.decisions, later)
    reasons = {(pair.producer, pair.consumer): pair.reason for pair in pairs}
    assert reasons == {
        ("exp.1", "wrapped_concatenate"): f"it was made after the fusion pass, {WRAPPED_BY}",
        ("sum.1", "sine.1"): "too many",
    }


def test_the_panels_state_the_step(analyzed: AnalyzedModule[None]) -> None:
    (payload,) = facts_payload("x", analyzed)
    facts = read_payload(write_payload(payload)[1])[1]["facts"]
    stated = {
        name: [fact[1] for fact in some if fact[0] == "Not fused"] for name, some in facts.items()
    }
    wrapped = f"It was made after the fusion pass, {WRAPPED_BY}."
    assert stated["exp.1"] == [f"into %wrapped_concatenate: {wrapped}"]
    assert stated["wrapped_concatenate"] == [wrapped]
    assert stated["part.1"] == [f"It was {MADE}."]
    assert "log.1" not in stated


def test_the_finding_lists_no_later_consumer(analyzed: AnalyzedModule[None]) -> None:
    assert analyzed.costed is not None
    case = make_case(analyzed.costed, later=analyzed.code.later)
    assert case is not None
    places = {place for finding in refused_fusions(case) for place in finding.places}
    assert places == {("e", "sum.1")}
    unknown = make_case(analyzed.costed)
    assert unknown is not None
    places = {place for finding in refused_fusions(unknown) for place in finding.places}
    assert ("e", "exp.1") in places


def test_the_code_page_gives_no_decision_to_a_later_instruction(
    analyzed: AnalyzedModule[None],
) -> None:
    (case,) = [make_case(analyzed.costed, later=analyzed.code.later)] if analyzed.costed else []
    assert case is not None
    assert {name for _, name in case.decisions} == {"exp.1", "sum.1"}
