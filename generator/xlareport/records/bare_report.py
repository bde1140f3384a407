"""A report.json alone as one side of a comparison: it has the figures and no texts."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.compare.comparison import Sketched
from xlareport.analysis.compare.module_pairing import Sketch
from xlareport.analysis.modules.summarize import summarize_unread
from xlareport.analysis.modules.summary import ModuleFigures
from xlareport.dump.modules import ModuleFiles
from xlareport.records.report import DumpRecord
from xlareport.runtime.errors import Problem, UnreadableInputError, error_reason

_MOST_BYTES = 256 << 20
_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
ONLY_FIGURES = "Only figures can be compared: a report.json carries no texts."


class BareReport(Struct, frozen=True):
    """The content of a report.json, for a comparison."""

    dump: DumpRecord
    main: str | None
    sketched: tuple[Sketched, ...]


def is_bare_report(name: str) -> bool:
    """Return whether a file is one of JSON, as no dump is."""
    return name.endswith(".json")


def read_bare_report(path: Path, name: str) -> BareReport:
    """Read a report.json that was given as `name`; raises UnreadableInputError where it is none."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UnreadableInputError(f"{name} is larger than any report.json.")
        report = json.loads(path.read_text("utf-8"))
        main = report["main"]["module"] if report["main"] else None
        sketched = tuple(_every_module(report["modules"], name))
        dump = report["dump"]
        files, size = (whole_figure(dump[name]) or 0 for name in ("files", "bytes"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableInputError(f"{name} is no report.json of xlareport.") from error
    except OSError as error:
        raise UnreadableInputError(f"{name} cannot be read: {error_reason(error)}.") from error
    return BareReport(DumpRecord(name, files, size, (), ()), main, sketched)


def _every_module(modules: Iterable[Mapping[str, Any]], path: str) -> Iterator[Sketched]:
    taken: set[str] = set()
    for module in modules:
        sketched = _sketched(module, path)
        if sketched.summary.files.slug in taken:
            raise ValueError("two modules have the same address")
        taken.add(sketched.summary.files.slug)
        yield sketched


def _sketched(value: Mapping[str, Any], path: str) -> Sketched:
    key, name, slug = (
        _valid_text(value["key"]),
        _valid_text(value["name"]),
        _valid_text(value["slug"]),
    )
    if not _SLUG.fullmatch(slug):
        raise ValueError("a module's address is none that a report has")
    files = ModuleFiles(key, slug, None, name, None, (), ())
    nothing = summarize_unread(files, Problem(path, None, ONLY_FIGURES))
    figures = ModuleFigures(
        **{name: whole_figure(value["final"][name]) for name in ModuleFigures.__struct_fields__}
    )
    summary = replace(nothing, display_name=name, final=figures)
    unlike_any = f"{path} {key}".encode()  # so that nothing but its name pairs it
    return Sketched(
        summary, Sketch(key, name, unlike_any, unlike_any, path, ()), (), b"", bare=True
    )


def whole_figure(value: object) -> int | None:
    """Return a figure that JSON has as a whole number or null; raises TypeError for others."""
    if value is None or (isinstance(value, int) and abs(value) < 1 << 63):
        return value
    raise TypeError("a figure is a whole number or null")


def _valid_text(value: object) -> str:
    """Return a text; raises ValueError where it holds what no file can."""
    if not isinstance(value, str):
        raise TypeError("a name is a text")
    value.encode()
    return value
