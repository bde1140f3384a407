"""The page of the whole program: its modules in order, what they hand on, why there are so many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os.path import commonpath

from markupsafe import Markup

from xlareport.analysis.modules.chains import chains
from xlareport.analysis.modules.retraces import Difference
from xlareport.pages import navigation, words
from xlareport.pages.program.clusters import ClusteredGraph, clustered
from xlareport.pages.prose import prose
from xlareport.pages.tables import Column, Table
from xlareport.pictures.draw import PictureRequest
from xlareport.readers.tf_graph import FrameworkGraph
from xlareport.records.findings import HELPERS
from xlareport.records.report import RankGroupView, ReportView, RetraceGroupView
from xlareport.runtime import units

LINKS_TABLE = "program-links"
"""The payload key of the table of links."""

_TABLES = 20
_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class NamedModule:
    """A module with its address."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class DifferenceTable:
    """One function, compiled several times or by several processes, and what differs."""

    name: str
    note: str
    modules: tuple[NamedModule, ...]
    rows: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class ProgramPage:
    """Everything on the page beside its table."""

    lead: Markup
    wrapping: tuple[Markup, ...]
    picture: str | None
    source: str
    alt: str
    notes: tuple[str, ...]
    links: str
    chain: Markup
    """Which modules follow one another; empty where no two are linked."""
    has_links: bool
    retraced: tuple[DifferenceTable, ...]
    not_retraced: str
    """What stands in place of an empty `retraced`: that nothing was, or that nobody looked."""
    repeated: str
    processes: str
    """What is known of the processes; empty where there is one."""
    ranks: tuple[DifferenceTable, ...]
    graphs: tuple[ClusteredGraph, ...]


def program_page(
    report: ReportView,
    graphs: Sequence[FrameworkGraph],
    reasons: Mapping[str, str],
    picture: PictureRequest | None,
) -> ProgramPage:
    """Make the page from the report's records, the framework's graphs and what its log says."""
    drawing = picture.drawings[0] if picture else None
    return ProgramPage(
        lead=prose(words.many(report) or words.lead(report)),
        wrapping=tuple(prose(words.wrapping(one)) for one in report.eager_functions),
        picture=picture.key if picture else None,
        source=f"{picture.key}.svg" if picture else "",
        alt=f"Graph of {units.plural(len(drawing.nodes), 'module')}" if drawing else "",
        notes=drawing.notes if drawing else (),
        links=_links_words(report),
        chain=prose(_chain_words(report)),
        has_links=bool(report.links),
        retraced=_retraced(report),
        not_retraced=_not_retraced(report),
        repeated=_repeated(report),
        processes=_processes(report),
        ranks=_ranks(report),
        graphs=clustered(graphs, report, reasons),
    )


def links_table(report: ReportView) -> Table:
    """Return the table of links."""
    columns = (
        Column("From", "link"),
        Column("To", "link"),
        Column("Tensors", "code"),
        Column("Grade", "text", "exact: a graph of the framework has the edge"),
        Column("Why", "text"),
        Column("Through", "text", "operations outside of XLA on the way"),
    )
    shown = len(columns) if any(one.via for one in report.links) else len(columns) - 1
    named = _named(report)
    rows = [
        (
            _cell(named[one.source]),
            _cell(named[one.target]),
            _tensors(one.tensors),
            one.grade,
            one.reason,
            ", ".join(one.via),
        )[:shown]
        for one in report.links
    ]
    return Table(columns[:shown], rows)


def _cell(module: NamedModule) -> list[str]:
    return [module.name, module.address]


def _tensors(shapes: Sequence[str]) -> str:
    shown = ", ".join(shapes[:4])
    return shown if len(shapes) <= 4 else f"{shown} and {units.count(len(shapes) - 4)} more"


def _named(report: ReportView) -> dict[str, NamedModule]:
    return {
        one.key: NamedModule(words.label(one), navigation.address(navigation.module_page(one.slug)))
        for one in report.modules
    }


def _links_words(report: ReportView) -> str:
    links = report.links
    if not links and report.processes is None and report.modules:
        return "Not checked: it is not known which modules are of one process."
    if not links:
        return (
            "No link was found: no graph of a framework lies in this dump, and no shapes of "
            "results and arguments fit well enough for a guess."
        )
    exact = sum(one.grade == "exact" for one in links)
    if exact:
        return f"{units.plural(exact, 'link')}, as the framework's graph has them."
    return (
        f"{units.plural(len(links), 'link')}, guessed from shapes and from the order of "
        "compilation: XLA does not write down what the framework does between modules."
    )


_LONGEST_CHAIN = 12


def _chain_words(report: ReportView) -> str:
    """Say in which groups modules hang together, and which of them stand in a row."""
    between = [(one.source, one.target) for one in report.links if one.source != one.target]
    if not between:
        return ""
    found, named = chains(between), _named(report)
    shown = [f"`{named[one].name}`" for one in found.longest[:_LONGEST_CHAIN]]
    more = len(found.longest) - len(shown)
    row = f"{', then '.join(shown)}{f', and {more} more' if more else ''}"
    if len(found.groups) == 1:
        said = f"They join {units.plural(len(found.groups[0]), 'module')}."
    else:
        most = units.count(len(found.groups[0]))
        said = f"They join modules in {len(found.groups):,} groups, the largest of {most}."
    return f"{said} The longest row, each taking results of the one before: {row}."


def _retraced(report: ReportView) -> tuple[DifferenceTable, ...]:
    """Return the tables of functions that were compiled several times; helpers are only counted."""
    named, roles = _named(report), {one.key: one.role for one in report.modules}
    found = [one for one in report.retrace_groups if roles[one.modules[0]] not in HELPERS]
    return tuple(
        DifferenceTable(
            name=one.name,
            note=_retrace_note(one),
            modules=tuple(named[key] for key in one.modules[:_COLUMNS]),
            rows=_cut(one.differences),
        )
        for one in found[:_TABLES]
    )


def _retrace_note(one: RetraceGroupView) -> str:
    steps = units.plural(one.changed_steps, "compiler step")
    return (
        f"Compiled {units.plural(len(one.modules), 'time')}. All but the first cost {steps} that "
        f"changed something. That it is one function is a guess: {one.reason}."
    )


def _cut(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    return tuple(Difference(one.what, one.values[:_COLUMNS]) for one in differences)


def _repeated(report: ReportView) -> str:
    roles = {one.key: one.role for one in report.modules}
    found = [one for one in report.retrace_groups if roles[one.modules[0]] in HELPERS]
    if not found:
        return ""
    modules = sum(len(one.modules) for one in found)
    return (
        f"Beside these, {units.plural(len(found), 'helper')} that ran outside jit became "
        f"{units.plural(modules, 'module')}: one for each shape."
    )


def _not_retraced(report: ReportView) -> str:
    """Say that no function was compiled again, or why that was not checked."""
    unread = sum(one.final.instructions is None for one in report.modules)
    if report.processes is None and report.modules:
        return (
            "Not checked: several processes wrote into one folder, and it is not known which "
            "modules are of one process."
        )
    if unread and unread == len(report.modules):
        return "Not checked: no module could be read."
    found = "No function of the program was compiled more than once."
    if unread:
        return f"{found} {units.plural(unread, 'module')} could not be read and were not checked."
    return found


def _processes(report: ReportView) -> str:
    if report.processes is None and report.modules:
        return _unknown_processes(report)
    if report.processes is None or report.processes < _SEVERAL:
        return ""
    many = units.plural(report.processes, "process", "processes")
    said = f"{many} wrote this dump; links and repeated compilations are looked for in each alone."
    return said if report.rank_groups else f"{said} No function was compiled by more than one."


def _unknown_processes(report: ReportView) -> str:
    """Say what is known of processes that wrote into one folder at the same time."""
    said = (
        "At least 2 processes wrote into one folder: a number of a module comes up twice there. "
        "The times of the files do not say which modules are of one process."
    )
    if report.rank_groups:
        return (
            f"{said} Modules of one name and one content under several numbers show that they are "
            "ranks of one program. Links are guessed from one copy of each module; repeated "
            "compilations were not checked."
        )
    return f"{said} Links and repeated compilations were not checked."


_SEVERAL = 2


def _ranks(report: ReportView) -> tuple[DifferenceTable, ...]:
    """Return the tables of what several processes compiled; those that differ first."""
    named, folders = _named(report), _folders(report)
    ordered = sorted(report.rank_groups, key=_urgency)
    return tuple(
        DifferenceTable(
            name=one.name,
            note=_rank_note(one),
            modules=tuple(
                NamedModule(f"{folders[key]}{named[key].name}", named[key].address)
                for key in one.modules[:_COLUMNS]
            ),
            rows=_cut(one.differences),
        )
        for one in ordered[:_TABLES]
    )


def _urgency(one: RankGroupView) -> tuple[bool, bool]:
    """Put first whose collectives do not agree, then what differs, then what does not."""
    return one.collectives is not None, not one.differences


def _rank_note(one: RankGroupView) -> str:
    said = f"Compiled by {units.plural(len(one.modules), 'process', 'processes')}."
    if one.collectives is None:
        return (
            f"{said} Their collectives are not the same, or not in the same order: run together, "
            "they wait for each other for ever."
        )
    if one.collectives == 0:
        return f"{said} No collective runs in it."
    many = units.plural(one.collectives, "collective")
    return f"{said} All of them run the same {many} in the same order."


def _folders(report: ReportView) -> dict[str, str]:
    """Return the folder of each module, with `/` at its end, less what all have in common."""
    highest = {one.key: min(one.files, key=_depth, default="") for one in report.modules}
    folders = {key: path.rpartition("/")[0] for key, path in highest.items()}
    shared = commonpath(folders.values()) if folders else ""
    told = {key: one[len(shared) :].strip("/") for key, one in folders.items()}
    return {key: f"{one}/" if one else "" for key, one in told.items()}


def _depth(path: str) -> int:
    return path.count("/")
