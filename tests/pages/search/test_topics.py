"""Sections of a report by the words that people search for."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from xlareport.pages.search.topics import search_topics
from xlareport.records.report import ModuleRecord
from xlareport.report import BuildOptions, read_report

TEXT = "HloModule f\n\nENTRY %main {\n  ROOT %p = f32[64] parameter(0)\n}\n"


def stepped_stages(module: ModuleRecord) -> tuple[Any, ...]:
    """Return stages of which the last is a step."""
    return (*module.stages, replace(module.stages[0], changed=True))


def topics(module: ModuleRecord) -> dict[str, str]:
    return {title: address for title, address, _ in search_topics(module)}


def test_a_section_is_there_only_where_the_page_has_it(tmp_path: Path) -> None:
    (tmp_path / "module_0000.f.after_optimizations.txt").write_text(TEXT)
    (module,) = read_report(tmp_path, BuildOptions(out=tmp_path)).modules
    assert topics(replace(module, cost=None)) == {}
    memory = SimpleNamespace(spaces=(), at_peak=(), estimated_peak_bytes=None)
    cost: Any = SimpleNamespace(memory=memory, lines=(), loops=())
    known = topics(replace(module, cost=cost))
    assert known["Loops and trip counts"] == "m/module_0000.f.html?cost#loops"
    assert not any("?memory" in address for address in known.values())
    later = topics(replace(module, cost=cost, stages=stepped_stages(module)))
    assert later["Compile time and no-op passes"].endswith("?passes#compile-time-and-no-op-passes")


def test_what_engineers_ask_for_leads_to_a_section(tmp_path: Path) -> None:
    (tmp_path / "module_0000.f.after_optimizations.txt").write_text(TEXT)
    (module,) = read_report(tmp_path, BuildOptions(out=tmp_path)).modules
    vmem = SimpleNamespace(name="VMEM, on the chip")
    memory = SimpleNamespace(spaces=(vmem,), at_peak=(), estimated_peak_bytes=None)
    cost: Any = SimpleNamespace(memory=memory, lines=(), loops=())
    asked = search_topics(replace(module, cost=cost, stages=stepped_stages(module)))
    titles = {word: title for title, _, words in asked for word in words}
    wanted = {"MFU", "all gather", "checkpoint", "compile time", "OOM", "HBM", "VMEM"}
    assert wanted <= titles.keys()


def test_collectives_and_shardings_lead_to_their_pages(tmp_path: Path) -> None:
    (tmp_path / "module_0000.f.after_optimizations.txt").write_text(TEXT)
    (module,) = read_report(tmp_path, BuildOptions(out=tmp_path)).modules
    some: Any = ("",)
    asked = list(search_topics(replace(module, collectives=some, shardings=some)))
    pages = {word: address for _, address, words in asked for word in words}
    for word in ("all-gather", "collective matmul", "windowed einsum"):
        assert pages[word] == "m/module_0000.f.html?collectives"
    assert pages["sharding"] == "m/module_0000.f.html?shardings"
    assert not {"all-gather", "sharding"} & {
        w for _, _, words in search_topics(module) for w in words
    }


def test_a_module_without_loops_says_so(tmp_path: Path) -> None:
    (tmp_path / "module_0000.f.after_optimizations.txt").write_text(TEXT)
    (module,) = read_report(tmp_path, BuildOptions(out=tmp_path)).modules
    memory = SimpleNamespace(spaces=(), at_peak=(), estimated_peak_bytes=None)
    cost: Any = SimpleNamespace(memory=memory, lines=(), loops=())
    asked = search_topics(replace(module, cost=cost))
    (words,) = [words for title, _, words in asked if title.startswith("Loops")]
    assert words[0] == "the final module has no while loop"


def test_a_pass_that_changed_the_module_is_found_by_what_it_is_for(tmp_path: Path) -> None:
    """The last changed step of the first such pass is meant, and the kernels are beside it."""
    (tmp_path / "module_0000.f.after_optimizations.txt").write_text(TEXT)
    (module,) = read_report(tmp_path, BuildOptions(out=tmp_path)).modules
    passes = [("fusion", 3, True), ("priority-fusion", 5, True), ("autotuner", 7, True)]
    passes += [("priority-fusion", 8, True), ("autotuner", 9, False)]
    stages = tuple(
        replace(module.stages[0], after=name, sequence=number, changed=changed)
        for name, number, changed in passes
    )
    kernels: Any = ("",)
    asked = list(search_topics(replace(module, stages=stages, kernels=kernels)))
    places = {(word, address) for _, address, words in asked for word in words}
    page = "m/module_0000.f.html"
    assert ("why not fused", f"{page}?steps#step=0008") in places
    assert ("autotuning", f"{page}?steps#step=0007") in places
    assert ("autotuning", f"{page}?kernels") in places
    without = [words for _, _, words in search_topics(module)]
    assert not any("autotuning" in words or "not fused" in words for words in without)
