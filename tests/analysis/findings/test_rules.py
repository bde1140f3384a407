"""Each rule finds what it is for in a module that has it, and nothing in the one beside it.

The modules of `tests/data/findings/RULE` are `having.txt` and `lacking.txt`, compiled, and others
written by hand for what the compilers at hand do not leave, both in one file.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest
from msgspec.structs import replace
from tests.analysis.findings.texts import FINDINGS, having, paths_of_texts, read_texts
from tests.modules import parse_module

from xlareport.analysis.code.decisions import LinkedDecisions
from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.analysis.cost.costed import cost_module
from xlareport.analysis.cost.memory import HeldMemory, MemoryFigures
from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.findings.attention_scores import attention_scores, list_score_traffic
from xlareport.analysis.findings.carried_constants import carried_constants
from xlareport.analysis.findings.cases import make_case as case_of_module
from xlareport.analysis.findings.exposed_collectives import exposed_collectives
from xlareport.analysis.findings.finding import SHORTEST, Case, Finding, rule_id
from xlareport.analysis.findings.gathered_once import gathered_once
from xlareport.analysis.findings.padded_products import Product, padded_products
from xlareport.analysis.findings.recompilations import report_recompilation
from xlareport.analysis.findings.refused_fusions import refused_fusions
from xlareport.analysis.findings.replicated_parameters import replicated_parameters
from xlareport.analysis.findings.rules import (
    RULES,
    find_candidates,
    find_findings,
    merge_findings,
    refer_to_causes,
)
from xlareport.analysis.findings.same_tiles import same_tiles
from xlareport.analysis.findings.score_values import find_attention_scores
from xlareport.analysis.findings.sliced_operands import sliced_operands
from xlareport.analysis.findings.slow_fusions import slow_fusions
from xlareport.analysis.findings.small_collectives import small_collectives
from xlareport.analysis.findings.split_products import split_products
from xlareport.analysis.findings.starved_products import starved_products
from xlareport.analysis.findings.undonated_inputs import undonated_inputs
from xlareport.analysis.findings.waiting_collectives import words_of_bound
from xlareport.analysis.modules.module_origin import origin_of
from xlareport.analysis.modules.processes import assign_processes
from xlareport.analysis.modules.recompilations import (
    Difference,
    RecompilationGroup,
    group_recompilations,
)
from xlareport.analysis.modules.summarize import summarize_module
from xlareport.analysis.shardings.partitioning import find_partitioning
from xlareport.analysis.shardings.rematerializations import find_rematerializations
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.hlo.text import TextReader
from xlareport.knowledge.devices import device_named, nominal_device
from xlareport.knowledge.tpu_cores import tpu_cores
from xlareport.program import ParsedModule, read_module
from xlareport.readers.fusion_decisions import FusionDecision

DATA = Path(__file__).parents[2] / "data"


MakeCase: TypeAlias = Callable[..., Case]


SEEDS = paths_of_texts()


ADD = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n"


PRODUCT = "dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}"


def entry(body: str, header: str = "") -> str:
    return f"HloModule m{header}\n\n{ADD}\nENTRY e {{\n{body}\n}}\n"


def gather(kind: str, users: str, attributes: str = "") -> str:
    return entry(
        f"  a = f32[1024,1024] parameter(0)\n"
        f"  g = f32[4096,1024] {kind}(a), channel_id=1, dimensions={{0}}, "
        f"replica_groups=[1,4]<=[4], use_global_device_ids=true{attributes}\n{users}",
        ", is_scheduled=true, num_partitions=4",
    )


USED_ONCE = "  ROOT n = f32[4096,1024] negate(g)"


USED_TWICE = "  n = f32[4096,1024] negate(g)\n  ROOT m = f32[4096,1024] add(n, g)"


def split(user: str) -> str:
    """Return a product in eight parts, each as large as the whole, and what is made of them."""
    return f"""HloModule m, is_scheduled=true

{ADD}
product {{
  a = f32[1024,64] parameter(0)
  b = f32[64,1024] parameter(1)
  x = f32[8,1024,8] bitcast(a)
  y = f32[8,8,1024] bitcast(b)
  ROOT d = f32[8,1024,1024] dot(x, y), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, \
lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}
}}

ENTRY e {{
  a = f32[1024,64] parameter(0)
  b = f32[64,1024] parameter(1)
  p = f32[8,1024,1024] fusion(a, b), kind=kCustom, calls=product
  zero = f32[] constant(0)
{user}
}}
"""


SUM = "  ROOT r = f32[1024,1024] reduce(p, zero), dimensions={0}, to_apply=add"


FREE = "  n = f32[4096,1024] negate(g)\n  ROOT m = f32[1024,1024] exponential(a)"


@pytest.mark.parametrize("seed", SEEDS, ids=[str(path.relative_to(FINDINGS)) for path in SEEDS])
def test_a_rule_finds_its_pattern_and_nothing_beside_it(case_of: MakeCase, seed: Path) -> None:
    rule, texts = seed.parent.name, read_texts(seed)
    (finding,) = _findings(case_of, texts, "having", rule)
    assert finding.places
    assert finding.evidence.endswith(".")
    assert finding.suggestion.endswith(".")
    assert not _findings(case_of, texts, "lacking", rule)


def _findings(case_of: MakeCase, texts: Mapping[str, str], side: str, rule: str) -> list[Finding]:
    case = case_of(texts[side], texts.get(f"{side} before", ""))
    return [finding for finding in find_findings(case) if finding.rule == rule]


def refusal(case: Case, *steps: FusionDecision) -> list[str]:
    linked = {("e", "b"): LinkedDecisions(steps, "matched")}
    findings = find_findings(replace(case, decisions=linked))
    return [
        f"{finding.title} {finding.evidence}"
        for finding in findings
        if finding.rule == "refused-fusions"
    ]


def test_a_refused_fusion_says_the_passes_own_reason_and_the_consumers(case_of: MakeCase) -> None:
    case = case_of(
        entry(
            f"  a = f32[512,512] parameter(0)\n  b = f32[512,512] {PRODUCT}\n"
            "  ROOT c = f32[512,512] negate(b)"
        )
    )
    no = FusionDecision("producer_ineligible", "b", (), "", "it is a product", None, None)
    yes = FusionDecision("fusion", "b", ("c",), "f", "", None, None)
    (said,) = refusal(case, yes, no)
    assert "it is a product" in said
    assert "Consumers of `b`: `c`." in said
    assert not refusal(case, no, yes)
    assert not refusal(case)


def test_all_occurrences_are_counted_though_only_the_first_places_are_listed(
    case_of: MakeCase,
) -> None:
    lines = [
        f"  b{n} = f32[512,512] {PRODUCT}\n  c{n} = f32[512,512] negate(b{n})" for n in range(12)
    ]
    results = ", ".join(f"c{n}" for n in range(12))
    types = ", ".join(["f32[512,512]"] * 12)
    body = "\n".join(lines)
    case = case_of(
        entry(f"  a = f32[512,512] parameter(0)\n{body}\n  ROOT t = ({types}) tuple({results})")
    )
    no = FusionDecision("producer_ineligible", "b", (), "", "it is a product", None, None)
    linked = {("e", f"b{n}"): LinkedDecisions((no,), "matched") for n in range(12)}
    findings = find_findings(replace(case, decisions=linked))
    (refused,) = (finding for finding in findings if finding.rule == "refused-fusions")
    assert (len(refused.places), refused.count) == (10, 12)
    assert "12 instructions" in refused.evidence


def test_findings_of_one_title_count_together_and_not_the_users_they_name() -> None:
    finding = Finding("t", (("e", "g1"), ("e", "user1")), "x.", "y.", "exact", 2.0, occurrences=1)
    other = replace(finding, places=(("e", "g2"), ("e", "user2")), weight=1.0)
    (joined,) = merge_findings([finding, other])
    assert (len(joined.places), joined.count) == (4, 2)


def test_a_collective_is_no_consumer_that_a_producer_could_be_fused_into(
    case_of: MakeCase,
) -> None:
    text = (
        f"  a = f32[512,512] parameter(0)\n  b = f32[512,512] {PRODUCT}\n"
        "  ROOT c = f32[512,512] KIND(b)"
    )
    no = FusionDecision("producer_ineligible", "b", (), "", "it is a product", None, None)
    assert refusal(case_of(entry(text.replace("KIND", "negate"))), no)
    for kind in ("all-reduce", "reduce-scatter", "all-reduce-start", "all-gather-start"):
        assert not refusal(case_of(entry(text.replace("KIND", kind))), no)


def test_what_a_loop_or_the_caller_needs_is_written_in_any_case(case_of: MakeCase) -> None:
    no = FusionDecision("producer_ineligible", "b", (), "", "it is a product", None, None)
    head = f"  a = f32[512,512] parameter(0)\n  b = f32[512,512] {PRODUCT}\n"
    alone = case_of(entry(f"{head}  ROOT c = f32[512,512] negate(b)"))
    kept = f"{head}  c = f32[512,512] negate(b)\n  r = f32[512,512] bitcast(b)\n"
    kept = case_of(entry(f"{kept}  ROOT t = (f32[512,512], f32[512,512]) tuple(c, r)"))
    linked = {("e", "b"): LinkedDecisions((no,), "matched")}
    saved = [
        finding.seconds or 0.0
        for case in (alone, kept)
        for finding in refused_fusions(replace(case, decisions=linked))
    ]
    assert saved == [pytest.approx(2 * saved[1]), saved[1]]
    assert "needs it too" in refusal(kept, no)[0]
    assert "needs it too" not in refusal(alone, no)[0]


@pytest.mark.parametrize(
    ("reader", "times"),
    [
        ("f32[512,512] negate(b)", 2),
        ("f32[512,512] add(b, n), n = f32[512,512] negate(b)", 3),
        ("f32[8,8] slice(b), slice={[0:8], [0:8]}", 1 + 2 * 64 / 512**2),
    ],
)
def test_a_result_is_written_once_and_read_by_each_consumer(
    case_of: MakeCase, reader: str, times: float
) -> None:
    """Its producer reads little: the time of its consumers counts too, to what they take."""
    line, _, other = reader.partition(", n =")
    before = f"  n ={other}\n" if other else ""
    case = case_of(
        entry(
            "  v = f32[512,1] parameter(0)\n  w = f32[1,512] parameter(1)\n"
            "  b = f32[512,512] dot(v, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
            f"{before}  ROOT r = {line}"
        )
    )
    no = FusionDecision("producer_ineligible", "b", (), "", "it is a product", None, None)
    linked = {("e", "b"): LinkedDecisions((no,), "matched")}
    (finding,) = refused_fusions(replace(case, decisions=linked))
    assert finding.seconds == pytest.approx(times * case.time_of_bytes(4 * 512**2))


GEMM = (
    '{"gemm_backend_config":{"alpha_real":1,"dot_dimension_numbers":'
    '{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}}'
)


def test_the_workspace_of_a_call_is_no_traffic_of_its_result(case_of: MakeCase) -> None:
    def traffic(workspace: str) -> str:
        result = f"(f32[512,512], s8[{workspace}])"
        case = case_of(
            entry(
                "  a = f32[512,512] parameter(0)\n"
                f'  b = {result} custom-call(a, a), custom_call_target="__cublas$gemm", '
                f"backend_config={GEMM}\n"
                "  c = f32[512,512] get-tuple-element(b), index=0\n"
                "  ROOT d = f32[512,512] negate(c)"
            )
        )
        no = FusionDecision("producer_ineligible", "b", (), "", "not fusible", None, None)
        linked = {("e", "b"): LinkedDecisions((no,), "matched")}
        (finding,) = refused_fusions(replace(case, decisions=linked))
        return finding.evidence.partition("Their results take ")[2].partition(",")[0]

    assert traffic("16") == traffic("4194304") == "14% of the module's roofline time"


def test_fusing_an_update_in_place_saves_no_read_of_the_whole_buffer(case_of: MakeCase) -> None:
    """A consumer that takes in the update of a row reads all other rows of the buffer still."""
    text = (
        "update {\n  p = f32[1024,1024] parameter(0)\n  q = f32[1,1024] parameter(1)\n"
        "  z = s32[] constant(0)\n"
        "  ROOT u = f32[1024,1024] dynamic-update-slice(p, q, z, z)\n}\n\n"
        "plain {\n  p = f32[1024,1024] parameter(0)\n  ROOT n = f32[1024,1024] negate(p)\n}\n\n"
    )
    body = (
        "  a = f32[1024,1024] parameter(0)\n  b = f32[1,1024] parameter(1)\n"
        "  c = f32[1024,1024] fusion(a, b), kind=kLoop, calls=update\n"
        "  ROOT d = f32[1024,1024] fusion(c), kind=kLoop, calls=plain"
    )
    no = FusionDecision(
        "consumer_ineligible", "c", (), "", "the consumer is not fusible", None, None
    )
    case = case_of(entry(body).replace("ENTRY", f"{text}ENTRY"))
    case = replace(case, decisions={("e", "c"): LinkedDecisions((no,), "matched")})
    assert not [*refused_fusions(case)]
    (whole,) = refused_fusions(
        replace(
            case_of(entry(body.replace("update", "plain")).replace("ENTRY", f"{text}ENTRY")),
            decisions=case.decisions,
        )
    )
    assert whole.seconds


@pytest.mark.parametrize(
    ("activation", "combiner", "is_attention"),
    [("exponential", "maximum", True), ("exponential", "add", False), ("tanh", "maximum", False)],
)
def test_scores_of_attention_between_two_products_are_a_finding_with_its_saving(
    case_of: MakeCase, activation: str, combiner: str, *, is_attention: bool
) -> None:
    """An activation, or a normalization by a sum, between two products is no softmax."""
    whole, row = "f32[4,512,512]", "f32[4,512]"
    product = (
        "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"
    )
    fused = (
        f"most {{\n  p = {whole} parameter(0)\n  z = f32[] constant(0)\n"
        f"  ROOT r = {row} reduce(p, z), dimensions={{2}}, to_apply=add\n}}\n\n"
        f"softmax {{\n  p = {whole} parameter(0)\n  m = {row} parameter(1)\n"
        f"  n = {whole} broadcast(m), dimensions={{0,1}}\n  d = {whole} subtract(p, n)\n"
        f"  ROOT e = {whole} {activation}(d)\n}}\n\n"
        f"product {{\n  p = {whole} parameter(0)\n  q = {whole} parameter(1)\n"
        f"  ROOT d = {whole} dot(p, q), {product}\n}}\n\n"
    )
    text = entry(
        f"  q = {whole} parameter(0)\n"
        f"  s = {whole} fusion(q, q), kind=kCustom, calls=product\n"
        f"  m = {row} fusion(s), kind=kInput, calls=most\n"
        f"  b = {whole} fusion(s, m), kind=kLoop, calls=softmax\n"
        f"  ROOT o = {whole} fusion(b, q), kind=kCustom, calls=product"
    ).replace("ENTRY", f"{fused}ENTRY")
    case = on_gpu(case_of(text.replace(" add(x, y)", f" {combiner}(x, y)")))
    no = FusionDecision("producer_ineligible", "b", (), "", "not fusible", None, None)
    case = replace(case, decisions={("e", "b"): LinkedDecisions((no,), "matched")})
    (finding,) = [*attention_scores(case), *refused_fusions(case)]
    assert (finding.title == "Attention scores are written to memory") is is_attention
    assert (finding.seconds is not None) is is_attention
    assert ("jax.nn.dot_product_attention" in finding.suggestion) is is_attention


def tiled(tiles: Sequence[str]) -> str:
    """Return a module with a matmul of its own shape for each tile."""
    body = "  a = f32[4096,4096] parameter(0)\n"
    for number, tile in enumerate(tiles, 1):
        sizes = '","'.join(tile.split("x"))
        config = f'{{"output_tiles":[{{"sizes":["{sizes}"]}}]}}'
        body += (
            f"  b{number} = f32[4096,{number * 1024}] parameter({number})\n"
            f"  p{number} = f32[4096,{number * 1024}] dot(a, b{number}), "
            f"lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, backend_config={config}\n"
        )
    return entry(f"{body}  ROOT t = () tuple()")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({}, "Compile on the device"),
        ({"xla_gpu_autotune_level": "4"}, "is 4 here, so the flag is not the cause"),
        ({"xla_gpu_autotune_level": "0"}, "Autotuning is off: set xla_gpu_autotune_level to 4"),
    ],
)
def test_the_flag_of_autotuning_is_advised_only_where_it_is_off(
    case_of: MakeCase, flags: dict[str, str], words: str
) -> None:
    (finding,) = same_tiles(replace(case_of(tiled(["16x8"] * 3)), flags=flags))
    assert words in finding.suggestion


@pytest.mark.parametrize(
    ("tiles", "words"),
    [
        (("16x8", "16x8", "8x16"), "the tile 16x8 (1 the transpose 8x16)"),
        (("16x8", "16x8", "16x8"), "the tile 16x8;"),
        (("1x1x16x8", "1x16x8", "1x8x16"), "the tile 16x8 (1 the transpose 8x16)"),
        (("16x8", "16x8", "32x8"), None),
    ],
)
def test_a_tile_and_its_transpose_are_one(
    case_of: MakeCase, tiles: Sequence[str], words: str | None
) -> None:
    known = [*same_tiles(case_of(tiled(tiles)))]
    assert [words is not None and words in finding.evidence for finding in known] == (
        [True] if words else []
    )


def test_tiles_that_nothing_measured_are_named_though_they_differ(case_of: MakeCase) -> None:
    case = case_of(tiled(["16x8", "64x32", "16x8"]))
    assert not [*same_tiles(case)]
    (finding,) = same_tiles(replace(case, is_untuned=True))
    assert finding.title == "GEMM tiles not autotuned"
    assert "default tile" not in finding.suggestion
    assert "have the tiles 16x8 (2), 64x32 (1);" in finding.evidence
    assert finding.evidence.endswith("autotune_results is empty.")


SCORES = (
    "  x = f32[8,512,256] parameter(0)\n  w = f32[8,256,512] parameter(1)\n"
    "  bias = f32[8,512,512] parameter(2)\n"
    "  s = f32[8,512,512] dot(x, w), lhs_batch_dims={0}, rhs_batch_dims={0}, "
    "lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
    "  c = f32[8,512,512] add(s, bias)\n"
    "  z = f32[] constant(0)\n"
    "  m = f32[8,512] reduce(c, z), dimensions={2}, to_apply=add\n"
    "  n = f32[8,512,512] broadcast(m), dimensions={0,1}\n"
    "  d = f32[8,512,512] subtract(c, n)\n"
    "  e = f32[8,512,512] exponential(d)\n"
    "  o = f32[8,512,256] dot(e, x), lhs_batch_dims={0}, rhs_batch_dims={0}, "
    "lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
    "  g = f32[8,512,512] dot(o, w), lhs_batch_dims={0}, rhs_batch_dims={0}, "
    "lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
    "  t = f32[8,512,512] copy(g)\n"
    "  u = f32[8,512,512] multiply(t, e)\n"
    "  ROOT v = f32[8,512,256] dot(u, x), lhs_batch_dims={0}, rhs_batch_dims={0}, "
    "lhs_contracting_dims={1}, rhs_contracting_dims={1}"
)


def test_what_lies_between_the_matmuls_of_attention_holds_scores() -> None:
    """Masked scores and gradients too, by shape and data flow; a bias is no product's."""
    module = parse_module(entry(SCORES).replace(" add(x, y)", " maximum(x, y)"))
    assert module.entry is not None
    scores = find_attention_scores(module, module.entry)
    assert {*scores} == {*"scdegtu"} - {"o"}
    assert not any(scores.values())


def test_a_softmax_that_is_divided_apart_from_its_exponential_is_one_of_scores() -> None:
    lines = SCORES.partition("  g = f32")[0].replace("dot(e, x)", "dot(q, x)")
    divided = (
        "  l = f32[8,512] reduce(e, z), dimensions={2}, to_apply=sum\n"
        "  r = f32[8,512,512] broadcast(l), dimensions={0,1}\n"
        "  q = f32[8,512,512] divide(e, r)\n"
    )
    text = entry(lines.replace("  o =", f"{divided}  ROOT o =").rstrip("\n"))
    module = parse_module(text.replace(" add(x, y)", " maximum(x, y)"))
    assert module.entry is not None
    assert {*find_attention_scores(module, module.entry)} == {*"scdeq"}


def test_scores_are_written_and_read_whatever_the_log_says_of_them(case_of: MakeCase) -> None:
    """Without a log too; a CPU has no kernel that would keep them."""
    case = on_gpu(case_of(entry(SCORES).replace(" add(x, y)", " maximum(x, y)")))
    no = FusionDecision("producer_ineligible", "o", (), "", "it is a product", None, None)
    linked = {("e", "o"): LinkedDecisions((no,), "matched")}
    uses = {"s": 1, "c": 2, "d": 1, "e": 2, "g": 1, "t": 1, "u": 1}
    moved = (len(uses) + sum(uses.values())) * 4 * 8 * 512 * 512
    for known in (case, replace(case, decisions=linked)):
        (finding,) = attention_scores(known)
        assert finding.count == 7
        assert finding.seconds == pytest.approx(case.time_of_bytes(moved))
        assert "64.0 MiB" not in finding.evidence
        assert f"{moved >> 20} MiB in all executions" in finding.evidence
    assert not [*attention_scores(replace(case, device=nominal_device("cpu")))]


def on_gpu(case: Case) -> Case:
    return replace(case, device=nominal_device("gpu"))


def on_tpu(case_of: MakeCase, text: str) -> Case:
    return replace(case_of(text), device=device_named("TPU v5e") or nominal_device("tpu"))


def of_tpu() -> str:
    return read_texts(FINDINGS / "attention-scores" / "by_hand.txt")["having"]


def test_scores_of_a_tpu_are_elements_of_fusions_with_products(case_of: MakeCase) -> None:
    """Two fusions read the scores, one element of three; the others are no scores."""
    case = on_tpu(case_of, of_tpu())
    assert case.module.entry is not None
    assert find_attention_scores(case.module, case.module.entry) == {"f": {1}}
    (traffic,) = list_score_traffic(case)
    assert traffic.users == ("l", "o")
    assert traffic.moved == 3 * 4 * 16 * 512 * 512
    (finding,) = attention_scores(case)
    assert "splash_attention" in finding.suggestion
    assert "In a ring" not in finding.suggestion


def test_scores_that_a_tanh_caps_have_a_kernel_with_a_cap_as_remedy(case_of: MakeCase) -> None:
    """One after the maximum is subtracted caps nothing: it is not between product and softmax."""
    scores = "s = f32[16,512,512]{1,2,0:T(8,128)} "
    capped = of_tpu().replace(
        f"  {scores}convolution(q, k)", f"  x = {scores[4:]}tanh(y)\n  {scores}convolution(q, k)"
    )
    lines = capped.split("\n")
    at = next(number for number, line in enumerate(lines) if " tanh(y)" in line)
    product = lines.pop(at + 1).replace("  s = ", "  y = ")
    lines.insert(at, product)
    capped = "\n".join(lines).replace("  x = ", "  s = ")
    (finding,) = attention_scores(on_tpu(case_of, capped))
    assert "attn_logits_soft_cap" in finding.suggestion
    assert "flash_attention of" not in finding.suggestion
    (finding,) = attention_scores(on_gpu(case_of(capped)))
    assert "jax.nn.dot_product_attention has no such cap." in finding.suggestion
    uncapped = of_tpu().replace(
        "ROOT e = f32[16,512,512]{1,2,0:T(8,128)} exp", "e = f32[16,512,512]{1,2,0:T(8,128)} exp"
    )
    uncapped = uncapped.replace(
        "exponential(d)", "exponential(d)\n  ROOT h = f32[16,512,512]{1,2,0:T(8,128)} tanh(e)"
    )
    (finding,) = attention_scores(on_tpu(case_of, uncapped))
    assert "attn_logits_soft_cap" not in finding.suggestion


def test_scores_in_a_ring_have_the_remedy_of_a_ring(case_of: MakeCase) -> None:
    """The body of a loop sends the keys on."""
    text = of_tpu()
    state = "(s32[], bf16[512,16,128]{2,0,1:T(8,128)(2,1)})"
    head, _, body = text.partition("ENTRY e {\n")
    body = body.replace("  k = bf16[512,16,128]{2,0,1:T(8,128)(2,1)} parameter(1)\n", "")
    before = (
        f"body {{\n  state = {state} parameter(0)\n  i = s32[] get-tuple-element(state), index=0\n"
        "  k = bf16[512,16,128]{2,0,1:T(8,128)(2,1)} get-tuple-element(state), index=1\n"
        "  next = bf16[512,16,128]{2,0,1:T(8,128)(2,1)} collective-permute(k), channel_id=1, "
        "source_target_pairs={{0,1},{1,2},{2,3},{3,0}}\n"
    )
    for name in "qvw":
        body = re.sub(rf"(  {name} = \S+) parameter\(\d\)", r"\1 constant({...})", body)
    body = body.replace("ROOT r =", "r =").rstrip("}\n")
    loop = (
        f"{before}{body}\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
        f"  ROOT out = {state} tuple(j, next)\n}}\n\n"
        f"test {{\n  state = {state} parameter(0)\n  i = s32[] get-tuple-element(state), index=0\n"
        "  four = s32[] constant(4)\n  ROOT less = pred[] compare(i, four), direction=LT\n}\n\n"
        f"ENTRY e {{\n  zero = s32[] constant(0)\n"
        "  k = bf16[512,16,128]{2,0,1:T(8,128)(2,1)} parameter(0)\n"
        f"  t = {state} tuple(zero, k)\n"
        f"  ROOT w = {state} while(t), condition=test, body=body\n}}\n"
    )
    (finding,) = attention_scores(on_tpu(case_of, head + loop))
    assert "In a ring" in finding.suggestion
    assert f"{4 * 3 * 16} MiB in all executions" in finding.evidence
    of_layers = loop.replace("collective-permute(k)", "collective-permute(v)")
    (finding,) = attention_scores(on_tpu(case_of, head + of_layers))
    assert "In a ring" not in finding.suggestion


def test_a_maximum_by_a_window_is_that_of_a_softmax(case_of: MakeCase) -> None:
    """A TPU fuses both, so that each score has the maximum of its row beside it."""
    whole = "f32[16,512,512]{1,2,0:T(8,128)}"
    window = "window={size=1x1x1023 pad=0_0x0_0x511_511}, to_apply=most"
    text = of_tpu().replace(
        f"  b = {whole} broadcast(m), dimensions={{0,1}}",
        f"  low = f32[] constant(-inf)\n  b = {whole} reduce-window(s, low), {window}",
    )
    text = re.sub(
        r"(  m = \S+) reduce\(s, low\)(.*)to_apply=most", r"\1 reduce(s, low)\2to_apply=sum", text
    )
    assert "to_apply=most" in text
    assert [*attention_scores(on_tpu(case_of, text))]
    assert not [*attention_scores(on_tpu(case_of, text.replace("to_apply=most", "to_apply=sum")))]


def test_a_convolution_over_space_is_no_batch_of_matrices(case_of: MakeCase) -> None:
    """Its window meets several elements at each position."""
    text = of_tpu().replace("size=16 stride=15 lhs_dilate=16", "size=16 pad=7_8")
    assert not [*attention_scores(on_tpu(case_of, text))]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("f32[8,256,512]", "f32[8,256,4]"),
        ("lhs_batch_dims={0}, rhs_batch_dims={0}, ", ""),
    ],
    ids=["of a router", "of a classifier"],
)
def test_logits_are_no_scores_of_attention(old: str, new: str) -> None:
    text = entry(SCORES).replace(" add(x, y)", " maximum(x, y)")
    logits = text.replace("f32[8,512,512]", "f32[8,512,4]") if "4]" in new else text
    module = parse_module(logits.replace(old, new))
    assert module.entry is not None
    assert not find_attention_scores(module, module.entry)


@pytest.mark.parametrize("opcode", ["fft", "cholesky", "sort"])
def test_what_the_backend_runs_as_a_kernel_of_its_own_is_no_saving(
    case_of: MakeCase, opcode: str
) -> None:
    no = FusionDecision("producer_ineligible", "b", (), "", "not fusible", None, None)
    text = f"  a = f32[512,512] parameter(0)\n  b = f32[512,512] {PRODUCT}\n"
    (said,) = refusal(case_of(entry(f"{text}  ROOT c = f32[512,512] {opcode}(b)")), no)
    assert "Custom fusion or library call" in said


def test_what_a_scatter_updates_in_place_needs_memory_anyway(case_of: MakeCase) -> None:
    text = f"  a = f32[512,512] parameter(0)\n  b = f32[512,512] {PRODUCT}\n"
    case = case_of(entry(f"{text}  ROOT c = f32[512,512] negate(b)"))
    for what in ("in-place operand of scatter", "output of scatter"):
        reason = f"do not fuse into the {what}"
        no = FusionDecision("producer_ineligible", "b", (), "", reason, None, None)
        assert not refusal(case, no)
    assert refusal(case, FusionDecision("producer_ineligible", "b", (), "", "other", None, None))


def test_a_reason_against_one_result_is_none_against_the_readers_of_another(
    case_of: MakeCase,
) -> None:
    """A later pass joined two producers; the fusion pass refused the first alone."""
    of_two = "(f32[512,512], f32[512,512])"
    fused = (
        "f {\n  p = f32[512,512] parameter(0)\n  u = f32[512,512] negate(p)\n"
        f"  v = f32[512,512] tanh(p)\n  ROOT t = {of_two} tuple(u, v)\n}}\n\n"
    )
    text = entry(
        f"  a = f32[512,512] parameter(0)\n  b = {of_two} fusion(a), kind=kLoop, calls=f\n"
        "  l = f32[512,512] get-tuple-element(b), index=0\n"
        "  m = f32[512,512] get-tuple-element(b), index=1\n"
        "  x = f32[512,512] negate(l)\n  y = f32[512,512] sine(m)\n"
        f"  ROOT r = {of_two} tuple(x, y)"
    ).replace("ENTRY", f"{fused}ENTRY")
    no = FusionDecision("producer_ineligible", "u", (), "", "it is refused", None, None)
    linked = {("e", "b"): LinkedDecisions((no,), "matched", {0: (no,)})}
    (finding,) = refused_fusions(replace(case_of(text), decisions=linked))
    assert "Consumers of `b`: `x`." in finding.evidence
    unknown = {("e", "b"): LinkedDecisions((no,), "matched", {})}
    assert not list(refused_fusions(replace(case_of(text), decisions=unknown)))


def test_what_has_no_consumer_was_not_refused(case_of: MakeCase) -> None:
    case = case_of(entry(f"  a = f32[512,512] parameter(0)\n  ROOT b = f32[512,512] {PRODUCT}"))
    no = FusionDecision("producer_ineligible", "b", (), "", "it is a root", None, None)
    assert not refusal(case, no)


def test_a_convert_of_the_compiler_is_not_told_as_the_programs(case_of: MakeCase) -> None:
    text = (
        '  a = f32[4096] parameter(0), metadata={op_name="x"}\n'
        "  b = bf16[4096] convert(a)\n  ROOT c = f32[4096] convert(b)"
    )
    own = text.replace("bf16[4096] convert(a)", 'bf16[4096] convert(a), metadata={op_name="y"}')
    told = [
        (finding.evidence, finding.suggestion)
        for case in (case_of(entry(text)), case_of(entry(own)))
        for finding in find_findings(case)
        if finding.rule == "convert-pairs"
    ]
    assert ["compiler's own are: 1." in evidence for evidence, _ in told] == [True, False]
    assert ["Keep one type" in suggestion for _, suggestion in told] == [False, True]


@pytest.mark.parametrize("name", ["", ', metadata={op_name="z"}'])
def test_a_convert_to_compute_the_neighbor_in_a_wide_type_is_no_round_trip(
    case_of: MakeCase, name: str
) -> None:
    config = 'backend_config={"float_type_correction_info":{}}'
    text = (
        '  a = f32[4096] parameter(0), metadata={op_name="x"}\n'
        '  b = bf16[4096] convert(a), metadata={op_name="y"}\n'
        f"  c = f32[4096] convert(b){name}\n  ROOT d = f32[4096] add(c, c), {config}"
    )
    rules = {finding.rule for finding in find_findings(case_of(entry(text)))}
    assert ("convert-pairs" in rules) is bool(name)


@pytest.mark.parametrize(
    ("product", "remedy"),
    [
        ("f32[8192,8192] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "fused"),
        ("f32[4,4] dot(b, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "narrower"),
    ],
)
def test_a_starved_product_says_where_its_bytes_are(
    case_of: MakeCase, product: str, remedy: str
) -> None:
    head = "  a = bf16[8192,4] parameter(0)\n  b = bf16[4,8192] parameter(1)\n"
    (finding,) = [
        finding
        for finding in find_findings(case_of(entry(f"{head}  ROOT c = {product}")))
        if finding.rule == "starved-products"
    ]
    assert ("of the bytes are its result" in finding.evidence) is (remedy == "fused")
    assert remedy in finding.suggestion.replace("narrower type, or compute", "")


def test_a_gather_names_its_consumer_behind_a_bitcast(case_of: MakeCase) -> None:
    used = "  b = f32[1024,4096] bitcast(g)\n  ROOT n = f32[1024,4096] negate(b)"
    (finding,) = [
        finding
        for finding in find_findings(case_of(gather("all-gather", used)))
        if finding.rule == "gathered-once"
    ]
    assert "only `n` uses the result" in finding.evidence


@pytest.mark.parametrize(
    ("users", "said"),
    [
        ("  ROOT n = f32[4096,1024] negate(c)", "only `n` uses the result, through `c`."),
        ("  n = f32[4096,1024] negate(c)\n  ROOT m = f32[4096,1024] add(n, c)", ""),
    ],
)
def test_who_uses_a_copy_of_a_gather_uses_the_gather(
    case_of: MakeCase, users: str, said: str
) -> None:
    copied = f"  c = f32[4096,1024]{{0,1}} copy(g)\n{users}"
    told = [
        finding.evidence
        for finding in find_findings(case_of(gather("all-gather", copied)))
        if finding.rule == "gathered-once"
    ]
    assert [said in sentence for sentence in told] == ([True] if said else [])


def waiting(case: Case) -> list[Finding]:
    return [finding for finding in find_findings(case) if finding.rule == "waiting-collectives"]


def test_a_collective_names_what_could_run_beside_it(case_of: MakeCase) -> None:
    (found,) = waiting(case_of(gather("all-gather", FREE)))
    assert "Independent of `g`: `m`." in found.evidence
    assert found.grade == "matched"


def test_a_collective_waits_for_nothing_that_needs_it_or_is_needed(case_of: MakeCase) -> None:
    assert not waiting(case_of(gather("all-gather", USED_TWICE)))


def test_work_that_takes_no_time_hides_no_collective(case_of: MakeCase) -> None:
    assert not waiting(case_of(gather("all-gather", FREE.replace("exponential(a)", "iota()"))))


def test_order_means_nothing_on_a_cpu_and_before_scheduling(case_of: MakeCase) -> None:
    text = gather("all-gather", FREE)
    assert not waiting(replace(case_of(text), device=nominal_device("cpu")))
    assert not waiting(case_of(text.replace("is_scheduled=true, ", "")))


def test_small_collectives_are_in_the_finding_of_a_large_one(
    case_of: MakeCase,
) -> None:
    small = (
        "  b = f32[8] parameter(1)\n"
        "  h = f32[32] all-gather(b), channel_id=2, dimensions={0}, replica_groups=[1,4]<=[4], "
        f"use_global_device_ids=true\n{FREE}"
    )
    (found,) = waiting(case_of(gather("all-gather", small)))
    assert found.evidence.startswith(
        "2 all-gathers run synchronously although independent work could overlap them: "
    )
    assert found.count == 2
    assert found.seconds_together
    assert found.seconds
    assert found.seconds_together > found.seconds


def test_a_collective_hides_no_more_than_the_work_beside_it_takes(case_of: MakeCase) -> None:
    case = case_of(gather("all-gather", FREE))
    (found,) = waiting(case)
    exposed = sum(figures.exposed_seconds for figures in case.collectives)
    work = case.least(case.cost.instructions["e", "m"])
    assert found.seconds == pytest.approx(work)
    assert work < exposed
    assert "of it, by the roofline time of the independent work." in found.evidence
    alone = case.collectives[0]
    other = replace(alone, collective=replace(alone.collective, instruction="other"))
    shared = replace(case)
    shared.__dict__["collectives"] = (alone, other)
    assert words_of_bound(shared, [alone]).endswith(", if no other collective needs that work.")
    assert words_of_bound(case, [alone]).endswith(" of the independent work.")


def test_some_collectives_hide_no_more_than_all_of_their_computation(case_of: MakeCase) -> None:
    """The only work runs beside another collective: taken from there, that one is exposed."""
    group = "channel_id=1, replica_groups=[1,4]<=[4], use_global_device_ids=true, to_apply=add"
    text = entry(
        "  a = f32[1024,1024] parameter(0)\n  b = f32[1024,1024] parameter(1)\n"
        f"  s = f32[1024,1024] all-reduce-start(b), {group}\n"
        "  w = f32[1024,1024] exponential(a)\n"
        "  y = f32[1024,1024] all-reduce-done(s)\n"
        f"  x = f32[1024,1024] all-reduce(a), {group.replace('id=1', 'id=2')}\n"
        f"  ROOT r = ({', '.join(['f32[1024,1024]'] * 3)}) tuple(x, y, w)",
        ", is_scheduled=true, num_partitions=4",
    )
    case = case_of(text)
    exposed = [one for one in case.collectives if one.collective.instruction == "x"]
    assert exposed[0].hideable_seconds
    assert case.sum_hideable(exposed) == pytest.approx(0.0, abs=1e-12)
    assert "what is independent hides others now" in words_of_bound(case, exposed)


def test_the_scheduler_is_not_to_be_turned_on_where_it_ran(case_of: MakeCase) -> None:
    case = case_of(gather("all-gather", FREE))
    (unknown,) = waiting(case)
    assert "Check that the latency-hiding scheduler runs" in unknown.suggestion
    (ran,) = waiting(replace(case, scheduler_step="0153"))
    assert ran.suggestion.startswith("The latency-hiding scheduler ran (step 0153): check ")


def test_a_step_that_made_it_synchronous_is_the_reason(case_of: MakeCase) -> None:
    """Async collectives are allowed where a pass after scheduling took them back."""
    case = replace(case_of(gather("all-gather", FREE)), scheduler_step="", sync_step="0156")
    (synchronous,) = waiting(case)
    assert synchronous.suggestion.startswith(
        "gpu-convert-async-collectives-to-sync (step 0156) made it synchronous, as nothing was "
        "scheduled between start and done. Turn on the latency-hiding scheduler, which did not run"
    )
    assert "disable_async" not in synchronous.suggestion


def test_the_exposed_time_of_all_collectives_is_told_once_for_all(case_of: MakeCase) -> None:
    other = (
        "  b = f32[4096,4096] parameter(1)\n"
        "  h = f32[4096,4096] all-reduce(b), channel_id=2, to_apply=sum, "
        f"replica_groups=[1,4]<=[4], use_global_device_ids=true\n{FREE}"
    )
    (gathered,) = [
        finding
        for finding in waiting(case_of(gather("all-gather", other)))
        if "all-gather" in finding.title
    ]
    assert " of all collectives exposed" in gathered.evidence
    assert "of all all-gathers" not in gathered.evidence  # it is the only one


def test_a_combined_all_gather_that_waits_for_its_last_operand_has_the_threshold(
    case_of: MakeCase,
) -> None:
    part, whole = "f32[1024,1024]", "f32[4096,1024]"
    text = entry(
        f"  a = {part} parameter(0)\n  b = {part} {PRODUCT}\n"
        f"  s = (({part}, {part}), ({whole}, {whole})) all-gather-start(a, b), channel_id=1, "
        "dimensions={0}, replica_groups=[1,4]<=[4], use_global_device_ids=true\n"
        f"  d = ({whole}, {whole}) all-gather-done(s)\n  e = {part} {PRODUCT}\n"
        f"  ROOT t = (({whole}, {whole}), {part}) tuple(d, e)",
        ", is_scheduled=true, num_partitions=4",
    )
    (finding,) = [
        finding
        for finding in find_findings(case_of(text))
        if finding.rule in ("exposed-collectives", "waiting-collectives")
    ]
    assert "1 operand of the all-gather of `b` could be sent long before" in finding.suggestion
    assert "overlap_limit" not in finding.suggestion


def test_exposed_collectives_tell_their_time_and_why(case_of: MakeCase) -> None:
    findings = find_findings(case_of(gather("all-gather", USED_TWICE)))
    (exposed,) = [finding for finding in findings if finding.rule == "exposed-collectives"]
    assert exposed.title.endswith("compute depends on it")
    assert "`g`: all compute of its computation feeds it or needs its result" in exposed.evidence
    assert exposed.seconds
    assert exposed.seconds == pytest.approx(exposed.weight)
    assert exposed.seconds_together == pytest.approx(2 * exposed.seconds)
    assert exposed.evidence.endswith(
        "A type of half the width, bf16 for f32, saves 21 µs of the rest."
    )
    assert exposed.severity == "medium"


def test_nothing_is_gained_of_a_narrow_collective_that_compute_waits_for(case_of: MakeCase) -> None:
    """Its time is not what a remedy saves: the finding remains, for its share, without a gain."""
    case = case_of(gather("all-gather", USED_TWICE).replace("f32[", "bf16["))
    (exposed,) = exposed_collectives(case)
    assert exposed.seconds is None
    assert exposed.weight == 0
    assert exposed.severity == "medium"
    assert exposed.evidence.endswith("No gain is known unless less is sent.")


def test_a_narrower_type_is_no_gain_for_values_that_are_put_in_order(case_of: MakeCase) -> None:
    least = "least {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
    least += "  ROOT l = pred[] compare(x, y), direction=LT\n}\n\nENTRY"
    users = "  n = f32[4096,1024] negate(g)\n"
    users += "  ROOT s = f32[4096,1024] sort(n), dimensions={1}, to_apply=least"
    (scores,) = exposed_collectives(case_of(gather("all-gather", users).replace("ENTRY", least)))
    assert scores.seconds is None
    assert "A narrower type is not counted for `g`: its values are put in order" in scores.evidence
    assert scores.suggestion.startswith("Send less by another sharding, or cut")
    (others,) = exposed_collectives(case_of(gather("all-gather", USED_ONCE)))
    assert others.seconds
    assert others.suggestion.startswith("Send less, by a narrower type or another sharding, or cut")


def test_operands_that_wait_for_the_last_of_a_combined_collective_are_named(
    case_of: MakeCase,
) -> None:
    """All compute feeds it, but the first operand could be sent while the last is computed."""
    text = entry(
        f"  a = f32[1024,1024] parameter(0)\n  b = f32[1024,1024] {PRODUCT}\n"
        "  r = (f32[1024,1024], f32[1024,1024]) all-reduce(a, b), channel_id=1, to_apply=add, "
        "replica_groups=[1,4]<=[4], use_global_device_ids=true\n"
        "  c = f32[1024,1024] get-tuple-element(r), index=1\n"
        f"  ROOT d = f32[1024,1024] {PRODUCT.replace('a', 'c')}",
        ", is_scheduled=true, num_partitions=4",
    )
    (exposed,) = exposed_collectives(case_of(text))
    assert exposed.title.endswith("compute depends on it")
    sentence = (
        "1 operand of `r` could be sent long before the last, `b`, is computed: combined, it waits."
    )
    assert sentence in exposed.evidence
    (figures,) = case_of(text).collectives
    assert 0 < figures.overlap.early_seconds <= figures.exposed_seconds / 2
    assert exposed.seconds
    assert exposed.seconds == pytest.approx(
        figures.exposed_seconds / 2 + figures.overlap.early_seconds
    )
    scalar = text.replace("r = (f32[1024,1024]", "r = (f32[]").replace("reduce(a,", "reduce(s,")
    scalar = scalar.replace("  b = f32", "  s = f32[] parameter(1)\n  b = f32", 1)
    (other,) = exposed_collectives(case_of(scalar))
    assert "long before" not in other.evidence


def test_a_refused_fusion_saves_no_more_than_the_traffic_of_its_result(case_of: MakeCase) -> None:
    rows = PRODUCT.replace("rhs_contracting_dims={0}", "rhs_contracting_dims={1}")
    text = f"  a = f32[4096,256] parameter(0)\n  b = f32[4096,4096] {rows}\n"
    case = case_of(entry(f"{text}  ROOT c = f32[4096,4096] negate(b)"))
    no = FusionDecision("producer_ineligible", "b", (), "", "it is a product", None, None)
    linked = {("e", "b"): LinkedDecisions((no,), "matched")}
    (refused_fusion,) = refused_fusions(replace(case, decisions=linked))
    assert refused_fusion.seconds == pytest.approx(case.time_of_bytes(2 << 26))
    assert refused_fusion.seconds < case.least(case.cost.instructions["e", "b"])


BETWEEN = """fused {
  p = f32[4096,4096] parameter(0)
  ROOT x = f32[4096,4096] negate(p)
}

ENTRY e {
  a = f32[4096,4096] parameter(0)
  b = f32[4096,4096] fusion(a), kind=OWN, calls=fused
  c = f32[4096,4096] fusion(b), kind=FIRST, calls=fused
  d = f32[4096,4096] fusion(b), kind=SECOND, calls=fused
  ROOT t = (f32[4096,4096], f32[4096,4096]) tuple(c, d)
}"""


@pytest.mark.parametrize(
    ("own", "first", "second", "sizes"),
    [
        ("kLoop", "kLoop", "kLoop", 3),
        ("kLoop", "kLoop", "kCustom", 1),
        ("kLoop", "kCustom", "kCustom", None),
        ("kCustom", "kLoop", "kLoop", None),
    ],
)
def test_a_custom_fusion_saves_nothing_that_is_known(
    case_of: MakeCase, own: str, first: str, second: str, sizes: int | None
) -> None:
    text = BETWEEN.replace("OWN", own).replace("FIRST", first).replace("SECOND", second)
    case = case_of(f"HloModule m, is_scheduled=true\n\n{text}")
    no = FusionDecision("producer_ineligible", "b", (), "", "it is not fusible", None, None)
    linked = {("e", "b"): LinkedDecisions((no,), "matched")}
    (refused_fusion,) = refused_fusions(replace(case, decisions=linked))
    if sizes is None:
        assert (refused_fusion.seconds, refused_fusion.weight) == (None, 0.0)
        assert refused_fusion.title.startswith("Custom fusion or library call")
        assert "only another lowering could save" in refused_fusion.evidence
    else:
        assert refused_fusion.seconds == pytest.approx(case.time_of_bytes(sizes << 26))


def test_what_a_convolution_of_a_library_reads_has_its_own_remedy(case_of: MakeCase) -> None:
    text = BETWEEN.replace("OWN", "kLoop").replace("FIRST", "kCustom").replace("SECOND", "kCustom")
    no = FusionDecision("producer_ineligible", "b", (), "", "it is not fusible", None, None)
    linked = {("e", "b"): LinkedDecisions((no,), "matched")}
    for target, words in (("__cudnn$convForward", "A convolution of a"), ("other", "Triton fus")):
        called = text.replace("kind=kCustom", f'custom_call_target="{target}", kind=kCustom')
        case = case_of(f"HloModule m, is_scheduled=true\n\n{called}")
        (finding,) = refused_fusions(replace(case, decisions=linked))
        assert finding.suggestion.startswith(words)


def test_one_finding_holds_for_every_layer(case_of: MakeCase) -> None:
    layers = "\n".join(
        f"  c{n} = f32[1024,1024]{{0,1}} copy(a)\n  d{n} = f32[1024,1024]{{1,0}} copy(c{n})"
        for n in range(6)
    )
    text = entry(
        f"  a = f32[1024,1024]{{1,0}} parameter(0)\n{layers}\n  ROOT r = f32[] constant(0)"
    )
    (finding,) = (
        finding for finding in find_findings(case_of(text)) if finding.rule == "layout-copies"
    )
    assert "11 more occurrences" in finding.evidence
    assert len(finding.places) == 10


@pytest.mark.parametrize(
    ("opcode", "given", "kept", "is_found"),
    [
        ("copy(", "f32[4096,1,1024]{2,0,1}", "f32[4096,1,1024]{2,1,0}", False),
        ("copy(", "f32[4096,2,512]{2,0,1}", "f32[4096,2,512]{2,1,0}", True),
        ("transpose(", "f32[4096,1024]{0,1}", "f32[1024,4096]{1,0}", False),
        ("transpose(", "f32[4096,1024]{1,0}", "f32[1024,4096]{1,0}", True),
    ],
)
def test_a_copy_that_keeps_the_order_of_elements_changes_no_layout(
    case_of: MakeCase, opcode: str, given: str, kept: str, *, is_found: bool
) -> None:
    """A dimension of one element may stand anywhere in a layout."""
    tail = ", dimensions={1,0}" if opcode == "transpose(" else ""
    text = f"""HloModule m, is_scheduled=true

fused {{
  p = {given} parameter(0)
  ROOT c = {kept} {opcode}p){tail}
}}

ENTRY e {{
  a = {given} parameter(0)
  ROOT f = {kept} fusion(a), kind=kLoop, calls=fused
}}"""
    rules = {finding.rule for finding in find_findings(case_of(text))}
    assert ("layout-copies" in rules) is is_found


def test_padding_on_the_chip_saves_no_device_memory(case_of: MakeCase) -> None:
    def padding(space: str) -> Finding:
        layout = f"{{1,0:T(8,128){space}}}"
        text = entry(f"  a = f32[] parameter(0)\n  ROOT b = f32[65536,1]{layout} broadcast(a)")
        (finding,) = (
            finding for finding in find_findings(case_of(text)) if finding.rule == "tile-padding"
        )
        return finding

    held, on_chip = padding(""), padding("S(1)")
    assert held.bytes == 65536 * 127 * 4
    assert "32.0 MiB of device memory for 256 KiB of data" in held.evidence
    assert (on_chip.bytes, on_chip.weight) == (None, 0)
    assert on_chip.evidence.endswith("padding. None of it in device memory.")


def test_titles_are_not_repeated(case_of: MakeCase) -> None:
    for path in SEEDS:
        titles = [finding.title for finding in find_findings(case_of(path.read_text()))]
        assert len(titles) == len(set(titles))


def test_nothing_is_said_of_a_text_without_its_entry(case_of: MakeCase) -> None:
    text = having("unfused-chains", "having")
    assert not find_findings(case_of(text.replace("ENTRY ", "")))


def test_unfused_work_names_the_option_that_forbids_it(case_of: MakeCase) -> None:
    text = having("unfused-chains", "having")
    case = replace(case_of(text), settings={"xla_disable_hlo_passes": "cse,fusion"})
    (finding,) = (finding for finding in find_findings(case) if finding.rule == "unfused-chains")
    assert "`xla_disable_hlo_passes=cse,fusion`" in finding.evidence


def test_what_the_compiler_did_not_finish_is_not_blamed_on_it(case_of: MakeCase) -> None:
    text = having("unfused-chains", "having")
    case = replace(case_of(text), is_optimized=False)
    assert {finding.rule for finding in find_findings(case)} == {"undonated-inputs"}


@pytest.mark.parametrize(("dump", "number"), [("labelled-retraced", 1), ("jax-cpu-train", 0)])
def test_a_function_compiled_again_is_found(
    unpacked: Callable[[str], Path], dump: str, number: int
) -> None:
    with open_source(unpacked(dump)) as source:
        modules = [read_module(module) for module in group(name_files(source)).modules]
    summaries = [
        summarize_module(
            module,
            origin_of(module),
            [None] * len(module.snapshots),
            cost_module(module, origin_of(module).backend),
        )
        for module in modules
    ]
    recompilations = [
        report_recompilation(recompilation)
        for recompilation in group_recompilations(summaries, assign_processes(summaries))
    ]
    assert len(recompilations) == number
    assert all(
        "compiled" in recompilation.evidence and len(recompilation.places) > 1
        for recompilation in recompilations
    )


def test_a_function_compiled_thousands_of_times_names_few_modules() -> None:
    keys = tuple(f"module_{number:04d}.jit_f" for number in range(1_000))
    finding = report_recompilation(RecompilationGroup("f", keys, (), "their names", 0))
    assert len(finding.places) == 50
    assert "f was compiled 1,000 times" in finding.evidence


def test_a_finding_names_few_values_of_thousands() -> None:
    keys = tuple(f"module_{number:04d}.jit_f" for number in range(1_000))
    shapes = Difference("argument 0 (x): shape", tuple(f"f32[{number}]" for number in range(1_000)))
    finding = report_recompilation(RecompilationGroup("f", keys, (shapes,), "their names", 0))
    assert "f32[0], then f32[1], then f32[2]" in finding.evidence
    assert "then f32[19], and 980 more values." in finding.evidence
    assert len(finding.evidence) < 1_000


def test_pieces_for_tuning_are_no_modules_of_the_users(unpacked: Callable[[str], Path]) -> None:
    with open_source(unpacked("gpu-h100x2-train")) as source:
        modules = [read_module(module) for module in group(name_files(source)).modules]
    cases = {module.files.name: _case(module) for module in modules}
    assert cases["jit_train_step"] is not None
    assert cases["jit_train_step"].decisions
    assert any(case is None for case in cases.values())


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("rematerialized", 1),
        ("rematerialized-gspmd", 1),
        ("adjusted", 0),
        ("weights_gathered", 0),
        ("replicated", 0),
        ("replicated_between", 0),
    ],
)
def test_involuntary_rematerializations(
    unpacked: Callable[[str], Path], name: str, count: int
) -> None:
    with open_source(unpacked("resharded") / name) as source:
        (module,) = map(read_module, group(name_files(source)).modules)
    case = _case(module)
    assert case is not None
    findings = [
        finding
        for finding in find_findings(case)
        if finding.rule == "involuntary-rematerializations"
    ]
    assert len(findings) == count
    for finding in findings:
        assert (finding.grade, finding.bytes) == ("exact", 16384 - 2048)
        assert "16.0 KiB on each device" in finding.evidence
        assert "resharded.py:" in finding.evidence
        final = {instruction.name for instruction in case.module.instructions}
        assert {place[1] for place in finding.places} <= final


def _case(module: ParsedModule) -> Case | None:
    costed = cost_module(module, "gpu", CostOptions(device=nominal_device("gpu")))
    partitioning = find_partitioning([snapshot.hlo for snapshot in module.snapshots])
    values = find_rematerializations(partitioning) or ()
    return case_of_module(costed, values) if costed else None


def _findings_of_text(case_of: MakeCase, text: str, rule: str) -> list[Finding]:
    return [finding for finding in find_findings(case_of(text)) if finding.rule == rule]


def test_every_rule_has_a_module_with_its_pattern() -> None:
    names = {rule.__name__.replace("_", "-") for rule in RULES}
    assert names == set(map(rule_id, RULES))
    whole_dumps = {
        "involuntary-rematerializations",
        "replicated-work",
        "out-of-memory",
        "refused-fusions",
        "short-kernels",  # needs a thunk sequence: test_short_kernels.py
    }
    assert {path.parent.name for path in SEEDS} == names - whole_dumps


def test_padding_is_counted_against_the_mxu_of_the_device() -> None:
    v5e, v6e = tpu_cores()["tpu-v5e"], tpu_cores()["tpu-v6e"]
    assert Product(1024, 147, 64).padding(v5e) == pytest.approx(256 / 147)
    assert Product(1000, 128, 64).padding(v5e) == pytest.approx(1.024)
    assert Product(60, 128, 60).padding(v5e) == pytest.approx(128 * 64 / 3600)
    assert Product(4096, 256, 256).padding(v6e) == 1
    assert Product(4096, 128, 256).padding(v6e) == 2


def test_a_convolution_is_padded_as_the_matmul_of_its_patches(case_of: MakeCase) -> None:
    case = case_of(
        entry(
            "  a = bf16[128,224,224,3]{3,0,2,1:T(8,128)(2,1)} parameter(0)\n"
            "  k = bf16[7,7,3,64]{3,2,1,0:T(4,128)(2,1)} parameter(1)\n"
            "  ROOT c = bf16[128,112,112,64]{3,0,2,1:T(8,128)(2,1)} convolution(a, k), "
            "window={size=7x7 stride=2x2 pad=2_3x2_3}, dim_labels=b01f_01io->b01f, "
            'operand_precision={highest,highest}, backend_config={"estimated_cycles":"900000"}'
        )
    )
    [padded_product] = padded_products(replace(case, device=replace(case.device, bandwidth=1e15)))
    assert (
        "1605632 x 147 by 147 x 64, contracted dimension padded to 256, 1.7 times"
        in padded_product.evidence
    )


def test_matmuls_of_an_fft_are_not_for_the_program_to_pad(case_of: MakeCase) -> None:
    text = (
        "  a = f32[524288,8]{1,0:T(8,128)} parameter(0)\n"
        "  b = f32[8,8]{1,0:T(8,128)} parameter(1)\n"
        "  ROOT c = f32[524288,8]{1,0:T(8,128)} dot(a, b), lhs_contracting_dims={1}, "
        'rhs_contracting_dims={0}, backend_config={"estimated_cycles":"90000"}'
    )
    for name, told in (("jit(f)/jit(fft)", "computes an FFT by matmuls"), ("jit(f)/dot", "Make")):
        case = case_of(entry(f'{text}, metadata={{op_name="{name}"}}'))
        [finding] = padded_products(replace(case, device=replace(case.device, bandwidth=1e15)))
        assert told in finding.suggestion
        [starved] = starved_products(case)
        assert ("computes an FFT" in starved.suggestion) is ("fft" in name)


def test_a_copy_of_an_fft_is_not_for_the_program_to_move(case_of: MakeCase) -> None:
    text = having("layout-copies", "having")
    (own,) = _findings_of_text(case_of, text, "layout-copies")
    assert "pass the data in the order that is read" in own.suggestion
    name = case_of(text).module.find(*own.places[0])
    assert name is not None
    fft = text.replace(name.metadata.op_name, "jit(f)/jit(fft)")
    (finding,) = _findings_of_text(case_of, fft, "layout-copies")
    assert "computes an FFT" in finding.suggestion


def test_what_only_hands_on_random_numbers_does_not_make_them(case_of: MakeCase) -> None:
    text = having("random-numbers", "having")
    (finding,) = _findings_of_text(case_of, text, "random-numbers")
    case = case_of(text)
    opcodes = {case.module.by_name[home].by_name[name].opcode for home, name in finding.places}
    assert not opcodes & {"get-tuple-element", "tuple", "constant", "parameter"}
    assert finding.evidence.startswith("22 instructions")


def test_the_options_of_combiners_are_those_of_the_backend_and_kind(case_of: MakeCase) -> None:
    text = having("small-collectives")
    gathers = text.replace("all-reduce(", "all-gather(").replace(
        ", to_apply=add", ", dimensions={0}"
    )
    tpu = device_named("TPU v5e")
    assert tpu is not None
    for given, gpu, jf in (
        (text, "xla_gpu_all_reduce_combine", "xla_jf_crs_combiner"),
        (gathers, "xla_gpu_all_gather_combine", "xla_all_gather_combiner"),
    ):
        case = case_of(given)
        for device, option in ((case.device, gpu), (tpu, jf)):
            [finding] = small_collectives(replace(case, device=device))
            assert option in finding.suggestion


@pytest.mark.parametrize(
    ("multiprocessors", "words"),
    [
        (132, "Unsplit, they have 256 output tiles for 132 multiprocessors."),
        (257, "longer by the multiprocessors without a tile."),
        (None, "How many multiprocessors the split keeps busy is not known."),
    ],
)
def test_a_split_says_which_multiprocessors_it_keeps_busy(
    multiprocessors: int | None, words: str, case_of: MakeCase
) -> None:
    tile = ', backend_config={"output_tiles":[{"sizes":["1","64","64"]}]}'
    case = case_of(split(SUM).replace("calls=product", f"calls=product{tile}"))
    device = replace(case.device, multiprocessors=multiprocessors)
    [one] = split_products(replace(case, device=device))
    cache = " The L2 cache is not modeled: partial sums that stay in it cost less."
    assert one.evidence.endswith(f"{words}{cache}")


def test_the_traffic_of_a_split_is_stated_once(case_of: MakeCase) -> None:
    no = FusionDecision("producer_ineligible", "r", (), "", "not fusible", None, None)
    linked = {("e", "p"): LinkedDecisions((no,), "matched")}
    case = replace(case_of(split(SUM)), decisions=linked)
    assert [*split_products(case)]
    assert not [*refused_fusions(case)]


FUSED_SUM = """  ROOT r = f32[1024,1024] fusion(p, c), kind=kLoop, calls=total"""
TOTAL = """total {
  q = f32[8,1024,1024] parameter(0)
  o = f32[1024,1024] parameter(1)
  n = f32[] constant(0)
  s = f32[1024,1024] reduce(q, n), dimensions={0}, to_apply=add
  ROOT t = f32[1024,1024] add(s, o)
}

ENTRY e {
  c = f32[1024,1024] parameter(2)"""


def test_a_split_whose_sum_reads_nothing_else_saves_all_of_its_parts(case_of: MakeCase) -> None:
    (alone,) = split_products(case_of(split(SUM)))
    fused = split(FUSED_SUM).replace("ENTRY e {", TOTAL)
    (beside,) = split_products(case_of(fused))
    twice_read = fused.replace("  ROOT r", f"{SUM.replace('ROOT r', 's')}\n  ROOT r")
    (twice,) = split_products(case_of(twice_read))
    assert alone.seconds is not None
    assert beside.seconds == pytest.approx(alone.seconds * 7 / 8)
    assert twice.seconds == pytest.approx(alone.seconds * (3 - 1 / 8) / 2)


def test_a_split_with_padded_operands_has_no_upper_bound(case_of: MakeCase) -> None:
    text = split(SUM)
    argument = "ENTRY e {\n  a = f32[1024,64] parameter(0)"
    padded = """ENTRY e {
  c = f32[1024,60] parameter(0)
  n = f32[] constant(0)
  a = f32[1024,64] pad(c, n), padding=0_0x0_4"""
    assert argument in text
    [plain] = split_products(case_of(text))
    [finding] = split_products(case_of(text.replace(argument, padded)))
    assert not plain.is_partial
    assert "up to" in plain.evidence
    assert finding.is_partial
    assert "about" in finding.evidence
    assert "the time of padding is saved too, and is not counted" in finding.evidence


def test_a_split_that_fills_idle_multiprocessors_is_worth_its_sums(case_of: MakeCase) -> None:
    tile = ', backend_config={"output_tiles":[{"sizes":["1","1024","1024"]}]}'
    case = case_of(split(SUM).replace("calls=product", f"calls=product{tile}"))
    assert [*split_products(case)]
    device = replace(case.device, multiprocessors=132)
    assert not [*split_products(replace(case, device=device))]
    other = "  q = f32[8,1024,1024] fusion(a, b), kind=kCustom, calls=product"
    sums = (SUM.replace("ROOT r", "w").replace("(p,", "(q,"), SUM)
    both = split("\n".join((other, *sums)))
    line = "  p = f32[8,1024,1024] fusion(a, b), kind=kCustom, calls=product"
    (part,) = split_products(replace(case_of(both.replace(line, line + tile)), device=device))
    assert part.evidence.startswith("1 of the 2 split matmuls (`q`): ")


def test_what_weighs_most_comes_first(case_of: MakeCase) -> None:
    findings = find_findings(case_of(gather("all-gather", USED_ONCE)))
    assert [finding.weight for finding in findings] == sorted(
        (finding.weight for finding in findings), reverse=True
    )


@pytest.mark.parametrize(
    ("dump", "backend"),
    [("jax-cpu-train", "cpu"), ("tpu-v5e-scan", "tpu"), ("tf-add-multiply", "cpu")],
)
def test_small_well_made_programs_give_no_finding(
    unpacked: Callable[[str], Path], dump: str, backend: str
) -> None:
    for path in sorted(unpacked(dump).rglob("*after_optimizations.txt")):
        module = TextReader().read(path.read_bytes(), path.name)
        assert module is not None
        assert find_findings(Case(module, count_cost(module), nominal_device(backend))) == ()


SMALL = (
    "HloModule m, is_scheduled=true\n\nENTRY e {\n  a = f32[64,8] parameter(0)\n"
    "  c = f32[64,8]{0,1} copy(a)\n  ROOT b = f32[64,8]{0,1} negate(c)\n}\n"
)


def test_savings_that_are_too_little_for_a_finding_are_candidates(case_of: MakeCase) -> None:
    case = case_of(SMALL)
    assert find_findings(case) == ()
    candidates = find_candidates(case)
    assert {finding.rule for finding in candidates} == {"layout-copies"}
    assert (candidates[0].seconds or 0.0) < SHORTEST
    large = replace(case, device=replace(case.device, bandwidth=1.0))
    assert not large.is_small
    assert find_candidates(large) == ()


def test_savings_of_nanoseconds_are_no_candidates(case_of: MakeCase) -> None:
    case = case_of(SMALL)
    fast = replace(case, device=replace(case.device, bandwidth=100 * case.device.bandwidth))
    assert find_candidates(fast) == ()


@pytest.mark.parametrize(
    ("held", "size", "findings", "candidates"),
    [(4096, 4096, False, True), (1 << 20, 4096, False, False), (1 << 30, 1 << 20, True, True)],
)
def test_bytes_are_large_by_themselves_or_as_a_share_of_a_small_program(
    case_of: MakeCase, held: int, size: int, *, findings: bool, candidates: bool
) -> None:
    memory = MemoryFigures(None, None, None, (), {}, HeldMemory(held, 0, 0, 0, 0))
    case = replace(case_of(SMALL), memory=memory)
    assert case.is_large(size) is findings
    assert replace(case, with_candidates=True).is_large(size) is candidates


def test_a_weight_whose_gradient_is_returned_is_not_to_be_donated(case_of: MakeCase) -> None:
    gradient = '  ROOT b = f32[1024,1024] negate(a), metadata={op_name="jit(f)/%s/neg"}'
    for phase, rules in (("transpose(jvp(f))", set()), ("update", {"undonated-inputs"})):
        text = entry("  a = f32[1024,1024] parameter(0)\n" + gradient % phase)
        assert {finding.rule for finding in find_findings(case_of(text))} == rules


def test_an_argument_that_could_be_donated_as_a_whole_is_named(case_of: MakeCase) -> None:
    lines = [
        f"  {name} = f32[1024,1024] parameter({number}), metadata={{op_name=\"m['{name}']\"}}"
        for number, name in enumerate("ab")
    ]
    pair = "(f32[1024,1024], f32[1024,1024])"
    names = "  c = f32[1024,1024] add(a, b)\n  d = f32[1024,1024] negate(a)\n"
    text = entry("\n".join(lines) + f"\n{names}  ROOT r = {pair} tuple(c, d)")
    (finding,) = undonated_inputs(case_of(text))
    assert finding.subject == "all arrays of m (argument 0)"
    assert "layout: all arrays of `m` (argument 0). Neither" in finding.evidence
    assert finding.suggestion.startswith("Donate them ")
    (finding,) = undonated_inputs(case_of(having("undonated-inputs")))
    assert finding.suggestion.startswith("Donate it ")


def test_donations_are_judged_after_the_compiler_has_assigned_them(case_of: MakeCase) -> None:
    text = having("unused-donations")
    assert "unused-donations" in {finding.rule for finding in find_findings(case_of(text))}
    case = replace(case_of(text), is_optimized=False)
    assert "unused-donations" not in {finding.rule for finding in find_findings(case)}


def test_a_triangular_solve_is_no_product(case_of: MakeCase) -> None:
    text = entry(
        "  a = f32[1024,1024] parameter(0)\n  b = f32[1024,1] parameter(1)\n"
        "  ROOT s = f32[1024,1] custom-call(a, b), custom_call_target="
    )
    for target in ("lapack_strsm_ffi", "cublas_trsm_ffi"):
        case = case_of(text.replace("custom_call_target=", f'custom_call_target="{target}"'))
        assert "starved-products" not in {finding.rule for finding in find_findings(case)}


def test_all_gathers_of_one_operand_to_the_same_devices_name_one_another(case_of: MakeCase) -> None:
    text = having("gathered-once")
    line = next(line for line in text.splitlines() if "all-gather" in line)
    twin = line.replace(" g =", " h =").replace("[1,4]<=[4]", "{{0,1,2,3}}")
    use = "  k = f32[4096,1024] tanh(h)"
    text = text.replace(line, f"{line}\n{twin}\n{use}")
    evidence = [finding.evidence for finding in gathered_once(case_of(text))]
    assert evidence[0].endswith("`h` sends the same operand to the same devices again.")
    assert evidence[1].endswith("`g` sends the same operand to the same devices again.")
    other = text.replace(twin, twin.replace("{{0,1,2,3}}", "{{0,2,1,3}}"))
    assert not any("again" in finding.evidence for finding in gathered_once(case_of(other)))


def test_latency_in_loops_is_no_part_of_the_roofline_time(case_of: MakeCase) -> None:
    sums = having("looped-collectives")
    exchange = sums.replace("all-reduce(", "all-to-all(").replace(
        ", use_global_device_ids=true, to_apply=add", ", dimensions={0}"
    )
    for text, advice in ((sums, "sum the partial values"), (exchange, "iterations together")):
        (finding,) = _findings_of_text(case_of, text, "looped-collectives")
        assert finding.seconds is None
        assert finding.latency_seconds == pytest.approx(1024 * 2e-6)
        assert "leave out" in finding.evidence
        assert finding.suggestion.count(advice) == 1
        assert ("partial" in finding.suggestion) == (text is sums)


def test_the_title_of_a_refused_fusion_has_the_reason_of_xla(case_of: MakeCase) -> None:
    case = case_of(
        entry(
            f"  a = f32[512,512] parameter(0)\n  b = f32[512,512] {PRODUCT}\n"
            "  ROOT c = f32[512,512] negate(b)"
        )
    )
    raw = "the consumer is not fusible"
    no = FusionDecision("producer_ineligible", "b", (), "", raw, None, None)
    (finding,) = refused_fusions(
        replace(case, decisions={("e", "b"): LinkedDecisions((no,), "matched")})
    )
    assert finding.title == f"Producer not fused into its consumer: {raw}"
    assert "elementwise work" in finding.suggestion


def test_a_fusion_with_several_results_is_blocked_by_its_elements(case_of: MakeCase) -> None:
    text = entry(
        "  a = f32[512,512] parameter(0)\n"
        "  b = (f32[512,512], f32[512,512]) fusion(a), kind=kLoop, calls=two\n"
        "  g = f32[512,512] get-tuple-element(b), index=1\n"
        "  ROOT c = f32[512,512] fusion(g), kind=kLoop, calls=one"
    ).replace(
        "ENTRY",
        "two {\n  p = f32[512,512] parameter(0)\n  n = f32[512,512] negate(p)\n"
        "  s = f32[512,512] sine(p)\n  ROOT t = (f32[512,512], f32[512,512]) tuple(n, s)\n}\n\n"
        "one {\n  p = f32[512,512] parameter(0)\n  ROOT n = f32[512,512] negate(p)\n}\n\nENTRY",
    )
    raw = "the consumer is not fusible"
    no = FusionDecision("producer_ineligible", "b", (), "", raw, None, None)
    decisions = {("e", "b"): LinkedDecisions((no,), "matched", {1: (no,)})}
    (finding,) = refused_fusions(replace(case_of(text), decisions=decisions))
    assert "its direct consumers are 1 get-tuple-element, into which" in finding.evidence
    assert "Nothing reads 1 element that it writes: `{0}` (1.0 MiB)." in finding.evidence
    assert "several results" in finding.suggestion


def stacking(text: str) -> str:
    """Return the program with its entry as the body of a loop that stacks the scores `s`."""
    head, _, body = text.partition("ENTRY e {")
    kinds = re.findall(r" = (bf16\S+) parameter\(\d\)", body)
    state = ", ".join([*kinds, "f32[8,16,512,512]", "s32[]"])
    for number in range(len(kinds)):
        body = body.replace(f"parameter({number})", f"get-tuple-element(t), index={number}")
    lines = (
        "  h = f32[8,16,512,512] get-tuple-element(t), index=4\n"
        "  i = s32[] get-tuple-element(t), index=5\n  z = s32[] constant(0)\n"
        "  u = f32[1,16,512,512] bitcast(s)\n"
        "  x = f32[8,16,512,512] dynamic-update-slice(h, u, i, z, z, z)\n"
        f"  ROOT r = ({state}) tuple(q, k, v, w, x, i)\n}}\n"
    )
    return (
        f"{head}body {{\n  t = ({state}) parameter(0)\n{body.partition('  ROOT r')[0]}{lines}\n"
        f"cond {{\n  t = ({state}) parameter(0)\n  ROOT p = pred[] constant(true)\n}}\n\n"
        f"ENTRY e {{\n  t = ({state}) parameter(0)\n  ROOT loop = ({state}) while(t), "
        'condition=cond, body=body, backend_config={"known_trip_count":{"n":"8"}}\n}\n'
    )


def test_scores_that_a_loop_stacks_are_no_upper_bound(case_of: MakeCase) -> None:
    text = having("attention-scores")
    (finding,) = _findings_of_text(case_of, text, "attention-scores")
    assert finding.suggestion.endswith("The saving is an upper bound.")
    assert "1 producer of scores or of their softmax, by shape" in finding.evidence
    (stacked,) = _findings_of_text(case_of, stacking(text), "attention-scores")
    assert "upper bound" not in stacked.suggestion
    assert (finding.is_partial, stacked.is_partial) == (False, True)
    assert "Not counted: what the loop stacks" in stacked.evidence


def test_a_sliced_array_has_the_name_of_its_argument(case_of: MakeCase) -> None:
    text = having("sliced-operands")
    head, mark, tail = text.partition("parameter(1)\n  zero = s32[] constant(0)\n  t =")
    named = f"{head}{mark.replace('(1)', '(1), ' + WEIGHTS, 1)}{tail}"
    (plain, told) = (
        finding.evidence
        for case in (case_of(text), case_of(named))
        for finding in find_findings(case)
        if finding.rule == "sliced-operands"
    )
    assert "of `stack`, f32[8,1024,1024]," in plain
    assert "of `weights`, f32[8,1024,1024]," in told


WEIGHTS = 'metadata={op_name="weights"}'


SCAN = """HloModule m, is_scheduled=true

cut {
  stack = f32[128,1024,1024]{2,1,0:T(8,128)} parameter(0)
  i = s32[] parameter(1)
  zero = s32[] constant(0)
  part = f32[1,1024,1024]{2,1,0:T(8,128)} dynamic-slice(stack, i, zero, zero), \
dynamic_slice_sizes={1,1024,1024}
  b = f32[1024,1024]{1,0:T(8,128)} bitcast(part)
  ROOT n = f32[1024,1024]{1,0:T(8,128)} negate(b)
}

plain {
  x = f32[64,1024]{1,0:T(8,128)} parameter(0)
  ROOT n = f32[64,1024]{1,0:T(8,128)} negate(x)
}

body {
  state = (s32[], f32[128,1024,1024], f32[64,1024]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  stack = f32[128,1024,1024]{2,1,0:T(8,128)} get-tuple-element(state), index=1
  x = f32[64,1024]{1,0:T(8,128)} get-tuple-element(state), index=2
  large = f32[1024,1024]{1,0:T(8,128)} fusion(stack, i), kind=kLoop, calls=cut, \
backend_config={"estimated_cycles":"120000"}
  small = f32[64,1024]{1,0:T(8,128)} fusion(x), kind=kLoop, calls=plain, \
backend_config={"estimated_cycles":"30000"}
  k = s32[] constant(1)
  j = s32[] add(i, k)
  ROOT next = (s32[], f32[128,1024,1024], f32[64,1024]) tuple(j, stack, small)
}

condition {
  state = (s32[], f32[128,1024,1024], f32[64,1024]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  k = s32[] constant(128)
  ROOT c = pred[] compare(i, k), direction=LT
}

ENTRY e {
  stack = f32[128,1024,1024]{2,1,0:T(8,128)} parameter(0)
  x = f32[64,1024]{1,0:T(8,128)} parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[128,1024,1024], f32[64,1024]) tuple(zero, stack, x)
  ROOT loop = (s32[], f32[128,1024,1024], f32[64,1024]) while(t), condition=condition, \
body=body, backend_config={"known_trip_count":{"n":"128"}}
}
"""


@pytest.mark.parametrize(("cycles", "count"), [("1000000", 1), ("8000", 0)])
def test_a_slice_into_vmem_that_takes_its_cycles_is_no_prefetch(
    case_of: MakeCase, cycles: str, count: int
) -> None:
    """To read the slice of 4 MiB once takes some 7,700 cycles."""
    text = SCAN.replace("  ROOT n = f32[1024,1024]{1,0:T(8,128)} negate(b)\n", "")
    text = text.replace("  b = f32[1024,1024]{1,0:T(8,128)} bitcast", "  ROOT b = SLICE bitcast")
    text = text.replace("large = f32[1024,1024]{1,0:T(8,128)} fusion", "large = SLICE fusion")
    text = text.replace("SLICE", "f32[1024,1024]{1,0:T(8,128)S(1)}").replace("120000", cycles)
    text = text.replace("f32[64,1024]{1,0:T(8,128)} fusion(x), kind=kLoop, calls=plain", ON_CHIP)
    findings = list(sliced_operands(case_of(text)))
    assert len(findings) == count
    for finding in findings:
        assert "copies 4.0 MiB of `stack`" in finding.evidence
        assert "to VMEM for `small` in each of its 128 executions" in finding.evidence
        assert finding.seconds == pytest.approx(128 * (1_000_000 - 7_682) / 1.5e9, rel=0.01)


ON_CHIP = (
    "f32[64,1024]{1,0:T(8,128)} dot(x, large), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
)


def test_slices_of_stacked_arrays_make_no_other_fusion_slow(case_of: MakeCase) -> None:
    """What the whole stack would take is no measure for `small`."""
    for cycles, count in (("30000", 0), ("9000000", 1)):
        case = case_of(SCAN.replace('"30000"', f'"{cycles}"'))
        unclocked = replace(case, device=replace(case.device, key="other"))
        assert len(list(slow_fusions(unclocked))) == count


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        (
            "y = f32[1024,1024] fusion(), kind=kLoop, calls=infinite",
            "y = f32[1024,1024] copy(x)",
            0,
        ),
        ("fusion(), kind=kLoop, calls=infinite", "broadcast(zero), dimensions={}", 1),
        ("fusion(), kind=kLoop, calls=infinite", "broadcast(w), dimensions={}", 0),
        ("tuple(zero, x, y)", "tuple(zero, x, c)", 1),
        ("fusion(x, y), kind=kLoop, calls=masked", 'custom-call(x, y), custom_call_target="f"', 0),
        ("compare(x, y), direction=GT", "dot(x, y)", 0),
        ("1024", "64", 0),
    ],
    ids=["argument", "broadcast", "of an argument", "copied", "custom call", "matmul", "small"],
)
def test_a_loop_carries_what_its_readers_could_compute(
    case_of: MakeCase, old: str, new: str, count: int
) -> None:
    text = having("carried-constants").replace(old, new)
    text = text.replace("  zero = s32", "  w = f32[] parameter(1)\n  zero = s32")
    text = text.replace("  t = (", "  c = f32[1024,1024] copy(y)\n  t = (")
    findings = list(carried_constants(case_of(text)))
    assert len(findings) == count
    for finding in findings:
        assert finding.bytes == 4 << 20
        assert finding.seconds


def test_an_array_that_jax_moved_out_of_a_loop_can_be_kept_in_it(case_of: MakeCase) -> None:
    (finding,) = carried_constants(case_of(having("carried-constants")))
    assert "jax.lax.optimization_barrier((x, rows, fill))" in finding.suggestion
    assert "with the body in jax.checkpoint" in finding.suggestion


@pytest.mark.parametrize(
    ("name", "title", "evidence", "words"),
    [
        ("by_hand", "Large replicated parameters", "1 parameter with `shard", "(FSDP, ZeRO)"),
        (
            "one_axis",
            "Large partly replicated parameters",
            "4 devices; it is donated and split into only 2 parts. The largest: `a`",
            "along the other axes of the mesh",
        ),
        ("tables", "Large replicated parameters", "1 parameter with", "no device gathers a table."),
    ],
)
def test_replicated_parameters_are_a_part_of_the_memory_that_is_worth_it(
    case_of: MakeCase, name: str, title: str, evidence: str, words: str
) -> None:
    texts = read_texts(FINDINGS / "replicated-parameters" / f"{name}.txt")
    case = case_of(texts["having"], texts["having before"])
    (finding,) = replicated_parameters(case)
    assert finding.title == title
    assert evidence in finding.evidence
    assert words in finding.suggestion
    assert finding.bytes
    for held, count in ((99 * finding.bytes, 1), (101 * finding.bytes, 0)):
        memory = MemoryFigures(None, None, None, (), {}, HeldMemory(held, 0, 0, 0, 0))
        assert len([*replicated_parameters(replace(case, memory=memory))]) == count


def test_replicated_parameters_have_the_names_of_arguments_and_may_be_donated_without_an_alias(
    case_of: MakeCase,
) -> None:
    texts = read_texts(FINDINGS / "replicated-parameters" / "one_axis.txt")
    having, before = (
        texts[name].replace(
            "last_tile_dim_replicate}", "last_tile_dim_replicate}, metadata={op_name=\"p['a']\"}"
        )
        for name in ("having", "having before")
    )
    donor = having.replace(
        "input_output_alias={ {}: (0, {}, may-alias) }", "buffer_donor={ (0, {}) }"
    )
    assert donor != having
    (finding,) = replicated_parameters(case_of(donor, before))
    assert finding.evidence.endswith("The largest: `p['a']`.")


def test_weights_and_tables_of_which_rows_are_looked_up_are_sharded_at_different_costs(
    case_of: MakeCase,
) -> None:
    texts = read_texts(FINDINGS / "replicated-parameters" / "tables.txt")
    weight = "  w = f32[4096,4096] parameter(2), sharding={replicated}\n  ROOT"
    both = [texts[name].replace("  ROOT", weight) for name in ("having", "having before")]
    (finding,) = replicated_parameters(case_of(*both))
    assert "(FSDP, ZeRO)" in finding.suggestion
    assert (
        "Only lookups and element-wise operations read `a`: sharded along rows"
        in finding.suggestion
    )


def test_an_array_that_two_loops_carry_is_written_and_in_memory_once(case_of: MakeCase) -> None:
    state = "(s32[], f32[1024,1024], f32[1024,1024])"
    again = f"""  a = f32[1024,1024] get-tuple-element(loop), index=1
  t.2 = {state} tuple(zero, a, y)
  loop.2 = {state} while(t.2), condition=condition, body=body
  ROOT r = f32[1024,1024] get-tuple-element(loop.2), index=1
"""
    text = having("carried-constants")
    text = text.replace("  ROOT r = f32[1024,1024] get-tuple-element(loop), index=1\n", again)
    first, second = carried_constants(case_of(text))
    assert (first.bytes, second.bytes) == (4 << 20, None)
    assert (first.seconds or 0) > (second.seconds or 0) > 0


def test_the_padding_of_a_matmul_is_a_part_of_a_time_that_has_it(case_of: MakeCase) -> None:
    """By the roofline the module takes 44 µs without the padding, which takes as long again."""
    text = having("padded-products")
    (by_cycles,) = padded_products(case_of(text))
    assert by_cycles.seconds is None
    assert by_cycles.padding_seconds == pytest.approx(43.6e-6, rel=0.01)
    assert "takes 33% of the module's time by estimated cycles" in by_cycles.evidence
    case = case_of(text)
    roofline = replace(case, cost=replace(case.cost, has_all_cycles=False))
    (finding,) = padded_products(roofline)
    assert finding.seconds is None
    assert finding.padding_seconds == pytest.approx(43.6e-6, rel=0.01)
    assert "50% of the module's roofline time with this padding added" in finding.evidence


def test_a_slow_fusion_costs_its_cycles_at_the_clock_of_the_chip(case_of: MakeCase) -> None:
    """Where the clock is not known, all fusions are valued as if they ran at their roofline."""
    case = case_of(SCAN.replace('"30000"', '"9000000"'))
    (finding,) = slow_fusions(case)
    assert finding.cycle_seconds is None
    assert finding.seconds == pytest.approx(128 * 9_000_000 / 1.5e9, rel=0.01)
    assert finding.seconds < case.seconds
    assert finding.evidence.startswith(
        "`small` has 9,000,000 estimated cycles (6 ms at 1.5 GHz); its roofline time is "
    )
    assert "VMEM. 128 executions take 768 ms, " in finding.evidence
    (other,) = slow_fusions(replace(case, device=replace(case.device, key="other")))
    assert other.cycle_seconds
    assert other.cycle_seconds < case.seconds
    assert "GHz" not in other.evidence


def test_fusions_of_few_cycles_in_loops_are_slow_together(case_of: MakeCase) -> None:
    short = SCAN.replace('"30000"', '"19999"')
    large, finding = slow_fusions(case_of(short))
    assert (large.title, finding.title) == (
        "Fusion far below the roofline",
        "Short fusions far below the roofline",
    )
    assert [name for _, name in finding.places] == ["small"]
    assert "(`small`), 128 executions: 1.71 ms by estimated cycles" in finding.evidence
    assert finding.seconds
    assert finding.seconds < 128 * 19_999 / 1.5e9
    few = short.replace('"19999"', '"2000"')
    once = short.replace('"n":"128"', '"n":"1"').replace("constant(128)", "constant(1)")
    for other in (few, once):
        assert finding.title not in {slow.title for slow in slow_fusions(case_of(other))}


@pytest.mark.parametrize(("cycles", "count"), [(6_000_000, 1), (3_000_000, 0)])
def test_a_large_fusion_is_slow_below_a_quarter_of_the_roofline(
    case_of: MakeCase, cycles: int, count: int
) -> None:
    """Its operand and its result have 256 MiB each, which takes some 980,000 cycles."""
    wide = SCAN.replace("f32[64,1024]", "f32[65536,1024]").replace('"30000"', f'"{cycles}"')
    assert len(list(slow_fusions(case_of(wide)))) == count


def test_a_default_model_of_a_device_has_shares_and_no_times(case_of: MakeCase) -> None:
    case = case_of(split(SUM))
    assert case.device.nominal_for
    product = replace(case.device, nominal_for="")
    for device, words, short in (
        (case.device, "25% of the module's roofline time", "25%"),
        (product, "1 s, 25% of the module's roofline time", "1 s"),
    ):
        known = replace(case, device=device)
        known.__dict__["seconds"] = 4.0
        assert (known.time_words(1.0), known.time_or_share(1.0)) == (words, short)
    (finding,) = split_products(case)
    assert "µs" not in finding.evidence
    assert "of the module's roofline time, is saved." in finding.evidence


def finding_of(rule: str, seconds: float | None, *places: str) -> Finding:
    return Finding(
        title=rule.capitalize(),
        places=tuple(("e", place) for place in places),
        evidence="It takes time.",
        suggestion="",
        grade="matched",
        weight=seconds or 0.0,
        rule=rule,
        seconds=seconds,
    )


def test_a_general_finding_names_those_that_have_the_cause() -> None:
    cause = finding_of("gathered-once", 1e-3, "g", "user")
    other = finding_of("same-tiles", None, "h")
    effect = finding_of("exposed-collectives", 2e-3, "h", "g")
    kept, also, referring = refer_to_causes((cause, other, effect))
    assert (kept, also) == (cause, other)
    assert referring.evidence == (
        "It takes time. `g`: see also `Gathered-once`. What they save is the same time."
    )


def test_what_no_other_finding_is_about_stays() -> None:
    effect = finding_of("exposed-collectives", 2e-3, "user")
    assert refer_to_causes((finding_of("gathered-once", 1e-3, "g", "user"), effect))[1] == effect
