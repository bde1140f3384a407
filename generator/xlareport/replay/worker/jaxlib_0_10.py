"""The adapter for jaxlib 0.10 and later: HLO text to StableHLO to an executable on the CPU."""

from collections.abc import Mapping
from typing import Any

from jax._src import xla_bridge
from jaxlib import _jax
from jaxlib.xla_client import hlo

from xlareport.replay.worker.executing import compile_options, cpu_devices


def compile_module(module: str, options: Mapping[str, str], devices: int) -> Any:
    """Compile StableHLO for CPU devices, a replica each, with debug options by name."""
    settings = compile_options(list(options.items()), devices)
    backend = xla_bridge.get_backend("cpu")
    chosen = _jax.DeviceList(tuple(cpu_devices(devices)))
    return backend.compile_and_load(module, chosen, settings)


def import_text(text: str) -> str:
    """Return the text of a module as one of StableHLO, which is what the compiler takes."""
    proto = hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    return str(_jax.mlir.xla_computation_to_mlir_module(hlo.XlaComputation(proto)))
