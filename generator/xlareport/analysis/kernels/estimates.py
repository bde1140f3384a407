"""XLA's own estimates of the time of instructions, from `backend_config`.

`reification_cost` is written with `--xla_gpu_collect_cost_model_stats=true`: one entry for each of
XLA's cost models that covers the instruction. None of them includes the kernel launch.
"""

import math
from collections.abc import Iterator, Mapping

from msgspec import Struct

from xlareport.hlo.backend_config import read_backend_config
from xlareport.hlo.graph import outside_fusions
from xlareport.hlo.model import HloModule

MAIN_MODEL = "gpu-cost-model"
"""The model to which XLA gives no name: its GpuPerformanceModel."""
_MOST_INSTRUCTIONS = 20_000
_MOST_MODELS = 8


class XlaEstimate(Struct, frozen=True):
    """The estimate of one of XLA's cost models for one execution of an instruction."""

    model: str
    """`gpu-cost-model` where XLA gives it no name, `sol`, `indexing-cost-model`, ..."""
    microseconds: float
    cycles: float | None


class InstructionEstimates(Struct, frozen=True):
    """The estimates of XLA's cost models for one execution of an instruction."""

    instruction: str
    estimates: tuple[XlaEstimate, ...]


def read_estimates(module: HloModule) -> Mapping[str, tuple[XlaEstimate, ...]]:
    """Return the estimates of each instruction outside of fusions; empty if there are none."""
    estimates_of: dict[str, tuple[XlaEstimate, ...]] = {}
    for _, instruction in outside_fusions(module):
        if len(estimates_of) >= _MOST_INSTRUCTIONS:
            break
        if '"reification_cost":[{' in instruction.attributes_text:
            estimates = tuple(_estimates(read_backend_config(instruction)))
            if estimates:
                estimates_of[instruction.name] = estimates
    return estimates_of


def _estimates(config: object) -> Iterator[XlaEstimate]:
    entries = config.get("reification_cost") if isinstance(config, dict) else None
    for entry in entries[:_MOST_MODELS] if isinstance(entries, list) else ():
        if not isinstance(entry, dict):
            continue
        time, cycles = (
            _positive_float(entry.get("exec_time_us")),
            _positive_float(entry.get("end_to_end_cycles")),
        )
        if time is not None:
            name = str(entry.get("name") or MAIN_MODEL)[:60]
            yield XlaEstimate(name, time, cycles or None)


def _positive_float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None
