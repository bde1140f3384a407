"""The page of code and its data: what is shown of each instruction, and what is not."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace
from tests.modules import parse_module
from tests.pages.records_of_modules import module as record

from xlareport.analysis.code.code_files import CodeFile, CodeLink
from xlareport.analysis.code.decisions import LinkedDecisions
from xlareport.analysis.code.instruction_products import CodeUnit, ModuleCode, RunThunk
from xlareport.analysis.code.kernel_links import CodeOrigin
from xlareport.analysis.code.module_code import CodeFiles, CodeRecord, CodeSummary
from xlareport.pages.code.page import (
    MOST_SHOWN,
    TextChunks,
    code_page,
    code_payloads,
    code_words,
    cut_note,
    joined,
)
from xlareport.readers.fusion_decisions import FusionDecision
from xlareport.readers.thunks import Thunk

HLO = parse_module("""HloModule m

%fused (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%a)
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  ROOT %f = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused, metadata={op_name="jit(f)/neg"}
}
""")
SUMMARY = CodeSummary(1, 3, 3, 0, (), frozenset(), 0)
ORIGIN = CodeOrigin("f", "main", "f", "exact", "its name")
DECISION = FusionDecision("fusion", "n", ("f",), "f", "", 1.5, 2.5)


def file(path: str, kind: str, stage: str) -> CodeFile:
    return CodeFile(path, kind, stage, "", ("f",), 12)


def unit(*files: CodeFile, **more: Any) -> CodeUnit:
    links = tuple(CodeLink(code_file, (ORIGIN,)) for code_file in files)
    shown = CodeUnit(
        ("main", "f"), HLO.by_name["main"].root, "exact", "its name", links, (), None, {}, ""
    )
    return replace(shown, **more)


def payloads(
    code: ModuleCode, contents: Mapping[str, bytes], kept: frozenset[str] = frozenset()
) -> dict[str, Any]:
    made = code_payloads("s", HLO, CodeFiles(code, contents), kept, {})
    return {payload.key: json.loads(payload.body) for payload in made}


@pytest.mark.parametrize(
    ("summary", "words"),
    [
        (SUMMARY, "3 files of code are linked to instructions."),
        (replace(SUMMARY, files=1, linked=1), "1 file of code is linked to instructions."),
        (replace(SUMMARY, linked=2), "2 of 3 files of code are linked to instructions."),
        (replace(SUMMARY, files=0, thunks=2), "2 thunks in execution order."),
        (replace(SUMMARY, files=0, left_out=4), "4 more instructions not shown."),
    ],
)
def test_the_amount_of_code_is_a_sentence(summary: CodeSummary, words: str) -> None:
    assert code_words(summary) == words


def test_files_that_are_not_linked_are_listed_with_their_reasons() -> None:
    row = CodeRecord("a.ll", None, None, "", "no kernel of its name")
    page = code_page(record("main"), replace(SUMMARY, links=(row,) * 300))
    assert page.unlinked[0] == ("a.ll", "no kernel of its name")
    assert (len(page.unlinked), page.more_unlinked) == (200, 100)
    assert page.has_history is False


def test_an_instruction_has_its_hlo_then_its_files_from_the_first_stage_to_the_last() -> None:
    files = file("b.ll", "llvm-ir", "ir-with-opt"), file("a.ll", "llvm-ir", "ir-no-opt")
    made = payloads(ModuleCode((unit(*files),), (), ()), {"a.ll": b"first", "b.ll": b"second"})
    (shown,) = made["m/s/code"]["units"]
    assert [part["label"] for part in shown["files"]] == [
        "HLO",
        "LLVM IR (no-opt)",
        "LLVM IR, after optimization",
    ]
    assert (shown["opcode"], shown["shape"], shown["scope"]) == (
        "fusion",
        "f32[8]{0}",
        "jit(f)/neg",
    )
    texts = made["m/s/code-0"]
    assert [texts[part["text"][1]] for part in shown["files"]][1:] == ["first", "second"]
    hlo = texts[shown["files"][0]["text"][1]]
    assert "%f = f32[8]{0} fusion(%x)" in hlo
    assert "%fused (a: f32[8]) -> f32[8] {\n  %a = " in hlo


@pytest.mark.parametrize(
    ("kind", "contents", "note"),
    [
        ("object", {"o": b"\0"}, "Machine code: objdump -d shows it."),
        ("llo", {"o": b"x"}, "Listed and not read: the file in the dump has it."),
        ("ptx", {"o": b""}, "Empty: nothing to compile."),
        ("ptx", {}, "Too large to show."),
    ],
)
def test_a_file_that_is_not_shown_has_a_reason(
    kind: str, contents: dict[str, bytes], note: str
) -> None:
    made = payloads(ModuleCode((unit(file("o", kind, "ptx")),), (), ()), contents)
    shown = made["m/s/code"]["units"][0]["files"][1]
    assert (shown["text"], shown["note"]) == (None, note)


def test_a_text_that_the_report_has_is_not_stored_again() -> None:
    code = ModuleCode((unit(file("a.ptx", "ptx", "ptx")),), (), ())
    made = payloads(code, {"a.ptx": b"text"}, frozenset({"a.ptx"}))
    assert made["m/s/code"]["units"][0]["files"][1]["text"] is True
    assert "text" not in made["m/s/code-0"]


def test_an_instruction_without_code_says_why() -> None:
    made = payloads(ModuleCode((unit(missing="a library call"),), (), ()), {})
    shown = made["m/s/code"]["units"][0]["files"][-1]
    assert (shown["label"], shown["note"]) == ("No file of code", "a library call")


def test_a_computation_is_shown_as_a_whole_and_the_entry_is_not() -> None:
    whole = unit(place=("fused", ""), instruction=None)
    made = payloads(ModuleCode((whole, unit(place=("main", ""), instruction=None)), (), ()), {})
    computation, entry = made["m/s/code"]["units"]
    assert [part["label"] for part in computation["files"]] == ["HLO"]
    assert entry["files"] == []


def test_thunks_lead_to_the_instructions_that_they_run() -> None:
    thunk = Thunk(3, "kKernel", "f", None, 4, "", 1, 7, ("x",))
    thunks = RunThunk(thunk, ORIGIN), RunThunk(replace(thunk, id=4), None)
    made = payloads(ModuleCode((unit(),), thunks, ()), {})
    assert made["m/s/code"]["thunks"] == [
        [3, "kKernel", "f", None, 4, "", 1, 0, ["x"]],
        [4, "kKernel", "f", None, 4, "", 1, None, ["x"]],
    ]


def test_what_is_inside_of_a_fusion_leads_to_it() -> None:
    made = payloads(ModuleCode((unit(),), (), ()), {})
    assert made["m/s/code"]["inside"] == {"a": 0, "n": 0}


def test_decisions_are_listed_in_words_and_those_about_nothing_apart() -> None:
    decided = unit(decisions=LinkedDecisions((DECISION,) * 99, "matched"))
    gone = (replace(DECISION, kind="producer_ineligible", reason="too large"),)
    made = payloads(ModuleCode((decided,), (), (), gone), {})["m/s/code"]
    listed = made["units"][0]["decisions"]
    assert (listed["grade"], listed["total"], len(listed["steps"])) == ("matched", 99, 60)
    assert listed["steps"][0] == ["fused", "n", ["f"], "f", "", 1.5, 2.5]
    assert made["gone"]["steps"] == [["not fused", "n", ["f"], "f", "too large", 1.5, 2.5]]


def test_a_module_without_code_has_no_data() -> None:
    assert list(code_payloads("s", HLO, CodeFiles(), frozenset(), {})) == []


def test_equal_texts_are_stored_once_and_large_ones_in_chunks_of_their_own() -> None:
    store = TextChunks("s")
    first = store.put("a" * 500_000)
    assert (first, store.put("b"), store.put("a" * 500_000)) == ([0, 0], [0, 1], [0, 0])
    large = [store.put(letter * MOST_SHOWN) for letter in "cd"]
    assert [place[0] for place in large if place] == [0, 1]
    assert [payload.key for payload in store.files()] == ["m/s/code-0", "m/s/code-1"]
    assert store.put("e" * 30_000_000) is None


def test_what_is_cut_says_so() -> None:
    assert cut_note("a" * MOST_SHOWN) == ""
    assert cut_note("a" * (MOST_SHOWN + 1)).startswith("The first 300,000 of 300,001 characters")
    assert joined(["abc", "def"], 8) == "abc\ndef\n"
    assert joined(["abc", "def"], 7) == "abc\n...\n"
