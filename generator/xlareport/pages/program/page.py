"""The page of the whole program: its modules in order, their links, and why there are so many."""

from collections.abc import Sequence
from itertools import islice
from os.path import commonpath

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.dump import DumpRelations
from xlareport.analysis.modules.chains import Chains
from xlareport.analysis.modules.clusters import ClusteredGraph
from xlareport.analysis.modules.module_role import HELPERS, PIECES
from xlareport.analysis.modules.recompilations import Difference, RecompilationGroup
from xlareport.analysis.ranks.rank_groups import RankGroup
from xlareport.pages import navigation, words
from xlareport.pages.long_tables import PAGE, MadeRows, TableRow
from xlareport.pages.navigation import Link
from xlareport.pages.program.rank_matrix import RanksSection, count_ranks, ranks_section
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import Column, Table
from xlareport.pictures.draw import PictureRequest
from xlareport.records.module_outline import ModuleOutline
from xlareport.records.report import ReportRecord
from xlareport.runtime import units
from xlareport.runtime.english import first_few

LINKS_TABLE = "program-links"
"""The payload key of the table of links."""

_TABLES = 20
_COLUMNS = 8


class DifferenceTable(Struct, frozen=True):
    """A function compiled several times or by several processes, with its differences."""

    name: str
    note: str
    modules: tuple[Link, ...]
    rows: tuple[Difference, ...]


class ProgramPage(Struct, frozen=True):
    """The content of the page, except the table of ranks."""

    lead: Markup
    wrapping: tuple[Markup, ...]
    picture: str | None
    source: str
    alt: str
    notes: tuple[str, ...]
    links: str
    chain: Markup
    """A chain of modules; empty if no two are linked."""
    link_table: Table
    recompiled: tuple[DifferenceTable, ...]
    not_recompiled: str
    """Replaces an empty list: there are no recompilations, or they are not known."""
    repeated: str
    processes: str
    """A sentence on the processes; empty if there is only one."""
    sides: RanksSection | None
    """How modules agree between the ranks; None where one process wrote the dump."""
    ranks: tuple[DifferenceTable, ...]
    graphs: tuple[ClusteredGraph, ...]


def program_page(
    report: ReportRecord, relations: DumpRelations, picture: PictureRequest | None
) -> ProgramPage:
    """Return the page from the report's records and the relations between the modules."""
    drawing = picture.drawings[0] if picture else None
    return ProgramPage(
        lead=prose(words.many(report) or words.lead(report)),
        wrapping=tuple(prose(words.wrapping(function)) for function in report.eager_functions),
        picture=picture.key if picture else None,
        source=f"{picture.key}.svg" if picture else "",
        alt=f"Graph of {units.plural(len(drawing.nodes), 'module')}" if drawing else "",
        notes=drawing.notes if drawing else (),
        links=_links_words(report),
        chain=prose(_chain_words(report, relations.chains)),
        link_table=tabulate_links(report),
        recompiled=_recompiled(report),
        not_recompiled=_not_recompiled(report),
        repeated=_repeated(report),
        processes=" ".join(filter(None, (_known_processes(report), _overwritten(report)))),
        sides=ranks_section(report),
        ranks=_ranks(report),
        graphs=relations.graphs,
    )


def tabulate_links(report: ReportRecord) -> Table:
    """Return the table of links."""
    columns = (
        Column("From", "link"),
        Column("To", "link"),
        Column("Tensors", "code"),
        Column("Grade", "text", "exact: the edge is in a framework graph"),
        Column("Why", "text"),
        Column("Through", "text", "operations outside XLA on the path"),
    )
    shown = len(columns) if any(link.via for link in report.links) else len(columns) - 1
    modules = report.by_key

    def link_row(place: int) -> TableRow:
        link = report.links[place]
        return (
            _cell(_link(modules[link.source])),
            _cell(_link(modules[link.target])),
            first_few(link.tensors, 4),
            link.grade,
            link.reason,
            ", ".join(link.via),
        )[:shown]

    rows = MadeRows(len(report.links), link_row)
    return Table(columns[:shown], rows if len(rows) > PAGE else list(rows))


def _cell(module: Link) -> list[str]:
    return [module.name, module.address]


def _link(module: ModuleOutline) -> Link:
    return Link(words.label(module), navigation.module_address(module.slug))


def _links_words(report: ReportRecord) -> str:
    links = report.links
    if not links and report.processes is None and report.outlines:
        return "Not checked: the processes of the modules are not known."
    if not links and sum(module.role not in PIECES for module in report.outlines) == 1:
        return "One program: there is no other module that it could exchange data with."
    if not links:
        return (
            "No links found: the dump has no framework graph, and no result shapes match argument "
            "shapes well enough for a guess."
        )
    exact = sum(link.grade == "exact" for link in links)
    if exact:
        return f"{units.plural(exact, 'link')}, from the framework graph."
    return (
        f"{units.plural(len(links), 'link')}, guessed from shapes and from the order of "
        "compilation. XLA does not record how the framework connects modules."
    )


_LONGEST_CHAIN = 12


def _chain_words(report: ReportRecord, chains: Chains) -> str:
    """Return a sentence on groups of linked modules, and the longest chain."""
    if not chains.groups:
        return ""
    modules = report.by_key
    shown = [f"`{words.label(modules[text])}`" for text in chains.longest[:_LONGEST_CHAIN]]
    more = len(chains.longest) - len(shown)
    row = f"{', then '.join(shown)}{f', and {more} more' if more else ''}"
    if len(chains.groups) == 1:
        message = f"They connect {units.plural(len(chains.groups[0]), 'module')}."
    else:
        most = units.count(len(chains.groups[0]))
        message = f"They connect modules in {len(chains.groups):,} groups, the largest of {most}."
    return f"{message} The longest chain: {row}."


def _recompiled(report: ReportRecord) -> tuple[DifferenceTable, ...]:
    """Return the tables of functions that were compiled several times; helpers are only counted."""
    modules = report.by_key
    recompilations = (
        group for group in report.retrace_groups if modules[group.modules[0]].role not in HELPERS
    )
    return tuple(
        DifferenceTable(
            name=recompilation.name,
            note=_retrace_note(recompilation),
            modules=tuple(_link(modules[key]) for key in recompilation.modules[:_COLUMNS]),
            rows=_cut(recompilation.differences),
        )
        for recompilation in islice(recompilations, _TABLES)
    )


def _retrace_note(recompilation: RecompilationGroup) -> str:
    times = units.plural(len(recompilation.modules), "time")
    steps = units.plural(recompilation.changed_steps, "compiler step")
    return (
        f"Compiled {times}. Recompilations took {steps} with changes. "
        f"Guessed to be one function: {recompilation.reason}."
    )


def _cut(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    return tuple(
        Difference(difference.what, difference.values[:_COLUMNS]) for difference in differences
    )


def _repeated(report: ReportRecord) -> str:
    modules = report.by_key
    counts = [
        len(group.modules)
        for group in report.retrace_groups
        if modules[group.modules[0]].role in HELPERS
    ]
    if not counts:
        return ""
    return (
        f"{units.plural(len(counts), 'eager helper')} compiled to "
        f"{units.plural(sum(counts), 'module')}: one for each shape, type or static argument."
    )


def _not_recompiled(report: ReportRecord) -> str:
    """Return the sentence that no function was compiled again, or why that was not checked."""
    unread = sum(module.final.instructions is None for module in report.outlines)
    if report.processes is None and report.outlines:
        return (
            "Not checked: several processes wrote into one folder, and the process of each "
            "module is not known."
        )
    if unread and unread == len(report.outlines):
        return "Not checked: no module could be read."
    text = "No recompilations found."
    if unread:
        return f"{text} {units.plural(unread, 'module')} could not be read and were not checked."
    return text


def _overwritten(report: ReportRecord) -> str:
    """Return in how many modules files of several runs or ranks are mixed."""
    mixed = sum(any(stage.left_out for stage in module.stages) for module in report.outlines)
    if not mixed:
        return ""
    holds = "holds" if mixed == 1 else "hold"
    return (
        "Several runs or ranks wrote files of the same names into one folder, and the last writer "
        f"of each won: {units.plural(mixed, 'module')} {holds} snapshots of another compilation. "
        "Those are left out of the steps; the steps page of the module lists them."
    )


def _known_processes(report: ReportRecord) -> str:
    if report.processes is None and report.outlines:
        return _unknown_processes(report)
    if report.processes is None or report.processes < _SEVERAL:
        return ""
    many = units.plural(report.processes, "process", "processes")
    message = f"{many} wrote this dump. Links and recompilations are determined per process."
    return (
        message
        if report.rank_groups
        else f"{message} No function was compiled by several processes."
    )


def _unknown_processes(report: ReportRecord) -> str:
    """Return a sentence on processes that wrote into one folder at the same time."""
    message = (
        "At least 2 processes wrote into one folder: a module id occurs twice. "
        "File times do not show which modules belong to one process."
    )
    if report.rank_groups:
        return (
            f"{message} Modules of one name and one content under several numbers show that "
            "they are ranks of one program. Links are guessed from one copy of each module; "
            "recompilations were not checked."
        )
    return f"{message} Links and recompilations were not checked."


_SEVERAL = 2


def _ranks(report: ReportRecord) -> tuple[DifferenceTable, ...]:
    """Return the tables of functions of several processes, differing ones first."""
    telling = [group for group in report.rank_groups if group.differences or not group.ranks]
    if not telling:
        return ()
    modules, shared = report.by_key, _shared_folder(report)
    ordered = sorted(
        telling, key=lambda group: (group.collectives is not None, not group.differences)
    )
    return tuple(
        DifferenceTable(
            name=group.name,
            note=_rank_note(group),
            modules=tuple(
                _link_in_folder(modules[key], shared) for key in group.modules[:_COLUMNS]
            ),
            rows=_cut(group.differences),
        )
        for group in ordered[:_TABLES]
    )


def _rank_note(group: RankGroup) -> str:
    many = units.plural(len(group.modules), "process", "processes")
    if group.ranks:
        many = units.plural(count_ranks(group), "process", "processes")
    message = f"Compiled by {many}."
    if group.collectives is None:
        return (
            f"{message} Their collectives differ, or are in a different order: running them "
            "together hangs."
        )
    if group.collectives == 0:
        return f"{message} No collectives."
    many = units.plural(group.collectives, "collective")
    return f"{message} All have the same {many} in the same order."


def _link_in_folder(module: ModuleOutline, shared: str) -> Link:
    """Return the link to a module with its folder, without the common prefix of all folders."""
    folder = _folder(module)[len(shared) :].strip("/")
    link = _link(module)
    return replace(link, name=f"{folder}/{link.name}" if folder else link.name)


def _folder(module: ModuleOutline) -> str:
    return min(module.files, key=lambda path: path.count("/"), default="").rpartition("/")[0]


def _shared_folder(report: ReportRecord) -> str:
    folders = {_folder(module) for module in report.outlines}
    return commonpath(folders) if folders else ""
