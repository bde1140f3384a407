"""The part of a module's page on memory."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from xlareport.analysis.cost.options import CostOptions
from xlareport.analysis.cost_report.report import CostReport, report_cost
from xlareport.analysis.modules.summarize import count_final_cost
from xlareport.analysis.modules.summary import ModuleFigures
from xlareport.dump.classify import classify
from xlareport.dump.modules import Artifact, group
from xlareport.dump.source import open_source
from xlareport.pages.memory.page import memory_page
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


def test_the_figures_of_memory_in_order(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    page = memory_page(view, cost)
    assert "Device memory" in page.lead
    assert [figure.label for figure in page.figures] == [
        "Device memory",
        "Arguments",
        "Outputs",
        "Alias",
        "Temp",
        "Peak use",
        "Allocated",
        "Peak live bytes",
    ]
    assert all(str(row[-1]).startswith("agrees") for row in page.spaces.rows)
