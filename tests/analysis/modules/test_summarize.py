"""The summary of a module, on small real dumps."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.analysis.cost.costed import cost_module
from xlareport.analysis.cost_report.cost_report import report_cost
from xlareport.analysis.modules.module_origin import origin_of
from xlareport.analysis.modules.summarize import summarize_module
from xlareport.knowledge.devices import devices
from xlareport.report import BuildOptions, read_one_module

Unpack = Callable[[str], Path]


@pytest.mark.parametrize("chosen", [None, "nvidia-h100", "tpu-v5e"])
@pytest.mark.parametrize("dump", ["jax-cpu-train", "tpu-v5e-scan"])
def test_every_page_gives_an_instruction_the_same_share(
    unpacked: Unpack, dump: str, chosen: str | None
) -> None:
    module = read_one_module(unpacked(dump), "jit_train_step", BuildOptions())
    cost_options = CostOptions(device=devices()[chosen] if chosen else None)
    origin = origin_of(module)
    costed = cost_module(module, origin.backend, cost_options)
    assert costed is not None
    summary = summarize_module(module, origin, [None] * len(module.snapshots), costed)
    found = report_cost(costed)
    ranked = found.heaviest[: len(summary.heaviest)]
    assert summary.heaviest == tuple(row.instruction for row in ranked)
    parts = costed.shares
    shares = [parts[row.computation, row.instruction] for row in ranked]
    assert shares == [pytest.approx(row.share) for row in ranked]
