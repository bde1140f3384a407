"""Compiles for devices that are not there: TPUs through libtpu, GPUs through jax's CUDA plugin."""

import os
from collections.abc import Mapping
from typing import Any

from jax._src.interpreters import mlir
from jax.experimental import topologies
from jaxlib import _jax
from jaxlib.mlir import ir

from xlareport.replay.worker.executing import compile_options

_ALONE: Mapping[str, str] = {"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost"}
"""Lets libtpu start where no TPU is, without asking the network for one."""


def compile_for(target: Mapping[str, str], module: str, options: Mapping[str, str]) -> None:
    """Compile StableHLO for one device of a topology, with debug options by name."""
    os.environ.update(_ALONE)
    config = {"target_config": target["config"]} if target["config"] else {}
    named = {"topology": target["topology"]} if config else {}
    topology = topologies.get_topology_desc(
        platform=target["platform"],
        topology_name="" if config else target["topology"],
        **config,
        **named,
    )
    settings = compile_options(list(options.items()), 1)
    devices: Any = _jax.DeviceList(tuple(topology.devices[:1]))
    with mlir.make_ir_context():
        parsed = ir.Module.parse(module)
    topology.devices[0].client.compile(parsed, devices, settings)
