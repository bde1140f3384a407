"""The adapter for jaxlib 0.10 and 0.12: HLO text in, an executable on the CPU out."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax._src import xla_bridge
from jaxlib import _jax, xla_client
from jaxlib.xla_client import hlo


def compile_text(text: str, options: Mapping[str, str]) -> Any:
    """Compile the text of a module for one CPU device, with debug options by their names."""
    return _compile(hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto(), options)


def _compile(proto: bytes, options: Mapping[str, str]) -> Any:
    program = _jax.mlir.xla_computation_to_mlir_module(hlo.XlaComputation(proto))
    settings = xla_client.CompileOptions()
    settings.env_option_overrides = [(name, _value(value)) for name, value in options.items()]
    backend = xla_bridge.get_backend("cpu")
    return backend.compile_and_load(program, backend.devices()[:1], settings)


def _value(text: str) -> Any:
    """Return an option as its own type: overrides are not parsed from texts."""
    if text in {"true", "false"}:
        return text == "true"
    return int(text) if text.lstrip("-").isdigit() else text


def execute(executable: Any, inputs: Sequence[Any]) -> list[Any]:
    """Run a program once; returns its outputs as numpy arrays, in order."""
    with jax.enable_x64(new_val=True):
        placed = [jax.device_put(array) for array in inputs]
        return [np.asarray(output) for output in executable.execute(placed)]
