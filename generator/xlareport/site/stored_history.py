"""Histories that a built report keeps, answered from its folder or its zip without the texts."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from msgspec import MsgspecError, Struct
from msgspec.json import decode

from xlareport.analysis.source.scopes import ends_plain
from xlareport.pages import navigation
from xlareport.pages.history.stored import StoredIndex, StoredSubject, read_index, read_subject
from xlareport.storage.payloads import SHARED, payload_path, read_payload

_REPORT = "report.json"
_MOST_BYTES = 256 << 20
"""Bytes of a file that is read."""
_UNREADABLE = (
    *(OSError, EOFError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(RuntimeError, zipfile.BadZipFile, zlib.error, MsgspecError),
)
"""Exceptions that a damaged report or archive, or one of another version, can cause."""


class StoredHistory(Struct, frozen=True):
    """The history of the requested name."""

    module: str
    """The key of the module."""
    stages: tuple[tuple[str, str], ...]
    """Keys and labels of its snapshots."""
    subject: StoredSubject
    others: tuple[str, ...]
    """Further instructions that had the name."""


class SeveralOps(Struct, frozen=True):
    """The framework ops to whose op_names the requested name leads."""

    op_names: tuple[str, ...]


def find_stored_history(
    report: Path, module: str | None, asked: str
) -> StoredHistory | SeveralOps | None:
    """Return the history of an instruction or op, or None if the report does not have it.

    The report may be damaged or none at all, or lack the module.
    """
    with ExitStack() as stack:
        try:
            site = _open_site(report, stack)
            return _find(site, module, asked) if site else None
        except _UNREADABLE:
            return None


def main_of_report(report: Path) -> str | None:
    """Return the key of the main program of a built report; None for anything else."""
    with ExitStack() as stack:
        try:
            site = _open_site(report, stack)
            main = site.report().main if site else None
        except _UNREADABLE:
            return None
    return main.module if main else None


class _Site(Struct, frozen=True):
    """The files of a site."""

    root: Path | zipfile.Path

    def read(self, name: str) -> str:
        """Return a file; raises OSError, LookupError or ValueError."""
        place = self.root / name
        with place.open("rb") as file:
            content: bytes = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError("this file is too large")
        return content.decode("utf-8")

    def report(self) -> "_Report":
        return decode(self.read(_REPORT), type=_Report)

    def payload(self, key: str) -> Any:
        return read_payload(self.read(payload_path(key)))[1]


def _open_site(report: Path, stack: ExitStack) -> _Site | None:
    if report.is_dir():
        roots: list[Path | zipfile.Path] = [report, report / "site"]
    elif zipfile.is_zipfile(report):
        archive = stack.enter_context(zipfile.ZipFile(report))
        inside = sorted((name for name in archive.namelist() if _is_report(name)), key=len)
        roots = [zipfile.Path(archive, name.removesuffix(_REPORT)) for name in inside[:1]]
    else:
        return None
    whole = (root for root in roots if (root / _REPORT).is_file())
    return next((_Site(root) for root in whole), None)


def _is_report(name: str) -> bool:
    return name == _REPORT or name.endswith(f"/{_REPORT}")


def _find(site: _Site, module: str | None, asked: str) -> StoredHistory | SeveralOps | None:
    listed = _module(site.report(), module)
    if listed is None:
        return None
    key, slug = listed.key, listed.slug
    shared = site.payload(navigation.module_key(slug, SHARED))

    def stored(name: str) -> Any:
        return shared[name] if name in shared else site.payload(navigation.module_key(slug, name))

    index = read_index(stored("history"))
    numbers = list(dict.fromkeys(_instruction_numbers(index, asked)))
    if not numbers and "/%" not in asked:
        ops = _ops(index, asked)
        if len(ops) > 1 and ("/" in asked or index.complete):  # else it may be an instruction
            return SeveralOps(tuple(ops))
        numbers = [number for number in ops.values() if number is not None and len(ops) == 1]
    if not numbers:
        return None
    subject = read_subject(index, numbers[0], stored(f"history-{numbers[0] // index.chunk}"))
    if not _is_about(subject, asked):
        return None
    others = (title for number in numbers[1:] if "/%" in (title := index.titles[number]))
    return StoredHistory(key, index.stages, subject, tuple(dict.fromkeys(others)))


class _Listed(Struct, frozen=True):
    """What is needed of a module in report.json."""

    key: str
    slug: str
    name: str


class _Main(Struct, frozen=True):
    module: str


class _Report(Struct, frozen=True):
    main: _Main | None
    modules: tuple[_Listed, ...]


def _module(report: _Report, wanted: str | None) -> _Listed | None:
    """Return the one module of a key, slug or name; the main one for None."""
    if wanted is None:
        wanted = report.main.module if report.main else ""
    same = [module for module in report.modules if wanted in (module.key, module.slug)]
    same = same or [module for module in report.modules if module.name == wanted]
    return same[0] if len(same) == 1 else None


def _instruction_numbers(index: StoredIndex, asked: str) -> Iterator[int]:
    """Yield the instructions of a name, those of the last snapshot first."""
    computation, slash, name = asked.rpartition("/%")
    title = f"{computation.removeprefix('%')}/%{name}" if slash else f"/%{asked.removeprefix('%')}"
    same = [
        number
        for number, name in index.titles.items()
        if (name == title if slash else name.endswith(title))
    ]
    bore = () if slash else index.names.get(asked.removeprefix("%"), ())
    if not index.complete and not any(number < index.forward for number in same):
        same, bore = [], ()  # the last snapshot may have one of this name that was left out
    yield from same
    yield from sorted(bore, key=lambda number: "/%" not in index.titles[number])


def _ops(index: StoredIndex, asked: str) -> dict[str, int | None]:
    """Return the ops of a name, else those whose names end so; None for those left out."""
    ops: dict[str, int | None] = dict.fromkeys(index.left_out)
    ops |= {name: number for number, name in index.titles.items() if "/%" not in name}
    same = [name for name in ops if asked in (name, *name.split(";"))]
    same = same or [
        name for name in ops if any(part.endswith(f"/{asked}") for part in name.split(";"))
    ]
    same = same or [name for name in ops if ends_plain(name, asked)]
    return {name: ops[name] for name in same}


def _is_about(subject: StoredSubject, asked: str) -> bool:
    """Return whether a subject had the name itself, and did not only absorb it."""
    name = asked.rpartition("/%")[2].removeprefix("%")
    title = subject.title
    if title.endswith(f"/%{name}") or ("/%" not in title and asked in (title, *title.split(";"))):
        return True
    if "/%" not in title and any(part.endswith(f"/{asked}") for part in title.split(";")):
        return True
    if "/%" not in title and ends_plain(title, asked):
        return True
    former = (source for event in subject.events for source in event.sources[:1])
    places = [event.instruction for event in subject.events]
    places += [row[0] for row in (*subject.origins.rows, *subject.now.rows)]
    return name in (*(place.rpartition("/%")[2] for place in places), *former)
