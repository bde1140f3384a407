"""The files of the site: pages from templates, payloads, pictures, report.json."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, zip_longest
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.dump import AnalyzedDump, DumpRelations
from xlareport.analysis.ranks.numbers import RankNumbers
from xlareport.pages import navigation
from xlareport.pages.coverage import page as coverage
from xlareport.pages.coverage.file_uses import file_uses
from xlareport.pages.findings.section import home_findings
from xlareport.pages.glossary.page import WORDS, glossary_page, lexicon, pass_names
from xlareport.pages.home.answers import summarize_home
from xlareport.pages.home.page import FLAGS_TABLE, home_page, tabulate_tpu_flags
from xlareport.pages.long_tables import table_files
from xlareport.pages.module.module_pages import (
    DecidedByOthers,
    ModulesShown,
    ModuleToShow,
    WantedPages,
    module_files,
    show_module,
)
from xlareport.pages.module.output import ModuleOutput
from xlareport.pages.modules import page as modules_page
from xlareport.pages.names.page import instruction_names, names_page
from xlareport.pages.nightly.page import NIGHTS_TABLE, Nightly, tabulate_nights, trends_page
from xlareport.pages.pictures.levels import picture_look
from xlareport.pages.program.page import LINKS_TABLE, program_page
from xlareport.pages.program.rank_matrix import RANKS_TABLE, tabulate_ranks
from xlareport.pages.rendering.templates import compiled, page_files, render
from xlareport.pages.search.payload import search_files
from xlareport.pages.tables import COLUMNS, table_file
from xlareport.pictures.draw import PictureRequest
from xlareport.records.build import with_problems
from xlareport.records.report import RECOMPILATIONS, ReportRecord
from xlareport.records.report_json import report_parts
from xlareport.records.stored_sketches import dump_file
from xlareport.runtime.faults import Faults
from xlareport.runtime.worker_pool import Workers
from xlareport.storage.payloads import (
    LongText,
    Payload,
    SiteFile,
    TextFile,
    bundle_payloads,
    make_payload_file,
)

_MODULES_TOGETHER = 20
"""Limit on modules whose pages one process makes at a time."""


class SiteInput(Struct, frozen=True):
    """All that the files of a site are made from."""

    dump: AnalyzedDump
    relations: DumpRelations
    outputs: Sequence[ModuleOutput]
    """One for each module of the dump, without the files in `payloads`."""
    report: ReportRecord
    payloads: Iterable[SiteFile]
    """Payloads of modules, and files of pictures."""
    picture: PictureRequest | None
    """The picture of the execution graph of the whole program."""
    nightly: Nightly | None = None
    results: Sequence[str] = ()
    """The key of each module's kept result, empty where it has none; without them none has one."""


class MakeFiles(Protocol):
    """Returns the files that `make` makes from `values` alone, made now or found again."""

    def __call__(
        self, name: str, values: Sequence[object], make: Callable[[], Iterable[TextFile]], /
    ) -> Iterable[TextFile]:
        """Return the files; `name` tells them from others."""


def make_now(
    name: str, values: Sequence[object], make: Callable[[], Iterable[TextFile]], /
) -> Iterable[TextFile]:
    """Return the files, made now."""
    del name, values
    return make()


def find_none(wanted: WantedPages) -> ModuleToShow:
    """Return the module, whose pages are not looked for in a former build."""
    return wanted.load()


class PageSources(Struct, frozen=True):
    """What makes pages, or finds those of a former build."""

    show: Callable[[ModuleToShow], ModulesShown] = show_module
    """Makes the pages of a module."""
    find: Callable[[WantedPages], ModulesShown | ModuleToShow] = find_none
    """Returns the pages of a module that are there already, the module if they have to be made."""
    make_files: MakeFiles = make_now
    """Makes files about the whole dump that take long and depend on few values."""


def site_files(
    site: SiteInput, workers: Workers, faults: Faults, sources: PageSources
) -> Iterator[SiteFile]:
    """Yield every generated file of the site.

    Half of them are pages of modules, which workers make at the same time. `faults` lists the pages
    that could not be made; the coverage page and report.json come last, and name these.
    """
    dump, report = site.dump, site.report
    modules = _begun(_wanted(site), len(report.modules), sources, workers)
    yield from _front(site, faults, sources.make_files)
    yield from site.payloads
    columns: dict[str, Payload] = {}
    for shown in modules:
        faults.problems.extend(shown.problems)
        columns |= shown.columns
        yield from shown.files
    yield bundle_payloads(COLUMNS, columns.values())
    yield from faults.attempt_all("The search", partial(_search, dump, site.outputs, report))
    yield make_payload_file(navigation.PICTURE_LOOK, picture_look())
    covered = partial(_coverage, dump, with_problems(report, faults.problems))
    yield from page_files(faults, navigation.COVERAGE, "Dump contents", covered)
    yield dump_file(with_problems(report, faults.problems))
    yield "report.json", LongText(report_parts(with_problems(report, faults.problems)))


def _search(
    dump: AnalyzedDump, outputs: Sequence[ModuleOutput], report: ReportRecord
) -> Iterator[SiteFile]:
    scopes = (output.scopes for output in outputs)
    yield from search_files(report, dump.summaries, scopes)


def _trends(nightly: Nightly) -> Iterator[SiteFile]:
    """Yield the page of the nights with its table."""
    yield navigation.TRENDS, render("trends", trends_page(nightly), "Nightly trend")
    yield from table_files(NIGHTS_TABLE, tabulate_nights(nightly.nights))


def _begun(
    modules: Iterator[WantedPages], number: int, sources: PageSources, workers: Workers
) -> Iterator[ModulesShown]:
    """Have the pages of modules made that are not there, those of some modules at a time."""
    work, templates = partial(_make_pages, show=sources.show), compiled()
    some = max(1, min(_MODULES_TOGETHER, number // (4 * workers.jobs)))
    there: deque[list[ModulesShown | None]] = deque()

    def missing() -> Iterator[_ToMake]:
        while chunk := [*islice(modules, some)]:
            pages = [*map(sources.find, chunk)]
            there.append([None if isinstance(shown, ModuleToShow) else shown for shown in pages])
            to_make = [module for module in pages if isinstance(module, ModuleToShow)]
            yield _ToMake(to_make, templates if to_make else {})

    def in_order(every: Iterator[list[ModulesShown]]) -> Iterator[ModulesShown]:
        for others in map(iter, every):
            yield from (shown or next(others) for shown in there.popleft())

    return in_order(workers.stream_in_order(work, missing(), work))


class _ToMake(Struct, frozen=True):
    """Modules whose pages a worker makes, with compiled templates."""

    modules: Sequence[ModuleToShow]
    templates: Mapping[str, bytes]


def _make_pages(
    to_make: _ToMake, show: Callable[[ModuleToShow], ModulesShown]
) -> list[ModulesShown]:
    return module_files(to_make.modules, to_make.templates, show)


def _wanted(site: SiteInput) -> Iterator[WantedPages]:
    report, before = site.report, None
    main = report.main_key
    following = (record.slug for record in islice(report.outlines, 1, None))
    for place, (record, after) in enumerate(zip_longest(report.outlines, following)):
        decided = DecidedByOthers(
            role=record.role,
            role_reason=record.role_reason,
            findings=tuple(
                finding for finding in record.findings if finding.rule == RECOMPILATIONS
            ),
            is_main=record.key == main,
            previous=before,
            following=after,
        )
        result = site.results[place] if site.results else ""
        yield WantedPages(result, decided, partial(_load, site, place, decided))
        before = record.slug


def _load(site: SiteInput, place: int, decided: DecidedByOthers) -> ModuleToShow:
    output = _needed(site.outputs[place], is_main=decided.is_main)
    record = replace(
        site.report.modules[place], rank=0, retrace_group=None, process=None, ranks=RankNumbers()
    )
    neighbors = decided.previous, decided.following
    return ModuleToShow(site.dump.modules[place], output, record, *neighbors)


def _needed(output: ModuleOutput, *, is_main: bool) -> ModuleOutput:
    """Return the part of the output that a page needs; only the main program has .svg files."""
    pictures = output.pictures
    if not is_main:
        pictures = tuple(replace(picture, source="") for picture in pictures)
    return replace(output, payloads=(), requests=(), pictures=pictures)


def _front(site: SiteInput, faults: Faults, make_files: MakeFiles) -> Iterator[SiteFile]:
    """Yield the pages about the whole dump, except the coverage page."""
    dump, report, nightly = site.dump, site.report, site.nightly
    pages: list[tuple[str, str, Callable[[], Iterable[SiteFile]]]] = [
        (navigation.HOME, "Home", partial(_home, dump, report, nightly=nightly is not None)),
        (navigation.MODULES, "Modules", partial(_modules, dump, report)),
        (navigation.NAMES, "File-name reference", partial(_names, dump, report)),
        (navigation.GLOSSARY, "Glossary", partial(_glossary, dump, make_files)),
        (
            navigation.PROGRAM,
            "Execution graph",
            partial(_program_files, report, site.relations, site.picture),
        ),
    ]
    if nightly:
        pages.append((navigation.TRENDS, "Nightly trend", partial(_trends, nightly)))
    for source, title, make in pages:
        yield from page_files(faults, source, title, make)


def _home(dump: AnalyzedDump, report: ReportRecord, *, nightly: bool) -> Iterator[SiteFile]:
    main = report.main_key
    findings = home_findings(dump, report)
    summary = summarize_home(report, dump)
    flags = dump.tpu_flags_of(main)
    home = home_page(
        report, dump.settings_of(main), findings, summary, nightly=nightly, tpu_flags=flags
    )
    yield navigation.HOME, render("home", home, "Home", wide=True)
    if flags:
        yield table_file(FLAGS_TABLE, tabulate_tpu_flags(flags))


def _modules(dump: AnalyzedDump, report: ReportRecord) -> Iterator[SiteFile]:
    table = modules_page.modules_table(report, dump.file_totals)
    yield navigation.MODULES, render("modules", modules_page.modules_page(report, table), "Modules")
    yield from table_files("modules", table)


def _names(dump: AnalyzedDump, report: ReportRecord) -> Iterator[SiteFile]:
    used = instruction_names(dump.summaries)
    main = report.main_key
    program = next((module for module in dump.grouped.modules if module.key == main), None)
    names = names_page(dump.artifacts, dump.grouped.modules, used, program)
    yield navigation.NAMES, render("names", names, "File-name reference")


def _glossary(dump: AnalyzedDump, make_files: MakeFiles) -> Iterable[TextFile]:
    named = pass_names(dump.summaries)
    used = sorted({opcode for summary in dump.summaries for opcode, _ in summary.opcodes})
    timed = sorted(dump.modules.timed_passes)
    make = partial(_glossary_files, named, used, timed)
    return make_files("glossary", (named, used, timed), make)


def _glossary_files(
    named: Sequence[str], used: Sequence[str], timed: Sequence[str]
) -> Iterator[TextFile]:
    yield navigation.GLOSSARY, render("glossary", glossary_page(named, used), "Glossary")
    yield make_payload_file(WORDS, lexicon({*named, *timed}))


def _program_files(
    report: ReportRecord, relations: DumpRelations, picture: PictureRequest | None
) -> Iterator[SiteFile]:
    program = program_page(report, relations, picture)
    yield navigation.PROGRAM, render("program", program, "Execution graph")
    yield from table_files(LINKS_TABLE, program.link_table)
    if len(report.ranks) > 1:
        yield from table_files(RANKS_TABLE, tabulate_ranks(report))


def _coverage(dump: AnalyzedDump, report: ReportRecord) -> Iterator[SiteFile]:
    artifacts = dump.artifacts
    graphs = [graph.path for graph in dump.graphs]
    uses = file_uses(dump.named, dump.modules.reads, graphs, dump.side_files)
    passes = coverage.passes_words(dump.summaries)
    covered = coverage.coverage_page(report, artifacts, uses, passes)
    yield navigation.COVERAGE, render("coverage", covered, "Dump contents", wide=True)
    yield from table_files(coverage.FILES_TABLE, covered.files)
    yield from table_files(coverage.PROBLEMS_TABLE, covered.problems)
