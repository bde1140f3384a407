"""Reads a dump's descriptions of its devices: topologies, configs, `target_arguments`."""

import re

from xlareport.runtime.errors import Problem

_WORDS = re.compile(
    rb'(?:platform_version|device_description_str|device_kind): "((?:[^"\\]|\\.){0,200})'
)
_TARGET = re.compile(rb'version: (TPU_VERSION_\w{1,50})\s{1,50}(?:variant: "(\w{1,50})")?')
"""The target of libtpu, by the chip's internal name."""
_SIZES = rb"\s*+\{\s*+x: (\d{1,5})\s*+y: (\d{1,5})\s*+z: (\d{1,5})\s*+\}"
_CHIPS = re.compile(rb"chips_per_host_bounds" + _SIZES)
_CORES = re.compile(rb"\bcore_count: (\d{1,6})\b")
_HOSTS = re.compile(rb"\bhost_bounds" + _SIZES)
_ASSIGNMENT = re.compile(
    rb"device_assignment \{\s*+replica_count: (\d{1,9})\s*+computation_count: (\d{1,9})\s*+"
    rb"((?:computation_devices \{\s*+(?:replica_device_ids: \d{1,9}\s*+)++\}\s*+)++)\}"
)
_DEVICE = re.compile(rb"replica_device_ids: (\d{1,9})")


def read_device_words(data: bytes, path: str) -> tuple[str, list[Problem]]:
    """Return the texts that name the device, joined; empty where the file names none."""
    del path
    words = [item.decode("utf-8", "replace") for item in _WORDS.findall(data)]
    target = _TARGET.search(data)
    if target:
        words.append(" ".join(part.decode() for part in target.groups() if part))
    words += _slice_words(data)
    return " ".join(words), []


def read_gpu_cores(data: bytes, path: str) -> tuple[int | None, list[Problem]]:
    """Return `core_count` of a GPU's target configuration; None where it does not say."""
    del path
    cores = _CORES.search(data)
    return (int(cores[1]) or None if cores else None), []


def read_device_assignment(data: bytes, path: str) -> tuple[tuple[int, ...], list[Problem]]:
    """Return the ids of the devices that run the program, in the order of its own numbers.

    That is by replica, then by partition. Empty where the file does not say.
    """
    del path
    written = _ASSIGNMENT.search(data)
    if written is None:
        return (), []
    replicas, partitions = int(written[1]), int(written[2])
    ids = [int(number) for number in _DEVICE.findall(written[3])]
    if len(ids) != replicas * partitions:
        return (), []
    return tuple(number for at in range(replicas) for number in ids[at::replicas]), []


def _slice_words(data: bytes) -> list[str]:
    """Return the shape of a TPU slice in chips, as in `slice-shape=2x4x1`."""
    chips, hosts = _CHIPS.search(data), _HOSTS.search(data)
    if chips is None or hosts is None:
        return []
    sizes = [
        int(chip) * int(many) for chip, many in zip(chips.groups(), hosts.groups(), strict=True)
    ]
    return [f"slice-shape={'x'.join(map(str, sizes))}"]
