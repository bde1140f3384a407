"""Runs both programs of this folder with jax alone and prints how far their outputs differ."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import ml_dtypes
import numpy as np
from jax._src import xla_bridge
from jaxlib import _jax, xla_client
from jaxlib.xla_client import hlo

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "expected.json").read_text())
BACKEND = xla_bridge.get_backend("cpu")
jax.config.update("jax_enable_x64", val=True)


def outputs(name: str) -> Sequence[Any]:
    """Return the results of the program in a file."""
    proto = hlo.hlo_module_from_text((HERE / name).read_text()).as_serialized_hlo_module_proto()
    program = _jax.mlir.xla_computation_to_mlir_module(hlo.XlaComputation(proto))
    options, settings = xla_client.CompileOptions(), EXPECTED["options"].items()
    options.env_option_overrides = [(k, {"false": False, "0": 0}.get(v, v)) for k, v in settings]
    executable = BACKEND.compile_and_load(program, BACKEND.devices()[:1], options)
    saved = np.load(HERE / "inputs.npz").items()
    types = [(getattr(ml_dtypes, k.split(":")[1], None) or k.split(":")[1], v) for k, v in saved]
    results: Sequence[Any] = executable.execute([jax.device_put(v.view(t)) for t, v in types])
    return results


if "crash" in EXPECTED:
    print(f"expected: {EXPECTED['crash']}")
    outputs("crash.hlo")
    raise SystemExit("It ran.")
for number, (first, second) in enumerate(
    zip(outputs("before.hlo"), outputs("after.hlo"), strict=True)
):
    before, after = (np.asarray(array).astype(np.complex128) for array in (first, second))
    size = np.maximum(np.abs(before), np.sqrt(np.mean(np.abs(before) ** 2)))
    error = np.max(np.abs(before - after) / np.where(size > 0, size, 1), initial=0)
    print(f"output {number}: relative error {error:.3g}")
print(f"expected: {EXPECTED['max_relative_error']}, tolerance {EXPECTED['tolerance']:.3g}")
