"""The pages on cost, memory and source as records, on small real dumps."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from xlareport.analysis.cost.options import CostOptions
from xlareport.analysis.cost_report.report import CostReport, report_cost
from xlareport.analysis.modules.summarize import count_final_cost
from xlareport.analysis.modules.summary import ModuleFigures
from xlareport.dump.classify import classify
from xlareport.dump.modules import Artifact, group
from xlareport.dump.source import open_source
from xlareport.knowledge.devices import devices
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


def test_the_users_device_comes_before_the_table(unpacked: Unpack) -> None:
    chosen = CostOptions(device=devices()["nvidia-h100"])
    _, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu", chosen)
    assert (cost.device.key, cost.device_grade) == ("nvidia-h100", "chosen")
