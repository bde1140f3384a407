"""What of a built site belongs to its main program: pages, data, and the pictures they name."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xlareport.pages import navigation
from xlareport.runtime.errors import UnreadableInputError
from xlareport.storage.payloads import read_payload

HOME = "index.html"
DATA = "assets/data"

_NOT_PAGES = ("404.html",)
_KEY_OF_PICTURE = re.compile(r"\bpictures/[\w-]{1,200}")


@dataclass(frozen=True, slots=True)
class MainProgram:
    """The main program of a report, and what stands in front of all modules."""

    slug: str | None
    """None where there is no module."""
    pages: tuple[str, ...]
    """Below the site: the home page, then all others but those of other modules."""
    data: tuple[str, ...]
    """Files of payloads, pictures among them."""
    pictures: frozenset[str]
    """Keys of the pictures that these pages and data name."""


def find_site(report: Path) -> Path:
    """Return the folder of the built pages; raises UnreadableInputError where there is none."""
    for folder in (report, report / "site"):
        if (folder / HOME).is_file() and (folder / "report.json").is_file():
            return folder
    raise UnreadableInputError(
        f"{report} holds no built report; name the folder given to `xlareport build --out`."
    )


def read_main_program(site: Path) -> MainProgram:
    """Return what belongs to the main program; raises UnreadableInputError."""
    slug = _slug(site)
    pages = tuple(_pages(site, slug))
    shown = sorted((site / DATA).glob("*.js"))
    shown += sorted((site / DATA / "m" / slug).glob("*.js")) if slug else []
    texts = [*((site / page).read_text("utf-8", "replace") for page in pages), *map(_text, shown)]
    named = {key for text in texts for key in _KEY_OF_PICTURE.findall(text)}
    keys = named | {navigation.PICTURE_LOOK}
    pictures = [path for key in sorted(keys) if (path := site / DATA / f"{key}.js").is_file()]
    data = tuple(path.relative_to(site).as_posix() for path in (*shown, *pictures))
    return MainProgram(slug, pages, data, frozenset(keys))


def _slug(site: Path) -> str | None:
    try:
        report = json.loads((site / "report.json").read_text("utf-8"))
        slugs = {item["key"]: item["slug"] for item in report["modules"]}
        result = slugs.get(report["main"]["module"]) if report["main"] else None
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableInputError(f"{site}/report.json is damaged: {error}.") from error
    return str(result) if result else None


def _pages(site: Path, slug: str | None) -> Iterator[str]:
    of_main = navigation.address(navigation.module_page(slug)) if slug else None
    yield HOME
    for location in sorted(site.rglob("*.html")):
        path = location.relative_to(site).as_posix()
        if path in (HOME, *_NOT_PAGES) or (path.startswith("m/") and path != of_main):
            continue
        yield path


def _text(script: Path) -> str:
    """Return what a payload holds; a damaged one names no picture."""
    try:
        return json.dumps(read_payload(script.read_text("ascii"))[1])
    except ValueError:
        return ""
