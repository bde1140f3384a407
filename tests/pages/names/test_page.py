"""The page of file names describes each snapshot and form."""

from pathlib import Path

from xlareport.dump.classify import classify
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact
from xlareport.dump.source import Entry
from xlareport.pages.names.page import describe, names_page


def artifacts(*paths: str) -> list[Artifact]:
    names = classify(paths)
    return [
        Artifact(Entry(path, 10, None, Path(path)), name)
        for path, name in zip(paths, names, strict=True)
    ]


def test_a_pass_snapshot_is_described_in_a_sentence() -> None:
    (artifact,) = artifacts("module_0008.jit_f.0017.simplification.after_algsimp.before_dce.txt")
    assert describe(artifact.name) == (
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
    assert [module_name.modules for module_name in page.module_names] == ["1 module"]


def test_the_formats_of_a_snapshot_are_one_form_and_parts_are_explained_once() -> None:
    before = "module_0001.jit_f.before_optimizations"
    found = artifacts(f"{before}.dot", f"{before}.txt", "module_0001.jit_f.0000.p.after_a.txt")
    page = names_page(found, group(found).modules, ["dot.1", "dot.2", "p0#1"])
    first, second = page.forms
    assert [one.ending for one in first.formats] == [".txt", ".dot"]
    assert "HLO text" in first.formats[0].holds
    explained = [one.text for form in (first, second) for one in form.new]
    assert len(explained) == len(set(explained))
    assert "0001" in [token.text for token in second.tokens]
    assert "0001" not in [one.text for one in second.new]


def test_the_number_of_an_llvm_module_is_explained_in_each_form() -> None:
    """It tells a file from others of its form: who reads of `.27.ptx` asks what 27 is."""
    kernels = [f"module_0001.jit_f.27.{rest}" for rest in ("ir-no-opt.ll", "ptx")]
    files = artifacts("module_0001.jit_f.before_optimizations.txt", *kernels)
    shown = [[token.text for token in form.new] for form in names_page(files, (), ()).forms]
    assert [("27" in words, "module" in words) for words in shown[1:]] == [(True, False)] * 2


def test_the_main_program_is_the_example() -> None:
    """A piece of it that autotuning copied out is none, and its number is part of its name."""
    found = artifacts(
        "module_0001.fused_add.6.before_optimizations.txt",
        "module_0002.fused_add.7.before_optimizations.txt",
        "module_0003.fused_add.8.before_optimizations.txt",
        "module_0009.jit_f.before_optimizations.txt",
    )
    modules = group(found).modules
    (main,) = (module for module in modules if module.name == "jit_f")
    (form,) = names_page(found, modules, [], main).forms
    assert "".join(token.text for token in form.tokens).startswith("module_0009.jit_f")
    page = names_page(found, modules, [], main)
    assert "".join(token.text for token in page.module_names[0].tokens) == "jit_f"
    (number,) = (token for token in page.module_names[1].tokens if token.text == "6")
    assert number.meaning.startswith("Part of the name of what was copied")


def test_a_title_says_nothing_twice() -> None:
    found = artifacts("module_0001.jit_f.ir-no-opt.ll", "module_0001.jit_f.thunk_metadata.txt")
    titles = {form.title for form in names_page(found, group(found).modules, []).forms}
    assert any(title.startswith("LLVM IR") for title in titles)
    for title in titles:
        head, _, rest = title.lower().partition(": ")
        assert head not in rest


def test_a_file_that_is_no_snapshot_says_what_it_holds() -> None:
    (artifact,) = artifacts("module_0001.jit_f.debug_options")
    assert describe(artifact.name) == (
        "Flags: XLA's options for this module that differ from their defaults, those of XLA_FLAGS "
        "among them."
    )
    (page,) = artifacts("module_0001.jit_f.before_optimizations.html")
    assert describe(page.name).startswith("Graph page: the program as the frontend")
