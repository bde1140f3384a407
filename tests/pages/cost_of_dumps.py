"""What a module of a small dump costs, as the pages get it."""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.analysis.cost.costed import cost_module
from xlareport.analysis.cost_report.cost_report import CostReport, report_cost
from xlareport.analysis.module import ModuleAnalysis, unreadable_module
from xlareport.analysis.modules.summary import ModuleFigures
from xlareport.dump.classify import classify
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact, ModuleFiles
from xlareport.dump.source import open_source
from xlareport.program import read_module
from xlareport.records.cost import cost_record
from xlareport.records.report import ModuleRecord

Unpack = Callable[[str], Path]


def worked_out(
    dump: Path, name: str, backend: str, cost_options: CostOptions | None = None
) -> tuple[ModuleRecord, CostReport]:
    with open_source(dump) as source:
        names = classify([entry.path for entry in source.entries])
        groups = group([Artifact(*pair) for pair in zip(source.entries, names, strict=True)])
        (files,) = (one for one in groups.modules if one.name == name)
        module = read_module(files)
    costed = cost_module(module, backend, cost_options)
    assert costed is not None
    made = report_cost(costed)
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
    return replace(view, cost=cost_record(made)), made


def analysis_of(view: ModuleRecord, cost: CostReport) -> ModuleAnalysis:
    files = ModuleFiles(view.key, view.slug, view.id, view.name, None, (), ())
    return replace(unreadable_module(files, "nobody tried"), cost=cost)
