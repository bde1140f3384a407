"""Layouts kept between builds: numbers only, by the hash of the DOT that they are of."""

import contextlib
import json
import os
from hashlib import blake2b
from pathlib import Path
from typing import Any

from xlareport.pictures.layout import Layout, Rectangle
from xlareport.runtime.kept_file import keep_file, list_kept, read_kept

MOST_KEPT = 20_000
"""Layouts of former builds; one is of a few kilobytes."""

_MOST_BYTES = 1 << 28
"""Bytes of a layout that is read."""
_FORM = "2"
"""Changes with the file format, and with options of Graphviz outside of the DOT text."""


def layout_key(dot: str) -> str:
    """Return the name under which the layout of a DOT text is kept."""
    return blake2b((_FORM + dot).encode(), digest_size=16).hexdigest()


class LayoutCache:
    """A folder of layouts; if a file in it is damaged, its layout is computed again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Layout | None:
        """Return a layout that is kept."""
        path = self._path(key)
        try:
            layout = _decode(json.loads(read_kept(path, _MOST_BYTES) or b""))
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return layout

    def put(self, key: str, layout: Layout) -> None:
        """Store a layout; if the disk is full, the next build only takes longer."""
        keep_file(
            self._path(key), json.dumps(_encode(layout), separators=(",", ":")).encode("ascii")
        )

    def prune(self) -> None:
        """Delete the layouts that were unused for the longest time, if there are too many."""
        with contextlib.suppress(OSError):
            kept = sorted(list_kept(self._folder, ".json"), key=lambda file: -_last_use(file))
            for file in kept[MOST_KEPT:]:
                Path(file.path).unlink()

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key[2:]}.json"


def _last_use(file: os.DirEntry[str]) -> int:
    return file.stat().st_mtime_ns


def _encode(layout: Layout) -> dict[str, Any]:
    return {
        "size": [layout.width, layout.height],
        "nodes": [_edges_of_box(box) for box in layout.nodes],
        "edges": layout.edges,
        "groups": [_edges_of_box(box) for box in layout.groups],
    }


def _edges_of_box(box: Rectangle) -> tuple[float, ...]:
    return box.x, box.y, box.width, box.height


def _decode(kept: dict[str, Any]) -> Layout:
    width, height = map(float, kept["size"])
    return Layout(
        width,
        height,
        tuple(_box(item) for item in kept["nodes"]),
        tuple(tuple((float(x), float(y)) for x, y in item) for item in kept["edges"]),
        tuple(_box(item) for item in kept["groups"]),
    )


def _box(numbers: list[float]) -> Rectangle:
    x, y, width, height = map(float, numbers)
    return Rectangle(x, y, width, height)
