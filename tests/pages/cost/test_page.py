"""The parts of a module's page on what it costs."""

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
from xlareport.pages.cost.page import cost_page, cost_parts, per_device
from xlareport.pages.module.parts import module_parts
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


def test_a_module_has_three_parts_on_what_it_costs(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    made = list(module_parts(view, analysis_of(view, cost)))
    assert [part.name for part in made] == ["cost", "memory", "source"] == [*cost_parts(view)]
    for part in made:
        page = part.page()
        assert (page.name, page.slug) == ("jit_train_step", view.slug)
        for name, table in page.tables.items():
            width = len(table.columns)
            assert all(len(row) == width for row in table.rows), name


def analysis_of(view: ModuleRecord, cost: CostReport) -> ModuleAnalysis:
    files = ModuleFiles(view.key, view.slug, view.id, view.name, None, (), ())
    return replace(unreadable_module(files, "nobody tried"), cost=cost)


def test_figures_of_one_device_stand_beside_the_whole_and_are_never_a_saving(
    unpacked: Unpack,
) -> None:
    view, cost = worked_out(unpacked("gpu-h100x2-train"), "jit_train_step", "gpu")
    page = cost_page(view, analysis_of(view, cost), cost)
    assert "total work does not" in page.per_device
    flops = page.counts[0]
    assert int(flops.together.replace(",", "")) == 2 * int(flops.counted.replace(",", ""))
    assert per_device(1) == ""
