"""Modules of dumps as builds analyze them, each once for all tests of a process."""

from functools import cache
from pathlib import Path

from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.analysis.module import AnalysisOptions, AnalyzedModule, analyze_module
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.knowledge.devices import devices
from xlareport.runtime.faults import Faults


@cache
def analyze_named(folder: Path, name: str = "", device: str = "") -> AnalyzedModule[None]:
    """Return the module of a dump whose name contains `name`, of which there is one."""
    options = AnalysisOptions(cost_options=CostOptions(device=devices().get(device)))
    faults = Faults("dump")
    with open_source(folder) as source:
        (files,) = (module for module in group(name_files(source)).modules if name in module.key)
        analyzed: AnalyzedModule[None] = analyze_module(files, options, faults, lambda *_: None)
    assert not faults.problems
    return analyzed
