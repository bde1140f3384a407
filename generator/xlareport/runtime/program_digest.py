"""A digest of all code and data that make a report, which identifies this version."""

import os
import sys
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from xlareport import __version__
from xlareport.runtime.resources import PACKAGE, find_resource

LIBRARIES = (
    "graphviz", "graphviz-pure", "jinja2", "markdown", "mkdocs", "mkdocs-material", "protobuf",
    "pygments", "pymdown-extensions", "squarify", "zstandard",
)  # fmt: skip
"""Libraries that pages, pictures and payloads go through."""
_COMPILED = "__pycache__"


@cache
def digest_program() -> str:
    """Return the digest: another one after an upgrade, of a library too, or an edit of a source.

    It is of the files as they are when it is first asked for: what runs was read before.
    """
    digest = blake2b(digest_size=16)
    libraries = [f"{name} {_version(name)}" for name in LIBRARIES]
    digest.update("\n".join([__version__, sys.version, *libraries]).encode())
    for folder in (PACKAGE, find_resource("templates"), find_resource("site_src")):
        for path in _files(folder):
            content = (folder / path).read_bytes()
            digest.update(f"\n{path} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


def _files(folder: Path) -> list[str]:
    """Return the paths of all files of a folder, below it."""
    start = len(str(folder)) + 1
    return sorted(
        f"{current}{os.sep}{name}"[start:]
        for current, _, names in os.walk(folder)
        if not current.endswith(_COMPILED)
        for name in names
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
