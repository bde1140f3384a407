"""Finds files that are not code: in the package once installed, else in the checkout.

Parsed tables are kept for the user: parsing TOML takes longer than most of what is done with it.
"""

import json
import tomllib
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any

from xlareport.runtime.kept_file import keep_file, read_kept
from xlareport.runtime.user_folder import user_folder

PACKAGE = Path(__file__).parent.parent
_MOST_BYTES = 1 << 26
"""Bytes of a kept table that is read."""
_DIGEST = 20


def find_resource(name: str) -> Path:
    """Return the folder or file `name` (`templates`, `site_src`) of the installation in use."""
    installed = PACKAGE / name
    return installed if installed.exists() else PACKAGE.parent.parent / name


def read_toml(package: str | None, *path: str) -> dict[str, Any]:
    """Return the content of a TOML file in a package or a folder of it."""
    place = files(package or "").joinpath(*path)
    text = place.read_bytes()
    folder = user_folder()
    kept = folder and folder / "tables" / ".".join([package or "", *path, "json"])
    content = _kept_content(kept, text) if kept else None
    if content is None:
        content = tomllib.loads(text.decode())
        if kept:
            written = json.dumps(content, allow_nan=False).encode()
            keep_file(kept, _digest(text, written) + written)
    return content


def _kept_content(path: Path, text: bytes) -> dict[str, Any] | None:
    """Return the content of a table with this text, if it is kept as it was written."""
    kept = read_kept(path, _MOST_BYTES) or b""
    written = kept[_DIGEST:]
    if kept[:_DIGEST] != _digest(text, written):
        return None
    content: dict[str, Any] = json.loads(written)
    return content


def _digest(text: bytes, written: bytes) -> bytes:
    key = blake2b(text, digest_size=_DIGEST).digest()
    return blake2b(written, digest_size=_DIGEST, key=key).digest()
