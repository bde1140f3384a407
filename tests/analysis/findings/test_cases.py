"""The case of a module: what rules get to see of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.analysis.cost.costed import cost_module
from xlareport.analysis.findings.cases import make_case as case_of_module
from xlareport.analysis.findings.rules import find_findings
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.knowledge.devices import devices
from xlareport.program import read_module


@pytest.mark.parametrize(("name", "given_up"), [("tpu-v5e-oom", True), ("tpu-v5e-remat", False)])
def test_a_program_that_did_not_fit(
    unpacked: Callable[[str], Path], name: str, *, given_up: bool
) -> None:
    with open_source(unpacked(name)) as source:
        (files,) = group(name_files(source)).modules
        module = read_module(files)
    costed = cost_module(module, "tpu", CostOptions(device=devices()["tpu-v5e"]))
    assert costed is not None
    case = case_of_module(costed)
    assert case is not None
    findings = find_findings(case)
    assert ("out-of-memory" in [finding.rule for finding in findings]) is given_up
    if given_up:
        first = findings[0]
        assert first.rule == "out-of-memory"
        assert "18.2 GiB, including temp 17.6 GiB; Google TPU v5e has" in first.evidence
        assert first.places
