"""The search index for the page script: a small one of everything, and one for each module.

The snapshots of a value are a number into `spans`, pairs of the first and the last snapshot.
"""

from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct, field

from xlareport.analysis.cost_report.source_lines import SourceLine
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.operation_families import forms_in
from xlareport.analysis.source.inlined_op_names import whole_op_names_in
from xlareport.analysis.source.locations import place_of, user_functions
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.step import StepChange
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.pages import navigation, words
from xlareport.pages.long_tables import PAGE
from xlareport.pages.pictures.snapshot_graph import Interned
from xlareport.pages.search.packed_names import (
    SnapshotSpan,
    pack_functions,
    pack_names,
    pack_values,
    sorted_names,
)
from xlareport.pages.search.topics import search_topics
from xlareport.records.report import ReportRecord
from xlareport.storage.payloads import make_payload_file

LONGEST = 1_000
"""Limit on characters of a value; a shape may have a million."""
_SCOPES = 40
_SCOPE_DEPTH = 2

H = TypeVar("H", bound=Hashable)


class StepSearchData(Struct, frozen=True):
    """The changes of a step, by opcode and by name."""

    opcodes: Mapping[str, tuple[int, int, int]]
    """Number of instructions of each opcode that were added, removed and changed."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    """Names before and after."""


class SearchIndex(Struct):
    """Everything that a module can be searched for, with where it is."""

    instructions: dict[str, SnapshotSpan] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    """The last opcode of each instruction."""
    computations: dict[str, SnapshotSpan] = field(default_factory=dict)
    opcodes: dict[str, SnapshotSpan] = field(default_factory=dict)
    """Operations too, such as `all-reduce` where it is only written as a start and an end."""
    forms: dict[str, list[str]] = field(default_factory=dict)
    """The opcodes of an operation that are not of its name, as they are written."""
    op_names: dict[str, SnapshotSpan] = field(default_factory=dict)
    shapes: dict[str, SnapshotSpan] = field(default_factory=dict)
    sources: dict[str, SnapshotSpan] = field(default_factory=dict)
    functions: dict[str, SnapshotSpan] = field(default_factory=dict)
    """Functions of the user's program in the stacks of instructions."""

    def scopes(self) -> tuple[str, ...]:
        """Return the outermost scopes of the framework's ops, those of most ops first."""
        counts = Counter(
            "/".join(op_name.split("/")[:_SCOPE_DEPTH])
            for op_name in self.op_names
            if "/" in op_name
        )
        return tuple(name for name, _ in counts.most_common(_SCOPES))


def touched(change: StepChange) -> StepSearchData:
    """Return the changes by opcode; a changed opcode counts as one removed and one added."""
    counts: dict[str, list[int]] = {}
    for place, changes in enumerate((change.added, change.removed, change.modified)):
        for this_change in changes:
            for opcode, what in _counted_as(this_change, place):
                counts.setdefault(opcode, [0, 0, 0])[what] += 1
    return StepSearchData(
        {name: (count[0], count[1], count[2]) for name, count in counts.items()},
        tuple(sorted({added.after.instruction for added in change.added if added.after})),
        tuple(sorted({gone.before.instruction for gone in change.removed if gone.before})),
        tuple(sorted(_names(change.modified))),
    )


def _counted_as(change: Change, place: int) -> Iterable[tuple[str, int]]:
    before, after = change.opcodes
    if place == 0:
        return [(after, 0)]
    if place == 1:
        return [(before, 1)]
    return [(after, 2)] if before == after else [(before, 1), (after, 0)]


def _names(changes: Sequence[Change]) -> set[str]:
    places = (place for change in changes for place in (change.before, change.after))
    return {place.instruction for place in places if place is not None}


def search_index(modules: Sequence[HloModule]) -> SearchIndex:
    """Index the snapshots of a module."""
    search_index = SearchIndex()
    computations = _spans(
        (computation, (number, number))
        for number, module in enumerate(modules)
        for computation in module.computations
    )
    for computation, span in computations.items():
        _widen(search_index.computations, computation.name, span)
    origins: dict[str, tuple[SnapshotSpan, Instruction, HloModule]] = {}
    instructions = _spans(
        (instruction, span)
        for computation, span in computations.items()
        for instruction in computation.instructions
    )
    for instruction, span in instructions.items():
        _add(search_index, instruction, span)
        if instruction.attributes_text:
            origin = origins.get(instruction.attributes_text)
            wider = _join_spans(origin[0], span) if origin else span
            origins[instruction.attributes_text] = (wider, instruction, modules[span[0]])
    for span, this_instruction, module in origins.values():
        _add_source(search_index, this_instruction, span, module)
    for computation, span in computations.items():
        _add_op_names(search_index, computation, span, modules[span[0]])
    _add_operations(search_index, computations)
    return search_index


def _add_operations(index: SearchIndex, computations: Mapping[Computation, SnapshotSpan]) -> None:
    """Add instructions by the operation that they are a form of: `all-reduce-start`."""
    for operation, forms in forms_in(computations).items():
        index.forms[operation] = sorted(forms)
        for form in forms.values():
            for computation in form:
                _widen(index.opcodes, operation, computations[computation])


def _spans(parts: Iterable[tuple[H, SnapshotSpan]]) -> dict[H, SnapshotSpan]:
    """Return the whole span of each of some values, from spans that it has."""
    spans: dict[H, SnapshotSpan] = {}
    for value, span in parts:
        former = spans.get(value)
        spans[value] = _join_spans(former, span) if former else span
    return spans


def _add(index: SearchIndex, instruction: Instruction, span: SnapshotSpan) -> None:
    _widen(index.instructions, instruction.name, span)
    if index.instructions.get(instruction.name, (0, -1))[1] == span[1]:
        index.codes[instruction.name] = instruction.opcode
    _widen(index.opcodes, instruction.opcode, span)
    _widen(index.shapes, instruction.shape.text, span)


def _add_op_names(
    index: SearchIndex, computation: Computation, span: SnapshotSpan, module: HloModule
) -> None:
    """Add the framework's ops, in a called computation by the names that inlining makes."""
    for name in whole_op_names_in(module, computation):
        _widen(index.op_names, name, span)


def _add_source(
    index: SearchIndex, instruction: Instruction, span: SnapshotSpan, module: HloModule
) -> None:
    """Add the line of source and the functions, from the stack frames of the module."""
    place = place_of(instruction, module)
    if place is not None:
        _widen(index.sources, place.text, span)
    for name in user_functions(instruction, module):
        _widen(index.functions, name, span)


def _join_spans(value: SnapshotSpan, other: SnapshotSpan) -> SnapshotSpan:
    if value[0] <= other[0] and other[1] <= value[1]:
        return value
    return min(value[0], other[0]), max(value[1], other[1])


def _widen(spans: dict[str, SnapshotSpan], value: str, span: SnapshotSpan) -> None:
    """Extend the span of a value; empty and too long values are skipped."""
    if value and len(value) <= LONGEST:
        former = spans.get(value)
        spans[value] = _join_spans(former, span) if former else span


class SearchedSnapshot(Struct, frozen=True):
    """A snapshot as the search names it."""

    key: str
    label: str
    number_and_pipeline: str
    has_text: bool
    """Whether the page of texts shows it."""


class ModuleSearchData(Struct, frozen=True):
    """The search data of one module."""

    payloads: tuple[tuple[str, str], ...] = ()
    scopes: tuple[str, ...] = ()
    """The outermost scopes of the framework's ops."""


def searched(
    slug: str,
    modules: Sequence[HloModule],
    stages: Sequence[SearchedSnapshot],
    steps: Iterable[tuple[int, StepSearchData]],
    lines: Sequence[SourceLine] = (),
) -> ModuleSearchData:
    """Return the index of a module; `steps` are those with changes, by their snapshot.

    `lines` are those of the page on the source.
    """
    if not modules:
        return ModuleSearchData()
    index = search_index(modules)
    key = navigation.module_key(slug, "search")
    payload = make_payload_file(key, _module(index, stages, steps, lines))
    return ModuleSearchData((payload,), index.scopes())


def _module(
    index: SearchIndex,
    stages: Sequence[SearchedSnapshot],
    steps: Iterable[tuple[int, StepSearchData]],
    lines: Sequence[SourceLine],
) -> dict[str, Any]:
    spans, codes = Interned(), Interned()
    names = sorted_names(index.instructions)
    places = {name: place for place, name in enumerate(names)}
    plain = (
        ("opcode", index.opcodes),
        ("op_name", index.op_names),
        ("shape", index.shapes),
        ("source", index.sources),
    )
    kinds = {
        "instruction": pack_names(names, index.instructions, spans)
        | {"codes": [codes.number(index.codes.get(name, "")) for name in names]},
        "computation": pack_names(sorted_names(index.computations), index.computations, spans),
        **{kind: pack_values(item, spans) for kind, item in plain},
        "function": pack_functions(index.functions, lines, spans),
    }
    rows = [[place, touched.opcodes, *_changed(touched, places)] for place, touched in steps]
    return {
        "stages": [
            [stage.key, stage.label, stage.number_and_pipeline, int(stage.has_text)]
            for stage in stages
        ],
        "kinds": kinds,
        "spans": list(spans.values),
        "codes": list(codes.values),
        "forms": index.forms,
        "steps": rows,
        "complete": len(names) == len(index.instructions),
    }


def _changed(touched: StepSearchData, places: Mapping[str, int]) -> Iterator[list[int]]:
    """Yield the numbers of the names that a step added, removed and changed, as distances."""
    for names in (touched.added, touched.removed, touched.changed):
        changed = sorted(places[name] for name in names if name in places)
        yield [place - before for before, place in zip([0, *changed], changed, strict=False)]


def search_files(
    report: ReportRecord, summaries: Iterable[ModuleSummary], scopes: Iterable[Sequence[str]]
) -> Iterator[tuple[str, str]]:
    """Yield the search index with the first modules, and a file for each page of further ones."""
    main = report.main_key
    modules = report.outlines
    ranks = array("q", (0 if module.key == main else module.rank for module in modules))
    order = array("q", sorted(range(len(ranks)), key=ranks.__getitem__))
    numbers = array("q", bytes(8 * len(order)))
    for number, place in enumerate(order):
        numbers[place] = number
    for number, start in enumerate(range(PAGE, len(order), PAGE), 1):
        part = _searched_modules(report, order, start)
        yield make_payload_file(f"{navigation.SEARCH}-{number}", part)
    front = _searched_modules(report, order, 0) | {
        **_modules_with_value("opcodes", numbers, _opcodes_of(report, summaries)),
        **_modules_with_value("scopes", numbers, scopes),
        "files": len(report.files),
        "backends": list(report.dump.backends),
        "topics": list(search_topics(report.modules[order[0]])) if order else [],
    }
    if len(order) > PAGE:
        front |= {"pages": {"rows": len(order), "size": PAGE}}
    yield make_payload_file(navigation.SEARCH, front)


_HOLDERS = 100
"""Limit on named modules of those with an opcode or scope; all are counted."""


def _searched_modules(report: ReportRecord, order: Sequence[int], start: int) -> dict[str, Any]:
    """Return a page of modules, the main program first of all, with their findings."""
    places = enumerate(order[start : start + PAGE], start)
    views = [(number, report.outlines[place]) for number, place in places]
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
            for _, module in views
        ],
        "findings": [
            [number, finding.title]
            for number, module in views
            if module.same_as is None
            for finding in module.findings
        ],
    }


def _opcodes_of(
    report: ReportRecord, summaries: Iterable[ModuleSummary]
) -> Iterator[Sequence[str]]:
    for module, summary in zip(report.outlines, summaries, strict=True):
        yield [] if module.same_as else _opcodes(summary)


def _modules_with_value(
    name: str, numbers: Sequence[int], values: Iterable[Sequence[str]]
) -> dict[str, Any]:
    """Return the modules with a value: the first ones by number, and the count of all.

    `values` are those of each module of the dump, `numbers` its number in the search.
    """
    holders: dict[str, array[int]] = {}
    first: dict[str, tuple[int, int]] = {}
    """The lowest number that has a value, and where among its values that is."""
    for number, some in zip(numbers, values, strict=True):
        for at, text in enumerate(some):
            holders.setdefault(text, array("q")).append(number)
            first[text] = min(first.get(text, (number, at)), (number, at))
    shown = {
        text: sorted(holders[text])[:_HOLDERS] for text in sorted(holders, key=first.__getitem__)
    }
    more = {text: len(holders[text]) - _HOLDERS for text in shown if len(holders[text]) > _HOLDERS}
    return {name: shown} | ({f"more_{name}": more} if more else {})


def _opcodes(summary: ModuleSummary) -> list[str]:
    """Return the opcodes of a module and the operations that they are forms of."""
    return [*dict.fromkeys(name for name, _ in (*summary.opcodes, *summary.operations))]
