"""Reads `backend_config`: a backend's notes on an instruction, as JSON."""

import json

from xlareport.hlo.model import Instruction

LONGEST = 100_000
"""Characters of a configuration that is read; kernels embed whole programs in theirs."""


def read_backend_config(instruction: Instruction, longest: int = LONGEST) -> object:
    """Return the value, raw or out of a quoted and escaped text; None where it is no JSON."""
    text = instruction.attributes.get("backend_config", "")
    if not text or len(text) > longest:
        return None
    try:
        value = json.loads(text)
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None


def is_synchronous(instruction: Instruction) -> bool | None:
    """Return whether the config of a collective's start says `is_sync`; None if it says nothing."""
    inner = _read_collective_config(instruction)
    if inner is None:
        return None
    is_sync = inner.get("is_sync", False)
    return is_sync if isinstance(is_sync, bool) else None


def read_kernel_strategy(instruction: Instruction) -> str:
    """Return the `kernel_strategy` of a collective, as XLA:GPU writes it; empty without one."""
    strategy = (_read_collective_config(instruction) or {}).get("kernel_strategy", "")
    return strategy if isinstance(strategy, str) else ""


def _read_collective_config(instruction: Instruction) -> dict[str, object] | None:
    config = read_backend_config(instruction)
    inner = config.get("collective_backend_config") if isinstance(config, dict) else None
    return inner if isinstance(inner, dict) else None
