"""Reads what a dump calls the device: topologies (`topology.textproto`), target configurations."""

import re

from xlareport.runtime.errors import Problem

_WORDS = re.compile(
    rb'(?:platform_version|device_description_str|device_kind): "((?:[^"\\]|\\.){0,200})'
)


def read_device_words(data: bytes, path: str) -> tuple[str, list[Problem]]:
    """Return the texts that name the device, joined; empty where the file names none."""
    del path
    return " ".join(item.decode("utf-8", "replace") for item in _WORDS.findall(data)), []
