"""Large replicated parameters.

In a program of several partitions, parameters of 1 MiB or more have `sharding={replicated}` and
total 16 MiB or more, so each device holds all of them. Data parallelism is the usual reason.
Sharding them saves memory and costs an all-gather.
"""

from collections.abc import Iterator

from xlareport.analysis.findings.finding import MEBIBYTE, Case, Finding, join_names
from xlareport.hlo.model import Instruction
from xlareport.runtime import units

LEAST_BYTES = 16 * MEBIBYTE
"""All of them together."""


def replicated_parameters(case: Case) -> Iterator[Finding]:
    """Report parameters of a partitioned program that its shardings replicate."""
    module = case.before
    if module is None or module.entry is None or case.cost.num_partitions < 2:
        return
    replicated = [
        (parameter.shape.byte_size or 0, parameter)
        for parameter in module.entry.parameters
        if _is_replicated(parameter) and (parameter.shape.byte_size or 0) >= MEBIBYTE
    ]
    size = sum(parameter_bytes for parameter_bytes, _ in replicated)
    if size < LEAST_BYTES:
        return
    replicated.sort(key=lambda item: (-item[0], item[1].name))
    saved = size - size // case.cost.num_partitions
    entry = module.entry.name
    yield Finding(
        rule="replicated-parameters",
        title="Large replicated parameters",
        places=tuple((entry, parameter.name) for _, parameter in replicated),
        evidence=(
            f"{units.plural(len(replicated), 'parameter')} with `sharding={{replicated}}`, "
            f"{units.byte_size(size)} on each of {case.cost.num_partitions} devices: "
            f"{join_names(parameter.name for _, parameter in replicated)}."
        ),
        suggestion=(
            "Shard weights and optimizer state over the devices (FSDP, ZeRO): less memory, for an "
            "all-gather of the weights before their use."
        ),
        grade="exact",
        weight=0.0,
        bytes=saved,
    )


def _is_replicated(parameter: Instruction) -> bool:
    return parameter.attributes.get("sharding") == "{replicated}"
