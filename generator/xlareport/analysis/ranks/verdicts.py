"""The meaning of a difference between ranks: harmless, one device, numerics, speed, or a hang."""

from enum import StrEnum
from typing import Literal

from msgspec import Struct


class RankVerdict(StrEnum):
    """The effect of a difference on a run of all ranks, the least severe first."""

    SAME = "same"
    HARMLESS = "harmless"
    """Names, ids, metadata: the code is the same."""
    DEVICE_LOCAL = "device-local"
    """Constants of a rank, other than floats."""
    NUMBERS = "numbers"
    """Other code or other floats for the same program: results and speed may differ."""
    DANGEROUS = "dangerous"
    """Devices wait for each other forever, or exchange wrong values."""
    UNKNOWN = "unknown"
    """Files differ that are not read."""


_ORDER = tuple(RankVerdict)


def worse(verdict: RankVerdict, other: RankVerdict) -> bool:
    """Return whether the first is more severe; unknown is more severe than harmless."""
    return _weight(verdict) > _weight(other)


def _weight(verdict: RankVerdict) -> float:
    return 1.5 if verdict is RankVerdict.UNKNOWN else _ORDER.index(verdict)


DifferenceKind = Literal[
    "names",
    "metadata",
    "ids",
    "times",
    "constants",
    "floats",
    "layout",
    "autotuning",
    "fusion",
    "order",
    "structure",
    "program",
    "passes",
    "flags",
    "code",
    "files",
    "collectives",
    "values",
    "stage",
]

VERDICTS: dict[DifferenceKind, RankVerdict] = {
    "names": RankVerdict.HARMLESS,
    "metadata": RankVerdict.HARMLESS,
    "ids": RankVerdict.HARMLESS,
    "passes": RankVerdict.HARMLESS,
    "times": RankVerdict.HARMLESS,
    "constants": RankVerdict.DEVICE_LOCAL,
    "floats": RankVerdict.NUMBERS,
    "layout": RankVerdict.NUMBERS,
    "autotuning": RankVerdict.NUMBERS,
    "fusion": RankVerdict.NUMBERS,
    "order": RankVerdict.NUMBERS,
    "structure": RankVerdict.NUMBERS,
    "program": RankVerdict.NUMBERS,
    "flags": RankVerdict.NUMBERS,
    "code": RankVerdict.NUMBERS,
    "files": RankVerdict.UNKNOWN,
    "collectives": RankVerdict.DANGEROUS,
    "values": RankVerdict.DANGEROUS,
    "stage": RankVerdict.SAME,
}

REASONS: dict[DifferenceKind, str] = {
    "names": "Only names differ.",
    "metadata": "Only metadata differs: op_names, source lines, stack frames.",
    "ids": (
        "Only an id differs: of a channel, or of a callback that each process registers by itself."
    ),
    "times": "Only times differ that the autotuner measured; it chose the same.",
    "passes": "The ranks have different snapshots; those that both have hold the same code.",
    "constants": "Only values of constants differ, as where a rank embeds its own number.",
    "floats": (
        "Values of floating-point constants differ, such as a learning rate: the ranks compute "
        "different results."
    ),
    "layout": "Only layouts differ: speed may differ, and rounding in the order of additions.",
    "autotuning": (
        "The configuration of a kernel differs: speed and rounding of results may differ."
    ),
    "fusion": "Another fusion: speed and rounding of results may differ.",
    "order": "The same instructions in another order; no collective is out of order.",
    "structure": "Different instructions: speed and rounding of results may differ.",
    "program": (
        "XLA was given different programs; their collectives are the same in the same order."
    ),
    "flags": "Compiler options differ.",
    "code": "The HLO is the same; the code that was generated from it differs.",
    "files": "A file differs that is not compared further; the HLO is the same.",
    "collectives": (
        "The sequence of collectives differs: ranks that run these together wait for one another "
        "forever, or fail."
    ),
    "stage": "Another program for other devices, such as a stage of a pipeline.",
    "values": (
        "Collectives of one kind, shape and group are in a different order: ranks that run these "
        "together exchange the wrong values, without a hang."
    ),
}


class RankDifference(Struct, frozen=True):
    """The first difference of some ranks' module from that of most ranks, and its meaning."""

    module: str
    """Its key."""
    reference: str
    """The key of the module of most ranks."""
    verdict: RankVerdict
    kind: DifferenceKind
    step: str
    """The label of the snapshot, or the path of the side file."""
    computation: str = ""
    """As the reference has it; empty where the difference is in no instruction."""
    instruction: str = ""
    """As this module has it; empty where it has none in that place."""
    reference_instruction: str = ""
    attribute: str = ""
    """The differing part of the instruction: `opcode`, `shape`, `operands`, an attribute's name."""
    value: str = ""
    reference_value: str = ""
    reason: str = ""
    """The meaning of the difference, as a sentence."""
    grade: str = "exact"
    """`matched` if the instructions correspond only by name."""
    ranks: tuple[str, ...] = ()
    """Names of the processes that compiled this module, the first few."""
    decision: str = ""
    """The first decision that differs, of the GPU fusion pass or of the autotuner; empty where
    none is known."""
