"""The pages on cost, memory and source as records, on small real dumps."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from xlareport.analysis.cost.lifetimes import End, Lifetime
from xlareport.analysis.cost.options import CostOptions
from xlareport.analysis.cost_report.report import CostReport, report_cost
from xlareport.analysis.module import ModuleAnalysis, unreadable_module
from xlareport.analysis.modules.summarize import count_final_cost
from xlareport.analysis.modules.summary import ModuleFigures
from xlareport.dump.classify import classify
from xlareport.dump.modules import Artifact, ModuleFiles, group
from xlareport.dump.source import open_source
from xlareport.knowledge.devices import devices
from xlareport.pages.cost.charts import memory_curve, roofline
from xlareport.pages.cost.page import cost_page, cost_parts, per_device
from xlareport.pages.memory.page import memory_page
from xlareport.pages.memory.tables import why
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
    return replace(unreadable_module(files, "nobody tried"), expense=cost)


def test_what_the_report_says_for_scripts(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("gpu-h100x2-train"), "jit_train_step", "gpu")
    said = json.loads(json.dumps(asdict(view)))["expense"]
    assert (said["device"], said["device_grade"], said["devices"]) == (
        "NVIDIA H100 SXM5",
        "exact",
        2,
    )
    assert said["flops_of_all_devices"] == 2 * (cost.totals.flops or 0)
    (collective,) = said["collectives"]
    assert collective["groups"] == "{0,1}"
    assert (
        said["memory"]["spaces"][0]["reported_bytes"]
        == (said["memory"]["spaces"][0]["allocated_bytes"])
    )
    assert all(one["why"] for one in said["memory"]["at_peak"])


def test_figures_of_one_device_stand_beside_the_whole_and_are_never_a_saving(
    unpacked: Unpack,
) -> None:
    view, cost = worked_out(unpacked("gpu-h100x2-train"), "jit_train_step", "gpu")
    page = cost_page(view, analysis_of(view, cost), cost)
    assert "no saving" in page.per_device
    flops = page.counts[0]
    assert int(flops.together.replace(",", "")) == 2 * int(flops.counted.replace(",", ""))
    assert per_device(1) == ""


def test_the_users_device_comes_before_the_table(unpacked: Unpack) -> None:
    chosen = CostOptions(device=devices()["nvidia-h100"])
    _, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu", chosen)
    assert (cost.device.key, cost.device_grade) == ("nvidia-h100", "chosen")


def test_charts_say_themselves_in_words_and_escape_names(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    page = cost_page(view, analysis_of(view, cost), cost)
    assert page.roofline_words.startswith("By estimate, memory holds back")
    assert page.roofline.startswith('<svg class="xr-chart"')
    assert "aria-label=" in page.roofline
    curve = memory_curve((1, 5, 2), 3, 1, '<b>"%x"')
    assert "At most 5 B live at once, over 3 positions; the peak is at position 1" in curve
    assert "<b>" not in curve
    assert memory_curve((), 0, None, "") == ""
    assert roofline((), cost.device) == ""


@pytest.mark.parametrize(
    ("life", "words"),
    [
        (None, ""),
        (Lifetime(0, 9, 9, End.ARGUMENT, "", None, None), "an argument: the caller holds it"),
        (Lifetime(0, 9, 9, End.RESULT, "", None, None), "it is returned"),
        (Lifetime(0, 3, 9, End.USE, "dot.1", None, None), "used last by %dot.1"),
        (Lifetime(0, 3, 9, End.USE, "dot.1", 2, 4), "%dot.1 (operand 2), the last of 4 uses"),
    ],
)
def test_why_a_value_lives_so_long(life: Lifetime | None, words: str) -> None:
    assert words in why(life)


def test_the_figures_of_memory_in_order(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    page = memory_page(view, cost)
    assert "A run holds" in page.lead
    assert [figure.label for figure in page.figures] == [
        "Held by a run",
        "Arguments",
        "Outputs",
        "Aliased",
        "Temporaries",
        "In use at the peak",
        "Allocated",
        "XLA's live peak",
    ]
    assert all(space.reported.startswith("says the same") for space in page.spaces)
