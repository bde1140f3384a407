"""Common code of the adapters: HLO text to StableHLO, debug options, CPU devices, a run on them."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax._src import xla_bridge
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import xla_client


def import_text(text: str) -> str:
    """Return the text of a module as one of StableHLO, which is what the compiler takes."""
    library: Any = vars(xla_client)["_xla"]
    is_moved = not hasattr(library, "hlo_module_from_text")  # since 0.10
    parse = (xla_client.hlo if is_moved else library).hlo_module_from_text
    computation = xla_client.XlaComputation(parse(text).as_serialized_hlo_module_proto())
    return str(library.mlir.xla_computation_to_mlir_module(computation))


def cpu_devices(count: int) -> list[Any]:
    """Return the first devices of the CPU."""
    devices = xla_bridge.get_backend("cpu").devices()
    if len(devices) < count:
        raise ValueError(f"there are {len(devices)} devices of the CPU, not {count}")
    return list(devices[:count])


def compile_options(options: "Sequence[tuple[str, str]]", devices: int) -> Any:
    """Return options for a program with one replica per device, with debug options by name."""
    settings = xla_client.CompileOptions()
    settings.env_option_overrides = [(name, _value(text)) for name, text in options]
    settings.num_replicas = devices
    assignment = np.arange(devices).reshape(devices, 1)
    settings.device_assignment = xla_client.DeviceAssignment.create(assignment)
    return settings


def _value(text: str) -> Any:
    """Return an option as its own type: overrides are not parsed from texts."""
    if text in {"true", "false"}:
        return text == "true"
    return int(text) if text.lstrip("-").isdigit() else text


def execute(executable: Any, inputs: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Run a program once on what each device is given; returns what each gives, by output."""
    jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - the interface of jax
    results = executable.execute_sharded([_placed(parts) for parts in inputs])
    outputs = results.disassemble_into_single_device_arrays()
    return [[np.asarray(part) for part in output] for output in outputs]


def _placed(parts: Sequence[Any]) -> Any:
    """Return a jax array whose devices hold the parts: formally copies of one array."""
    devices = cpu_devices(len(parts))
    if len(devices) == 1:
        return jax.device_put(parts[0], devices[0])
    sharding = NamedSharding(Mesh(np.array(devices), ("device",)), PartitionSpec())
    arrays = [jax.device_put(*pair) for pair in zip(parts, devices, strict=True)]
    return jax.make_array_from_single_device_arrays(parts[0].shape, sharding, arrays)
