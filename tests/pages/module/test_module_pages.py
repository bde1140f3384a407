"""The files of the pages of modules: tabs, neighbors, and what a fault costs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from xlareport.analysis.module import AnalysisOptions
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.module_work.process import ModuleTask, process_module
from xlareport.pages.cost import page as cost_pages
from xlareport.pages.module import module_pages
from xlareport.pages.module.module_pages import TABS, ModuleToShow, show_module
from xlareport.report import BuildOptions, read_report

Unpack = Callable[[str], Path]


@pytest.fixture(scope="module")
def shown(unpacked: Unpack) -> ModuleToShow:
    folder = unpacked("jax-cpu-train")
    report = read_report(folder, BuildOptions())
    record = next(module for module in report.modules if module.name == "jit_rollout")
    with open_source(folder) as source:
        modules = group(name_files(source)).modules
        files = next(module for module in modules if module.key == record.key)
        result = process_module(ModuleTask(files, AnalysisOptions()), "none")
    return ModuleToShow(result.analysis, result.output, record, None, "following")


def test_tabs_have_a_place_of_their_own_and_are_sorted_by_it() -> None:
    places = [tab.place for tab in TABS]
    assert places == sorted(places)
    assert len({tab.name for tab in TABS}) == len(TABS) == len(set(places))


def test_a_module_has_its_page_with_its_tabs(shown: ModuleToShow) -> None:
    made = show_module(shown)
    assert made.problems == []
    assert made.columns
    page = dict(made.files)[f"m/{shown.record.slug}.md"]
    assert all(f'data-part="{name}"' in page for name in ("steps", "graph", "cost", "files"))
    assert 'data-part="kernels"' not in page  # compiled for a CPU
    assert "following" in page


def test_a_module_that_repeats_another_has_no_tabs(shown: ModuleToShow) -> None:
    analysis = replace(shown.analysis, same_as=shown.analysis.summary.files)
    made = dict(show_module(replace(shown, analysis=analysis)).files)
    page = made[f"m/{shown.record.slug}.md"]
    assert 'data-part="cost"' not in page
    small = f"assets/data/m/{shown.record.slug}/small.js"
    assert len(made[small]) < len(dict(show_module(shown).files)[small])


def test_a_fault_in_a_tab_costs_that_tab(
    shown: ModuleToShow, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = len(show_module(shown).files)

    def fail(*_: object) -> None:
        raise ZeroDivisionError("on purpose")

    tabs = tuple(replace(tab, page=fail) if tab.name == "cost" else tab for tab in TABS)
    monkeypatch.setattr(module_pages, "TABS", tabs)
    files = show_module(shown)
    (problem,) = files.problems
    assert "ZeroDivisionError" in problem.message
    assert "Cost of jit_rollout" in problem.message
    assert len(files.files) == whole
    assert cost_pages.TAB in TABS
