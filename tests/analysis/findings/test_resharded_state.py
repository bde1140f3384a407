"""Donated inputs whose results are sharded in another way, of whatever size."""

from tests.analysis.findings.conftest import MakeCase
from tests.analysis.findings.texts import FINDINGS, read_texts

from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.findings.rules import find_findings

TEXTS = read_texts(FINDINGS / "resharded-state" / "by_hand.txt")
HAVING, BEFORE = TEXTS["having"], TEXTS["having before"]
RULES = ("resharded-state", "unused-donations")


def findings_of(case_of: MakeCase, text: str, before: str = BEFORE) -> dict[str, Finding]:
    findings = find_findings(case_of(text, before))
    return {finding.rule: finding for finding in findings if finding.rule in RULES}


def test_an_argument_has_its_name_and_both_shapes(case_of: MakeCase) -> None:
    finding = findings_of(case_of, HAVING)["resharded-state"]
    assert finding.evidence.startswith(
        "1 donated input (2.0 KiB) whose result (1.0 KiB) is sharded in another way: `p['pos']`. "
        "`p['pos']` is `f32[512]` on each device, the result in its place `f32[256]`."
    )
    assert "out_shardings of jax.jit" in finding.suggestion
    assert finding.severity == "medium"


def test_whole_results_count_with_all_their_memory(case_of: MakeCase) -> None:
    """A result in the sharding of its input would be aliased: its own memory is the saving."""
    whole = HAVING.replace("f32[256] slice(a), slice={[0:256]}", "f32[512,4096] broadcast(a)")
    whole = whole.replace("broadcast(a)", "broadcast(a), dimensions={0}")
    whole = whole.replace("(f32[256], f32[])", "(f32[512,4096], f32[])")
    before = BEFORE.replace("[512]", "[512,4096]")
    finding = findings_of(case_of, whole.replace("a = f32[512]", "a = f32[512,1024]"), before)
    evidence = finding["resharded-state"].evidence
    assert evidence.startswith("1 donated input (2.0 MiB) whose result (8.0 MiB) is sharded")
    assert "these 8.0 MiB are extra." in evidence
    assert finding["resharded-state"].bytes == 8 << 20


def test_a_large_one_is_no_other_finding(case_of: MakeCase) -> None:
    large, before = (text.replace("512]", "512,512]") for text in (HAVING, BEFORE))
    large = large.replace("[256]", "[256,512]").replace("{[0:256]}", "{[0:256], [0:512]}")
    assert set(findings_of(case_of, large, before)) == {"resharded-state"}


def test_another_shape_of_the_whole_is_another_finding(case_of: MakeCase) -> None:
    large = HAVING.replace("512]", "512,512]").replace("[256]", "[256,512]")
    large = large.replace("{[0:256]}", "{[0:256], [0:512]}")
    halved = BEFORE.replace("512]", "512,512]").replace("[512,512] negate", "[256,512] slice")
    halved = halved.replace("(a)", "(a), slice={[0:256], [0:512]}").replace(
        "(f32[512,512], f32[])", "(f32[256,512], f32[])"
    )
    finding = findings_of(case_of, large, halved)
    assert set(finding) == {"unused-donations"}
    assert "without an aliased output: `p['pos']`." in finding["unused-donations"].evidence


def test_another_input_can_have_the_buffer_of_the_result(case_of: MakeCase) -> None:
    """Aliases are by the shapes on a device: which result is whose says the order of the others."""
    header = "buffer_donor={ (0, {}) }"
    other = f"{header}, input_output_alias={{ {{0}}: (2, {{}}, may-alias) }}"
    moved, more = (
        text.replace("  ROOT", "  k = f32[256] parameter(2)\n  ROOT").replace(header, other)
        for text in (HAVING, BEFORE)
    )
    assert not findings_of(case_of, moved, more)
    in_order = moved.replace("may-alias)", "may-alias), {1}: (1, {}, may-alias)")
    finding = findings_of(case_of, in_order, more)["resharded-state"]
    assert "extra" not in finding.evidence, "the result is in the memory of `k`"
    assert finding.bytes is None


def test_an_input_whose_memory_another_result_takes_counts_too(case_of: MakeCase) -> None:
    """JAX aliases results to donated inputs of their size, not only to those in their place."""
    header, scalar = "buffer_donor={ (0, {}) }", "(f32[256], f32[]) tuple(b, s)"
    moved, more = (
        text.replace("  ROOT", "  k = f32[512] parameter(2)\n  ROOT")
        .replace(scalar, "(f32[256], f32[], f32[512]) tuple(b, s, k)")
        .replace("(f32[512], f32[]) tuple(b, s)", "(f32[512], f32[], f32[512]) tuple(b, s, k)")
        for text in (HAVING, BEFORE)
    )
    aliases = "{2}: (0, {}, may-alias), {1}: (1, {}, may-alias)"
    taken = moved.replace(
        header, f"input_output_alias={{ {aliases} }}, buffer_donor={{ (2, {{}}) }}"
    )
    finding = findings_of(case_of, taken, more)["resharded-state"]
    assert finding.evidence.startswith("1 donated input (2.0 KiB) whose result (1.0 KiB) is")
    assert "these 1.0 KiB are extra." in finding.evidence


def test_one_device_has_no_shardings(case_of: MakeCase) -> None:
    assert not findings_of(case_of, HAVING.replace(", num_partitions=2", ""))
