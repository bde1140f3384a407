"""The parts of the pages of modules in a built report, which a script puts in their place."""

from collections.abc import Iterator
from pathlib import Path

from xlareport.storage.payloads import SHARED, read_payload, read_stored_value


def parts(site: Path) -> Iterator[tuple[str, str]]:
    """Yield address and HTML of every part: `m/x.html?cost`."""
    for folder in sorted((site / "assets/data/m").iterdir()):
        names = {script.stem for script in folder.glob("page-*.js")}
        if (shared := folder / f"{SHARED}.js").is_file():
            names |= read_payload(shared.read_text("ascii"))[1].keys()
        for name in sorted(one for one in names if one.startswith("page-")):
            html = read_stored_value(site, f"m/{folder.name}/{name}")["html"]
            yield f"m/{folder.name}.html?{name.removeprefix('page-')}", html


def part(site: Path, address: str) -> str:
    """Return the HTML of the part at an address."""
    return dict(parts(site))[address]
