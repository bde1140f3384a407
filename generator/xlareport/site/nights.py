"""The history of nightly reports: one line of JSON for each night, only ever appended to.

Several jobs may write at once: each takes a lock, and each line is written whole.
"""

import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock
from msgspec import to_builtins
from msgspec.structs import replace

from xlareport.analysis.trends import Night, labels, select_slugs
from xlareport.dump.modules import GroupedDump
from xlareport.pages.nightly.page import Nightly, tonight
from xlareport.records.bare_report import whole_figure
from xlareport.records.report import ReportRecord
from xlareport.runtime import units
from xlareport.runtime.errors import Problem, error_reason, writing
from xlareport.site.folder import Folder, replace_file

FILE = "history.jsonl"
_SLUG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}", re.ASCII)
_MOST_BYTES = 64 << 20
"""Bytes of a history that are read, the last ones."""
_LONGEST_NAME = 10_000


def read_nights(folder: Path) -> tuple[tuple[Night, ...], tuple[Problem, ...]]:
    """Return the nights in the order in which they were written, and the lines that are none."""
    path = folder / FILE
    if not path.exists():
        return (), ()
    try:
        lines, is_cut = _last_lines(path)
    except OSError as error:
        return (), (Problem(str(path), None, f"Not read: {error_reason(error)}."),)
    nights: list[Night] = []
    problems: list[Problem] = []
    if is_cut:
        most = units.byte_size(_MOST_BYTES)
        problems.append(Problem(str(path), None, f"Only its last {most} are read."))
    for number, line in enumerate(lines, 1):
        try:
            nights.append(_night(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            place = None if is_cut else number
            problems.append(Problem(str(path), place, "This line is no night of a history."))
    return tuple(nights), tuple(problems)


def _last_lines(path: Path) -> tuple[list[str], bool]:
    """Return the last lines of a history, and whether there are more before them."""
    with path.open("rb") as file:
        passed = max(0, file.seek(0, os.SEEK_END) - _MOST_BYTES)
        file.seek(passed)
        lines = file.read(_MOST_BYTES).decode("utf-8", "replace").splitlines()
    return (lines[1:], True) if passed else (lines, False)


def append_night(folder: Path, night: Night, keep: int | None = None) -> None:
    """Add a night, and forget all but the last `keep`; raises UnwritableFileError.

    A night with the same address was this one, run before: its figures are replaced.
    """
    path = folder / FILE
    line = json.dumps(to_builtins(night), separators=(",", ":")).encode() + b"\n"
    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):
            former = path.read_bytes() if path.exists() else b""
            lines = former.splitlines(keepends=True)
            others = [line for line in lines if _address(line) != night.report]
            if len(others) == len(lines) and (keep is None or len(lines) < keep):
                _append(path, former, line)
            else:
                _replace(path, [*others, line][-keep if keep else 0 :])


def _address(line: bytes) -> str | None:
    """Return the address of the report of a night; None where the line is no night."""
    try:
        return str(json.loads(line)["report"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def forget_nights(folder: Path, names: Collection[str]) -> None:
    """Remove nights from a history by the folder of their report; raises UnwritableFileError."""
    path = folder / FILE
    if not names or not path.exists():
        return
    with writing(path), FileLock(f"{path}.lock"):
        lines = path.read_bytes().splitlines(keepends=True)
        stay = [line for line in lines if not _is_below(_address(line), names)]
        _replace(path, stay)


def _is_below(address: str | None, names: Collection[str]) -> bool:
    return address is not None and not set(address.split("/")).isdisjoint(names)


def _append(path: Path, former: bytes, line: bytes) -> None:
    """Write one line in one call; a line cut off by a former crash gets its end first."""
    end = b"" if not former or former.endswith(b"\n") else b"\n"
    with path.open("ab", buffering=0) as file:
        file.write(end + line)
        os.fsync(file.fileno())


def _replace(path: Path, lines: Sequence[bytes]) -> None:
    ended = (line if line.endswith(b"\n") else line + b"\n" for line in lines)
    replace_file(path, b"".join(ended))


def _night(record: Mapping[str, Any]) -> Night:
    figures = {
        _valid_name(module): {
            _valid_name(name): whole_figure(value) for name, value in item.items()
        }
        for module, item in record["figures"].items()
    }
    main = record["main"]
    return Night(
        when=_valid_name(record["when"]),
        dump=_valid_name(record["dump"]),
        report=_valid_name(record["report"]),
        main=None if main is None else _valid_name(main),
        figures=figures,
        slugs={str(name): slug for name, slug in record.get("slugs", {}).items() if _is_slug(slug)},
    )


def _valid_name(value: object) -> str:
    if isinstance(value, str) and len(value) <= _LONGEST_NAME:
        value.encode()  # raises ValueError for what no page can hold
        return value
    raise ValueError("a name is a text, and not a long one")


def _is_slug(slug: object) -> bool:
    """Return whether a slug can name a page, wherever the history is from."""
    return isinstance(slug, str) and _SLUG.fullmatch(slug) is not None


def read_nightly(report: ReportRecord, history: Path, out: Path) -> Nightly:
    """Return all nights of a history with that of this report as the last."""
    site = Folder(out).site
    when = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    address = os.path.relpath(site / "index.html", history).replace("\\", "/")
    nights, problems = read_nights(history)
    others = (night for night in nights if night.report != address)
    return Nightly((*others, tonight(report, when, address)), history, site, problems)


def keep_slugs(grouped: GroupedDump, history: Path | None) -> GroupedDump:
    """Name the pages of modules as the night before did, so that addresses stay the same."""
    nights = read_nights(history)[0] if history else ()
    if not nights:
        return grouped
    named = labels(module.name for module in grouped.modules)
    slugs = select_slugs(named, [module.slug for module in grouped.modules], nights[-1].slugs)
    modules = zip(grouped.modules, slugs, strict=True)
    return replace(grouped, modules=tuple(replace(module, slug=slug) for module, slug in modules))
