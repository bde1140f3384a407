"""Charts of cost and memory say themselves in words."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from xlareport.analysis.cost.options import CostOptions
from xlareport.analysis.cost_report.report import CostReport, report_cost
from xlareport.analysis.module import ModuleAnalysis, unreadable_module
from xlareport.analysis.modules.summarize import count_final_cost
from xlareport.analysis.modules.summary import ModuleFigures
from xlareport.dump.classify import classify
from xlareport.dump.modules import Artifact, ModuleFiles, group
from xlareport.dump.source import open_source
from xlareport.pages.cost.charts import memory_curve, roofline
from xlareport.pages.cost.page import cost_page
from xlareport.program import read_module
from xlareport.records.cost import cost_record
from xlareport.records.report import ModuleRecord

Unpack = Callable[[str], Path]


def worked_out(
    dump: Path, name: str, backend: str, cost_options: CostOptions | None = None
) -> tuple[ModuleRecord, CostReport]:
    with open_source(dump) as source:
        names = classify([entry.path for entry in source.entries])
        found = group([Artifact(*pair) for pair in zip(source.entries, names, strict=True)])
        (files,) = (one for one in found.modules if one.name == name)
        module = read_module(files)
    cost = count_final_cost(module)
    assert cost is not None
    made = report_cost(module, cost, backend, cost_options)
    view = ModuleRecord(
        key=files.key,
        slug=files.slug,
        id=files.id,
        name=name,
        timestamp=None,
        role="main",
        role_reason="",
        rank=1,
        backend=backend,
        frontend=None,
        stages=(),
        final=ModuleFigures(),
        files=(),
    )
    return replace(view, expense=cost_record(made, view.backend)), made


def analysis_of(view: ModuleRecord, cost: CostReport) -> ModuleAnalysis:
    files = ModuleFiles(view.key, view.slug, view.id, view.name, None, (), ())
    return replace(unreadable_module(files, "nobody tried"), cost=cost)


def test_charts_say_themselves_in_words_and_escape_names(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    page = cost_page(view, analysis_of(view, cost), cost)
    assert page.roofline_words.startswith(">99.9% of roofline time is memory-bound")
    assert page.roofline.startswith('<svg class="xr-chart"')
    assert "aria-label=" in page.roofline
    curve = memory_curve((1, 5, 2), 3, 1, '<b>"%x"')
    assert "Maximum 5 B over 3 schedule positions; the peak is at position 1" in curve
    assert "<b>" not in curve
    assert memory_curve((), 0, None, "") == ""
    assert roofline((), cost.device) == ""
