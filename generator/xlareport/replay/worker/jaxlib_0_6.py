"""The adapter for jaxlib 0.6 and later: StableHLO to an executable on the CPU."""

from collections.abc import Mapping
from typing import Any

from jax._src import xla_bridge
from jaxlib import _jax

from xlareport.replay.worker.executing import compile_options, cpu_devices


def compile_module(module: str, options: Mapping[str, str], devices: int) -> Any:
    """Compile StableHLO for CPU devices, a replica each, with debug options by name."""
    settings = compile_options(list(options.items()), devices)
    backend = xla_bridge.get_backend("cpu")
    chosen = _jax.DeviceList(tuple(cpu_devices(devices)))
    return backend.compile_and_load(module, chosen, settings)
