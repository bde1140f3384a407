"""Which way of computing the autotuner chose, as the instruction's own settings have it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from xlareport.hlo.backend_config import read_backend_config
from xlareport.hlo.model import Instruction

_CHOICES = (
    "triton_gemm_config",
    "block_level_fusion_config",
    "selected_algorithm",
    "algorithm",
    "cudnn_fusion_config",
    "custom_fusion_config",
    "outer_dimension_partitions",
)
"""Settings of `backend_config` that say how, and not what, is computed."""
_DEEPEST = 8


def read_tuning(instruction: Instruction) -> Mapping[str, str]:
    """Return the choices by name, values as JSON; empty where the instruction has none."""
    chosen = _chosen(read_backend_config(instruction), 0)
    try:
        return {name: json.dumps(value) for name, value in chosen}
    except RecursionError:
        return {}


def _chosen(config: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if not isinstance(config, dict) or depth > _DEEPEST:
        return
    for name, value in config.items():
        if name in _CHOICES and value not in ({}, [], ""):
            yield name, value
        elif name not in _CHOICES:
            yield from _chosen(value, depth + 1)
