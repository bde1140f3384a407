"""The search over everything, for the page script: a small index of all, one for each module.

Names are written as stems with their numbers, because `fusion` has thousands; where a value stands
is a number into `spans`, pairs of the first and the last snapshot.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.hlo.model import HloModule
from xlareport.pages import navigation, words
from xlareport.pages.pictures.columns import Interned
from xlareport.pages.search.index import SearchIndex, Span, Touched, search_index
from xlareport.records.report import ReportRecord
from xlareport.storage.payloads import make_payload_file

_MOST = 400_000
"""Values of one kind in one module; the rest is left out, and the search says so."""
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class SearchedSnapshot:
    """A snapshot as the search names it."""

    key: str
    label: str
    has_text: bool
    """Whether the page of texts shows it."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What the search knows of one module."""

    payloads: tuple[tuple[str, str], ...] = ()
    scopes: tuple[str, ...] = ()
    """The outermost scopes of the framework's ops."""


def searched(
    slug: str,
    modules: Sequence[HloModule],
    stages: Sequence[SearchedSnapshot],
    steps: Iterable[tuple[int, Touched]],
) -> Searched:
    """Index a module; `steps` are those that changed something, by the snapshot they led to."""
    if not modules:
        return Searched()
    index = search_index(modules)
    key = navigation.search_key(slug)
    result = make_payload_file(key, _module(index, stages, steps))
    return Searched((result,), index.scopes())


def _module(
    index: SearchIndex, stages: Sequence[SearchedSnapshot], steps: Iterable[tuple[int, Touched]]
) -> dict[str, Any]:
    spans, codes = Interned(), Interned()
    names = _first(sorted(index.instructions, key=_parted))
    places = {name: place for place, name in enumerate(names)}
    plain = (
        ("opcode", index.opcodes),
        ("op_name", index.op_names),
        ("shape", index.shapes),
        ("source", index.sources),
    )
    kinds = {
        "instruction": _named(names, index.instructions, spans)
        | {"codes": [codes.number(index.codes.get(name, "")) for name in names]},
        "computation": _named(
            _first(sorted(index.computations, key=_parted)), index.computations, spans
        ),
        **{kind: _listed(item, spans) for kind, item in plain},
    }
    result = [[place, touched.opcodes, *_changed(touched, places)] for place, touched in steps]
    return {
        "stages": [[stage.key, stage.label, int(stage.has_text)] for stage in stages],
        "kinds": kinds,
        "spans": list(spans.values),
        "codes": list(codes.values),
        "steps": result,
        "complete": len(names) == len(index.instructions),
    }


def _first(names: Sequence[str]) -> Sequence[str]:
    return names[:_MOST]


def _parted(name: str) -> tuple[str, int]:
    """Return a name without its number, and the number: -1 where it has none that reads back."""
    stem, dot, number = name.rpartition(".")
    plain = number.isascii() and number.isdigit() and len(number) <= _DIGITS
    if dot and plain and (number == "0" or not number.startswith("0")):
        return stem, int(number)
    return name, -1


def _named(names: Sequence[str], value: Mapping[str, Span], spans: Interned) -> dict[str, Any]:
    """Write names as stems, how many names each has, and distances between their numbers."""
    stems: dict[str, int] = {}
    numbers: list[int] = []
    last = -1
    for name in names:
        stem, number = _parted(name)
        if stem not in stems:
            stems[stem], last = 0, -2
        stems[stem] += 1
        numbers.append(number - last)
        last = number
    return {
        "stems": list(stems),
        "counts": list(stems.values()),
        "numbers": numbers,
        "spans": [spans.number(value[name]) for name in names],
    }


def _listed(places: Mapping[str, Span], spans: Interned) -> dict[str, Any]:
    values = _first(sorted(places))
    return {"values": values, "spans": [spans.number(places[value]) for value in values]}


def _changed(touched: Touched, places: Mapping[str, int]) -> Iterator[list[int]]:
    """Yield the numbers of the names that a step added, removed and changed, as distances."""
    for names in (touched.added, touched.removed, touched.changed):
        known = sorted(places[name] for name in names if name in places)
        yield [place - before for before, place in zip([0, *known], known, strict=False)]


def search_front(
    report: ReportRecord, summaries: Sequence[ModuleSummary], scopes: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """Return the small index: modules, the main program first, and which has which opcodes."""
    main = report.main.module if report.main else None
    order = sorted(
        range(len(report.modules)),
        key=lambda place: (report.modules[place].key != main, report.modules[place].rank, place),
    )
    views = [report.modules[place] for place in order]
    own = [
        [] if module.same_as else summaries[place].opcodes
        for module, place in zip(views, order, strict=True)
    ]
    return {
        "modules": [
            [
                module.slug,
                words.label(module),
                module.key,
                module.role,
                int(module.final.instructions is not None and module.same_as is None),
                int(module.changed_steps > 0 and module.same_as is None),
            ]
            for module in views
        ],
        "opcodes": _holders([[name for name, _ in some] for some in own]),
        "scopes": _holders([scopes[place] for place in order]),
        "findings": [
            [number, finding.title]
            for number, module in enumerate(views)
            if module.same_as is None
            for finding in module.findings
        ],
        "files": len(report.files),
    }


def _holders(values: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """Return the numbers of the modules that have a value."""
    holders: dict[str, list[int]] = {}
    for number, some in enumerate(values):
        for text in some:
            holders.setdefault(text, []).append(number)
    return holders
