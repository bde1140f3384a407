"""The SPMD partitioner's warnings of a log, given to the modules that they are about."""

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from xlareport.analysis.findings.involuntary_rematerializations import find_in_log
from xlareport.analysis.findings.rules import merge_findings
from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.shardings.sharding_report import describe_shardings
from xlareport.readers.partitioner_log import PartitionerWarning

_FUNCTION = re.compile(r"(?:jit|pjit|pmap)\(([^()]{1,200}+)\)")


def assign_warnings(
    modules: Sequence[ModuleAnalysis], warnings: Sequence[PartitionerWarning]
) -> Iterator[ModuleAnalysis]:
    """Yield the modules, each with the warnings about it.

    A log names no module. A warning is about a partitioned module of the function in its op_name,
    `jit(step)/add`, or about the only partitioned module of the dump.
    """
    partitioned = sum(module.shardings is not None for module in modules)
    for module in modules:
        about = tuple(
            warning for warning in warnings if _is_about(warning, module, alone=partitioned == 1)
        )
        yield _with_warnings(module, about) if about else module


def _is_about(warning: PartitionerWarning, module: ModuleAnalysis, *, alone: bool) -> bool:
    if module.shardings is None:
        return False
    match = _FUNCTION.match(warning.op_name)
    name = module.summary.files.name
    return match[1] in (name, name.partition("_")[2]) if match else alone


def _with_warnings(
    module: ModuleAnalysis, warnings: tuple[PartitionerWarning, ...]
) -> ModuleAnalysis:
    """Return the module with its warnings, and findings for those that no snapshot shows."""
    shardings, cost = module.shardings, module.cost
    if shardings is None:
        return module
    mesh = shardings.mesh.mesh if shardings.mesh is not None else None
    described = tuple(describe_shardings(warning, mesh) for warning in warnings)
    module = replace(module, shardings=replace(shardings, warnings=described))
    if shardings.is_read_fresh or cost is None or module.collectives is None:
        return module
    gathers = [
        (row.collective.key, row.op_name)
        for row in module.collectives.rows
        if row.collective.kind == "all-gather"
    ]
    shown = {value.op_name for value in shardings.rematerializations or ()}
    unseen = [warning for warning in warnings if warning.op_name not in shown]
    findings = find_in_log(unseen, gathers, cost.device)
    return replace(module, cost=replace(cost, findings=merge_findings((*cost.findings, *findings))))
