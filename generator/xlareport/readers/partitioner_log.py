"""Reads the SPMD partitioner's warnings off a log: `Involuntary full rematerialization`."""

import re
from collections import Counter

from msgspec import Struct
from msgspec.structs import replace

_SHARDING = r"(\{[^{}]{0,2000}+(?:\{[^{}]{0,2000}+\}[^{}]{0,2000}+){0,20}+\})"
_WARNING = re.compile(
    r"Involuntary full rematerialization\. The compile[rd] (?:cannot|was not able to) go from "
    rf"sharding {_SHARDING} to {_SHARDING} (?:efficiently|without)([^\n]*+)"
)
_OPERATION = re.compile(r"HLO operation:? %?([\w.\-]{1,200}+) = (\w{1,20}+\[[\d,]{0,400}+\])")
_OP_NAME = re.compile(r'op_name="((?:[^"\\\n]|\\.){0,2000}+)"')
MOST_WARNINGS = 1_000
"""Limit on stored warnings of one log."""


class PartitionerWarning(Struct, frozen=True):
    """A value that the compiler reports as gathered in full between two shardings."""

    from_sharding: str
    to_sharding: str
    instruction: str
    """Empty in logs from before July 2024, which name no operation."""
    shape: str
    """The shape of one device's shard."""
    op_name: str
    count: int = 1
    """How often the log has it."""
    from_words: str = ""
    """The sharding before in words, along the axes of the mesh."""
    to_words: str = ""


def read_partitioner_log(data: bytes) -> tuple[PartitionerWarning, ...]:
    """Return the warnings in the order of the log, equal ones once; empty for a log without any."""
    counts: Counter[PartitionerWarning] = Counter()
    for match in _WARNING.finditer(data.decode(errors="replace")):
        operation, op_name = _OPERATION.search(match[3]), _OP_NAME.search(match[3])
        warning = PartitionerWarning(
            from_sharding=match[1],
            to_sharding=match[2],
            instruction=operation[1] if operation else "",
            shape=operation[2] if operation else "",
            op_name=op_name[1] if op_name else "",
        )
        if len(counts) < MOST_WARNINGS or warning in counts:
            counts[warning] += 1
    return tuple(replace(warning, count=count) for warning, count in counts.items())
