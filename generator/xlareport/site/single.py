"""A report in one HTML file: every page but those of other modules, and the data of these pages.

The pages are templates, the data blocks that no browser runs. The only scripts are those of the
site, each allowed by its hash.
"""

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from xlareport.dump.built_site import SINGLE_FILE_MARK
from xlareport.pages.rendering.environment import environment
from xlareport.runtime import units
from xlareport.runtime.errors import UnreadableInputError, writing
from xlareport.runtime.resources import find_resource
from xlareport.site.fitting import (
    DATA,
    LIMIT,
    MainProgram,
    Packed,
    PackedFile,
    describe_files,
    find_report_site,
    rank_file,
    read_main_program,
    select_files,
)
from xlareport.site.one_page import read_page
from xlareport.site.pack import NO_NOTES
from xlareport.storage.payloads import embed_payload

_MISSING = "left-out.html"
_EARLY = "assets/placeless.js"
_SCRIPT = "assets/single.js"
_NOTICES = "assets/notices.txt"
_FACTS = ("schema", "generator", "dump", "main")
_ALONE = (
    '<p class="xr-noscript md-grid">Scripts are switched off in this browser: this is the home '
    "page alone. The other pages of this file need them.</p>"
)
_NOTE = (
    f'<p class="xr-single-note md-grid"><a href="#page={_MISSING}">What is not in this file</a></p>'
)


def pack_single(
    report: Path, target: Path, limit: int = LIMIT, notes: Mapping[str, str] = NO_NOTES
) -> Packed:
    """Write a report as one HTML file of at most `limit` bytes that needs no other file.

    Raises UnreadableInputError where the pages alone are too large, and UnwritableFileError.
    """
    site = find_report_site(report)
    main = read_main_program(site)
    pages = [read_page(site, path) for path in main.pages]
    templates = pages[0].without_scripts(_ALONE) + "".join(page.template() for page in pages)
    head, scripts, foot = pages[0].frame(
        _script(site, _EARLY), _script(site, _SCRIPT), _NOTE, SINGLE_FILE_MARK
    )
    facts = _block("report.json", _facts(site, main.slug)) + _notices(site)
    others = _others(site, main)
    parts = [_packed_part(site, path, main) for path in main.data]
    notice = _left_out_page((*others, *describe_files(parts)), notes)
    fixed = sum(len(text.encode()) for text in (head, templates, notice, scripts, facts, foot))
    packed, dropped = select_files(parts, limit, fixed)
    left_out = (*others, *describe_files(dropped))
    missing = _left_out_page(left_out, notes)
    blocks = map(_data, packed)
    with writing(target):
        _write(target, (head, templates, missing, scripts, facts, *blocks, foot))
    return Packed(target.stat().st_size, len(pages) + len(packed), left_out)


def _others(site: Path, main: MainProgram) -> tuple[tuple[str, int], ...]:
    """Return the words for files of other modules in the report, and their number."""
    folders = [path for path in (site / DATA).glob("m/*") if path.name != main.slug]
    payloads = [file for folder in folders for file in folder.iterdir()]
    pages = [path for path in (site / "m").glob("*.html") if f"m/{path.name}" not in main.pages]
    words = f"pages and data of {units.plural(len(folders), 'other module')}"
    return ((words, len(pages) + len(payloads)),) if folders else ()


def _packed_part(site: Path, path: str, main: MainProgram) -> PackedFile:
    file = PackedFile(path, site / path, 0, rank_file(path, main))
    return replace(file, size=len(_data(file)))


def _data(part: PackedFile) -> str:
    """Return the block of a payload; raises UnreadableInputError where that is damaged."""
    try:
        return _block(part.path, embed_payload(part.location.read_text("ascii")))
    except ValueError as error:
        raise UnreadableInputError(f"{part.location} is damaged: {error}") from error


def _block(path: str, data: str) -> str:
    return f'<script type="application/json" id="{html.escape(path)}">{data}</script>\n'


def _facts(site: Path, slug: str | None) -> str:
    """Return the facts of the report about its main program as JSON that is no markup."""
    report = json.loads((site / "report.json").read_text("utf-8"))
    facts = {name: report.get(name) for name in _FACTS}
    modules = [item for item in report["modules"] if item["slug"] == slug]
    return json.dumps(facts | {"modules": modules}).replace("<", "\\u003c")


def _notices(site: Path) -> str:
    """Return the licenses of what the file holds; nothing where the site is an older one."""
    file = site / _NOTICES
    text = json.dumps(file.read_text("utf-8")) if file.is_file() else ""
    return _block(_NOTICES, text.replace("<", "\\u003c")) if text else ""


def _script(site: Path, path: str) -> str:
    file = site / path
    if not file.is_file():
        raise UnreadableInputError(f"{site} was built by an older xlareport; build it again.")
    return file.read_text("utf-8")


def _left_out_page(left_out: Sequence[tuple[str, int]], notes: Mapping[str, str]) -> str:
    """Return the page that lists what is not in the file."""
    template = environment(find_resource("templates")).get_template("left_out.jinja")
    return template.render(page=_MISSING, left_out=left_out, notes=[*notes.values()])


def _write(target: Path, pieces: Iterable[str]) -> None:
    aside = target.with_name(f".{target.name}.part")
    try:
        with aside.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)
