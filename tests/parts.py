"""The parts of the pages of modules in a built report, which a script puts in their place."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xlareport.storage.payloads import SHARED, read_payload


def parts(site: Path) -> Iterator[tuple[str, str]]:
    """Yield address and HTML of every part: `m/x.html?cost`."""
    for folder in sorted((site / "assets/data/m").iterdir()):
        values: dict[str, Any] = {}
        for script in folder.glob("page-*.js"):
            values[script.stem] = read_payload(script.read_text("ascii"))[1]
        if (shared := folder / f"{SHARED}.js").is_file():
            values |= read_payload(shared.read_text("ascii"))[1]
        for name in sorted(name for name in values if name.startswith("page-")):
            yield f"m/{folder.name}.html?{name.removeprefix('page-')}", values[name]["html"]


def part(site: Path, address: str) -> str:
    """Return the HTML of the part at an address."""
    return dict(parts(site))[address]
