"""Reads what a dump calls the device: topologies, target configurations, `target_arguments`."""

import re

from xlareport.runtime.errors import Problem

_WORDS = re.compile(
    rb'(?:platform_version|device_description_str|device_kind): "((?:[^"\\]|\\.){0,200})'
)
_TARGET = re.compile(rb'version: (TPU_VERSION_\w{1,50})\s{1,50}(?:variant: "(\w{1,50})")?')
"""What libtpu compiles for, by the chip's name inside it."""


def read_device_words(data: bytes, path: str) -> tuple[str, list[Problem]]:
    """Return the texts that name the device, joined; empty where the file names none."""
    del path
    words = [item.decode("utf-8", "replace") for item in _WORDS.findall(data)]
    target = _TARGET.search(data)
    if target:
        words.append(" ".join(part.decode() for part in target.groups() if part))
    return " ".join(words), []
