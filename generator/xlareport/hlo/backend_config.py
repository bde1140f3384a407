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
