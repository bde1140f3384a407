"""Pages as records: names taken apart, coverage, modules, payloads of steps."""

import html
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from xlareport.analysis.module import unreadable_module
from xlareport.analysis.modules.ranking import guess_main, rank_modules
from xlareport.analysis.modules.settings import OptionOrigin
from xlareport.analysis.modules.summary import ModuleFigures, ModuleSummary
from xlareport.analysis.steps.step import step
from xlareport.analysis.steps.text_difference import text_diff
from xlareport.dump.classify import classify
from xlareport.dump.modules import Artifact, group
from xlareport.dump.source import Entry
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.pages.coverage.page import coverage_page, file_uses, passes_words, use_of
from xlareport.pages.names.page import describe, names_page
from xlareport.pages.navigation import address, module_page, step_address
from xlareport.pages.pictures.requests import describe_pictures
from xlareport.pages.rendering.environment import prose
from xlareport.pages.steps.payload import step_payload
from xlareport.readers.debug_options import FlagValue
from xlareport.records.report import DumpRecord, GeneratorRecord, ReportRecord
from xlareport.report import BuildOptions, build
from xlareport.storage.folding import Folded, unfold_strings

BEFORE = """HloModule m

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %c = f32[8]{0} negate(%x)
  %d = f32[8]{0} negate(%c)
  ROOT %r = f32[8]{0} add(%x, %d)
}
"""
AFTER = """HloModule m

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  ROOT %r = f32[8]{0} multiply(%x, %x)
}
"""


def artifacts(*paths: str) -> list[Artifact]:
    names = classify(paths)
    return [
        Artifact(Entry(path, 10, None, Path(path)), name)
        for path, name in zip(paths, names, strict=True)
    ]


def module(text: str) -> HloModule:
    read = TextReader().read(text.encode(), "m.txt")
    assert read is not None
    return read


def test_a_pass_snapshot_is_described_in_a_sentence() -> None:
    (one,) = artifacts("module_0008.jit_f.0017.simplification.after_algsimp.before_dce.txt")
    assert describe(one.name) == (
        "Snapshot 17 in the pipeline simplification, after algsimp, before dce."
    )
    (start,) = artifacts("module_0008.jit_f.0000.p.after_pipeline-start.before_pipeline-end.txt")
    assert describe(start.name) == "Snapshot 0 in the pipeline p, a pipeline without passes."


def test_each_form_of_a_name_is_shown_once_hlo_first() -> None:
    found = artifacts(
        "module_0001.jit_f.debug_options",
        "module_0001.jit_f.before_optimizations.txt",
        "module_0001.jit_f.0000.p.after_a.before_b.txt",
        "module_0001.jit_f.0001.p.after_b.before_c.txt",
    )
    page = names_page(found, group(found).modules, ["dot.1", "dot.2", "p0#1"])
    assert [form.files for form in page.forms] == ["2 files", "1 file", "1 file"]
    assert page.forms[0].title == "HLO between two passes"
    assert "".join(token.text for token in page.forms[0].tokens).endswith(".txt")
    assert [one.modules for one in page.module_names] == ["1 module"]


def test_the_formats_of_a_snapshot_are_one_form_and_parts_are_explained_once() -> None:
    before = "module_0001.jit_f.before_optimizations"
    found = artifacts(f"{before}.dot", f"{before}.txt", "module_0001.jit_f.0000.p.after_a.txt")
    page = names_page(found, group(found).modules, ["dot.1", "dot.2", "p0#1"])
    first, second = page.forms
    assert [one.ending for one in first.formats] == [".txt", ".dot"]
    assert "as text" in first.formats[0].holds
    explained = [one.text for form in (first, second) for one in form.new]
    assert len(explained) == len(set(explained))
    assert "0001" in [one.text for one in second.tokens]
    assert "0001" not in [one.text for one in second.new]


def test_a_file_that_is_no_snapshot_says_what_it_holds() -> None:
    (one,) = artifacts("module_0001.jit_f.debug_options")
    assert describe(one.name) == (
        "Flags: XLA's options for this module, but only those that were not at their default."
    )
    (page,) = artifacts("module_0001.jit_f.before_optimizations.html")
    assert describe(page.name).startswith("Graph page: the program as the frontend")


def test_coverage_tells_what_was_read_and_what_was_not() -> None:
    found = artifacts(
        "module_0001.jit_f.before_optimizations.txt",
        "module_0001.jit_f.before_optimizations.dot",
        "module_0001.jit_f.debug_options",
        "notes.md",
    )
    uses = file_uses(group(found).modules, ["module_0001.jit_f.before_optimizations.txt"])
    said = [use_of(uses, one.path) for one in found]
    assert said[0] == "read: snapshots and steps"
    assert "another form" in said[1]
    assert said[2] == said[3] == "listed and explained, not read"


def test_a_log_that_holds_files_was_read() -> None:
    found = artifacts("out.log", "out.log/module_0001.jit_f.before_optimizations.txt")
    uses = file_uses(group(found).modules, [found[1].path])
    assert "contained in it" in use_of(uses, "out.log")


def test_flags_that_would_add_something_are_those_of_the_backend() -> None:
    found = artifacts("module_0001.jit_f.cpu_after_optimizations.txt")
    dump = DumpRecord("d", 1, 1, backends=("cpu",), frontends=())
    report = ReportRecord(1, GeneratorRecord("x", "0"), dump, None, (), (), ())
    named = [one.example for one in coverage_page(report, found, {}, "").more]

    assert "--xla_dump_hlo_as_proto" in named
    assert "--xla_dump_hlo_as_text" not in named
    assert not any(name.startswith("--xla_gpu_") for name in named)


def test_a_dump_without_passes_proves_nothing_about_them() -> None:
    assert "says nothing about which passes ran" in passes_words([])


def summary(*paths: str, flags: tuple[FlagValue, ...] = ()) -> ModuleSummary:
    (files,) = group(artifacts(*paths)).modules
    nothing = unreadable_module(files, "nobody tried").summary
    choices = tuple(OptionOrigin(one, "somebody", "exact", "") for one in flags)
    return replace(nothing, settings=choices)


def test_the_flag_in_the_dump_says_how_passes_were_dumped() -> None:
    path = "module_0001.jit_f.0000.p.after_pipeline-start.before_dce.txt"
    flag = FlagValue("xla_dump_hlo_pass_re", ".*", 1)
    assert "list of flags" in passes_words([summary(path, flags=(flag,))])
    alone = passes_words([summary(path)])
    assert "too few to tell" in alone


def test_small_modules_tell_together_how_passes_were_dumped() -> None:
    names = ["0000.p.after_pipeline-start.before_a", "0001.p.after_b.before_c"]
    names += ["0002.p.after_d.before_e"]
    modules = [summary(*(f"module_000{i}.jit_f.{one}.txt" for one in names)) for i in range(4)]
    assert "too few to tell" in passes_words(modules[:1])
    assert "`--xla_dump_hlo_pass_re=.*`" in passes_words(modules)


def test_the_only_module_that_could_be_read_need_not_be_the_program() -> None:
    one, other = summary("module_0001.jit_f.debug_options"), summary("module_0002.x.debug_options")
    read = replace(one, final=ModuleFigures(instructions=3))
    guess = guess_main(rank_modules([read, other]))
    assert guess is not None
    assert guess.alone
    assert guess.confidence <= 0.5
    nothing = guess_main(rank_modules([one, other]))
    assert nothing is not None
    assert not nothing.alone


def test_addresses_are_relative_to_the_page() -> None:
    assert address(module_page("f")) == "m/f.html"
    assert address(module_page("f"), "m/g.md") == "../m/f.html"
    assert step_address("f", "0017", "m/f.md") == "../m/f.html?steps#step=0017"


def test_names_in_backticks_become_code_and_nothing_becomes_markup() -> None:
    assert html.unescape(str(prose("a `b` c"))) == "a <code>b</code> c"
    assert "<script>" not in prose("`<script>` and <script>")
    assert "<code>" not in prose("one ` alone")


def own_lines(value: dict[str, Any]) -> list[str]:
    """Return the lines that a step's difference holds itself."""
    return unfold_strings(Folded(*value["diff"]["own"]), 1_000_000)


def test_the_payload_of_a_step_tells_counts_and_shows_the_change() -> None:
    change = step(module(BEFORE), module(AFTER), "`algsimp`")
    assert change.matching is not None
    value = step_payload(
        change, text_diff(change.matching), "sure", describe_pictures(None, "no picture")
    )
    assert value["headline"]
    assert value["certain"] == "sure"
    assert ["negate", 2, 0] in value["opcodes"]
    assert "-" in value["diff"]["signs"]
    assert any("%c = " in line for line in own_lines(value))
    assert value["diff"]["shown"] == value["diff"]["total"] == len(value["diff"]["signs"])
    assert value["pictures"]["note"] == "no picture"
    assert {group["grade"] for group in value["groups"]} <= {"exact", "matched", "guessed"}


def test_megabytes_of_a_constant_are_cut_in_the_page_and_said_so() -> None:
    huge = ", ".join(["1"] * 9000)
    text = BEFORE.replace("negate(%x)", "constant({" + huge + "})")
    change = step(module(BEFORE), module(text))
    assert change.matching is not None
    value = step_payload(change, text_diff(change.matching), "", describe_pictures(None, ""))
    lines = own_lines(value)
    assert max(map(len, lines)) < 4_100
    assert any("more characters" in part for part in lines)


def test_drawings_do_not_tell_whether_constants_are_embedded(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    build(unpacked("ipu-dot-only"), BuildOptions(out=tmp_path, html=False, pictures="none"))
    (page,) = tmp_path.rglob("module_0001.md")
    assert "Constants are not known" in html.unescape(page.read_text("utf-8"))
