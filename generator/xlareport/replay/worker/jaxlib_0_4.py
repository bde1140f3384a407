"""The adapter for jaxlib 0.4 and 0.5: StableHLO to an executable on the CPU."""

from collections.abc import Mapping
from typing import Any

from jax._src import xla_bridge

from xlareport.replay.worker.executing import compile_options

_DISABLED = "xla_disable_hlo_passes"


def compile_module(module: str, options: Mapping[str, str], devices: int) -> Any:
    """Compile StableHLO for CPU devices, a replica each, with debug options by name."""
    given = [option for option in options.items() if option[0] != _DISABLED]
    settings = compile_options(given, devices)
    if _DISABLED in options:  # a list, which these releases do not override
        settings.executable_build_options.debug_options.xla_disable_hlo_passes = options[_DISABLED]
    return xla_bridge.get_backend("cpu").compile(module, settings)
