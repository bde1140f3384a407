"""The coverage page: every file, its use, reading problems, and flags for more information."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from markupsafe import Markup
from msgspec import Struct, field

from xlareport.analysis.modules.module_role import PIECES
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.steps.boundaries import DumpMode, ModeFinding, dump_mode
from xlareport.dump.modules import HLO_KINDS, RUN_KIND, Artifact, SnapshotFiles
from xlareport.knowledge import flags, kinds, stages
from xlareport.knowledge.kinds import FileKind
from xlareport.pages import navigation
from xlareport.pages.long_tables import MadeRows, TableRow
from xlareport.pages.names.page import describe
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import Column, Table, tabulate
from xlareport.pages.token_views import NameCells
from xlareport.records.module_outline import ModuleOutline
from xlareport.records.report import ModuleRecord, ReportRecord
from xlareport.runtime import units
from xlareport.runtime.errors import Problem
from xlareport.storage.packed_keys import digest_number, group_alike

FILES_TABLE = "files"
PROBLEMS_TABLE = "problems"

_PASSES_FLAG = "xla_dump_hlo_pass_re"


class FileKindRow(Struct, frozen=True):
    """One kind of file."""

    title: str
    files: int
    bytes: int
    used: str
    holds: Markup
    more: tuple[Markup, ...]
    """What the file shows, how to open it, and what writes it, in sentences."""


class Advice(Struct, frozen=True):
    """Missing information, and the flag that provides it; empty if none does."""

    words: Markup
    flag: str = ""


class FlagRow(Struct, frozen=True):
    """A flag that would add to the dump."""

    example: str
    adds: str
    """The kinds of file, by their titles."""
    words: Markup


class CoveragePage(Struct, frozen=True):
    """Everything on the page."""

    lead: str
    kinds: tuple[FileKindRow, ...]
    passes: Markup
    advice: tuple[Advice, ...]
    more: tuple[FlagRow, ...]
    """Flags that would add kinds of file which this dump does not have."""
    problems: Table
    files: Table


def coverage_page(
    report: ReportRecord,
    artifacts: Sequence[Artifact],
    uses: Sequence[str],
    passes: str,
) -> CoveragePage:
    """Return the page; `uses` is the use of each file, `passes` says how passes were dumped."""
    by_kind = _by_kind(artifacts, uses)
    unknown = by_kind["unknown"].files if "unknown" in by_kind else 0
    names = "every name is known"
    if unknown:
        names = f"{units.plural(unknown, 'name is', 'names are')} not known"
    copied = report.dump.files - len(artifacts)
    if copied:
        names += f"; {units.plural(copied, 'file')} of other ranks repeat these and are not listed"
    files = units.plural(report.dump.files, "file")
    present = set(by_kind)
    return CoveragePage(
        lead=f"{files}, {units.byte_size(report.dump.bytes)}; {names}.",
        kinds=tuple(_kind_rows(by_kind)),
        passes=prose(passes),
        advice=tuple(_advice(report, present)),
        more=tuple(_flag_rows(report, present)),
        problems=problems_table(report.problems),
        files=files_table(artifacts, report, uses),
    )


_MODES = {
    DumpMode.CHANGED: (
        "The dump was made with exactly `--xla_dump_hlo_pass_re=.*`: XLA then (since April "
        "2021) writes a snapshot when a pipeline begins and after each pass that reports a change. "
        "A pass without a file may well have run and changed nothing. Another expression that fits "
        "every name, such as `.+`, writes a snapshot after every pass, changed or not."
    ),
    DumpMode.EVERY: (
        "A snapshot was written after every pass, also where it changed nothing: the regular "
        "expression for passes fits every name and is not the literal `.*`, or XLA is older than "
        "April 2021."
    ),
    DumpMode.SOME: (
        "Snapshots were written around some passes only, those that a regular expression picked. "
        "Other passes ran in between and left no file."
    ),
    DumpMode.UNKNOWN: (
        "There are snapshots between passes, but too few to determine the dump flag. A pass "
        "without a file may still have run."
    ),
    DumpMode.NONE: (
        "No snapshot between passes was written. That says nothing about which passes ran; "
        "`--xla_dump_hlo_pass_re=.*` writes one after every pass that reports a change."
    ),
}


def passes_words(summaries: Sequence[ModuleSummary]) -> str:
    """Return a sentence on how passes were dumped, as far as it is known."""
    snapshots = (stage.stage for summary in summaries for stage in summary.stages)
    if any(snapshot.name == "pass" for snapshot in snapshots) and ".*" in _stated(summaries):
        return f"{_MODES[DumpMode.CHANGED]} (From the flags in the dump.)"
    mode_finding = _mode(summaries)
    if mode_finding.mode in (DumpMode.NONE, DumpMode.UNKNOWN):
        return _MODES[mode_finding.mode]
    return f"{_MODES[mode_finding.mode]} (Guessed from the names: {mode_finding.evidence})"


def _mode(summaries: Sequence[ModuleSummary]) -> ModeFinding:
    """Return the dump mode of most modules; if each has too few files, that of all together."""
    first: dict[DumpMode, ModeFinding] = {}
    counts: Counter[DumpMode] = Counter()
    of_passes: list[SnapshotFiles] = []
    for summary in summaries:
        snapshots = [stage.stage for stage in summary.stages]
        mode_finding = dump_mode(snapshots)
        if mode_finding.mode not in (DumpMode.NONE, DumpMode.UNKNOWN):
            counts[mode_finding.mode] += 1
            first.setdefault(mode_finding.mode, mode_finding)
        elif not counts:
            of_passes += [snapshot for snapshot in snapshots if snapshot.after is not None]
    return first[counts.most_common(1)[0][0]] if counts else dump_mode(of_passes)


def _stated(summaries: Sequence[ModuleSummary]) -> set[str]:
    """Return the regular expressions for passes that the dump's list of flags states."""
    settings = (choice.setting for summary in summaries for choice in summary.settings)
    return {setting.value for setting in settings if setting.name == _PASSES_FLAG}


def files_table(artifacts: Sequence[Artifact], report: ReportRecord, uses: Sequence[str]) -> Table:
    """Return the table of every file."""
    modules = report.by_key
    columns = (
        Column("File", "name", "hover over a part for its meaning"),
        Column("Kind", of="kind"),
        Column("Name explained"),
        Column("Module", "link"),
        Column("Size", "bytes"),
        Column("Used"),
    )
    cells = NameCells()

    @lru_cache(maxsize=1_000)
    def link(key: str | None) -> list[str] | None:
        return _link(modules[key]) if key is not None else None

    def file_row(place: int) -> TableRow:
        artifact = artifacts[place]
        return [
            cells.cell(artifact.name),
            artifact.name.kind,
            describe(artifact.name),
            link(report.files[place].module),
            artifact.entry.size,
            uses[place],
        ]

    rows = MadeRows(len(artifacts), file_row)
    return Table(columns, rows, meanings=cells.meanings)


def _link(module: ModuleOutline) -> list[str]:
    return [module.name, navigation.module_address(module.slug)]


def problems_table(problems: Sequence[Problem]) -> Table:
    """Return the table of files that could not be read."""
    return tabulate(
        problems,
        {
            Column("File", "code"): lambda row: row.path,
            Column("Line", "int"): lambda row: row.line,
            Column("What happened"): lambda row: row.message,
            Column("The place", "code"): lambda row: (
                (row.excerpt.partition("\n")[0].strip()) or None
            ),
        },
    )


class _OfKind(Struct):
    """The total of all files of one kind."""

    files: int = 0
    bytes: int = 0
    uses: Counter[str] = field(default_factory=Counter)


def _by_kind(artifacts: Iterable[Artifact], uses: Iterable[str]) -> dict[str, _OfKind]:
    by_kind: dict[str, _OfKind] = defaultdict(_OfKind)
    for artifact, use in zip(artifacts, uses, strict=True):
        same = by_kind[artifact.name.kind]
        same.files += 1
        same.bytes += artifact.entry.size
        same.uses[use] += 1
    return dict(by_kind)


def _kind_rows(by_kind: Mapping[str, _OfKind]) -> Iterable[FileKindRow]:
    for name, same in sorted(by_kind.items(), key=lambda item: -item[1].files):
        kind = kinds.find(name)
        yield FileKindRow(
            title=kind.title if kind else name,
            files=same.files,
            bytes=same.bytes,
            used=_used(same.uses),
            holds=prose(kind.words if kind else ""),
            more=_more(kind) if kind else (),
        )


def _more(kind: FileKind) -> tuple[Markup, ...]:
    return tuple(prose(words) for words in (kind.look_for, kind.opened, kind.made_by) if words)


def _used(uses: Mapping[str, int]) -> str:
    if len(uses) == 1:
        return next(iter(uses))
    return "; ".join(f"{count:,} {use}" for use, count in sorted(uses.items()))


def _advice(report: ReportRecord, present: set[str]) -> Iterable[Advice]:
    if not report.outlines:
        words = (
            "No file here belongs to a module. Check that this is the xla_dump_to "
            "directory and that `XLA_FLAGS` was set before the program started. The flag is"
        )
        yield Advice(prose(words), "--xla_dump_to=DIRECTORY")
        return
    yield from _about_reading(report, present)
    if "buffer-assignment" not in present and "hlo-text" not in present:
        words = "There is no buffer assignment, which shows memory use. It is written with"
        yield Advice(prose(words), "--xla_dump_hlo_as_text")
    yield from _about_modules(report)
    yield from _about_source_lines(report.main_module)
    timed = set(report.dump.backends) & {"gpu", "tpu"}
    if timed and "pass-metadata" not in present:
        words = "For the time of each pass and no-op passes, set"
        yield Advice(prose(words), "--xla_dump_module_metadata")


def _flag_rows(report: ReportRecord, present: set[str]) -> Iterable[FlagRow]:
    """Yield XLA's current flags for kinds of file that the dump does not have."""
    backends = set(report.dump.backends) or set(_OWN_FLAGS)
    for entry in flags.all_entries().values():
        made_for = {
            backend for backend, start in _OWN_FLAGS.items() if entry.name.startswith(start)
        }
        suits = not made_for or bool(made_for & backends)
        # What is on by default adds nothing; its example switches it off.
        adds = entry.default != "true"
        if entry.set_in == _XLA_FLAGS and not entry.until and suits and adds and entry.makes:
            missing = [kind for kind in entry.makes if kind not in present]
            if len(missing) == len(entry.makes):
                titles = [result.title for kind in missing if (result := kinds.find(kind))]
                yield FlagRow(
                    entry.example or f"--{entry.name}",
                    ", ".join(titles),
                    prose(entry.words),
                )


_XLA_FLAGS = "XLA_FLAGS"
_OWN_FLAGS = {"cpu": "xla_cpu_", "gpu": "xla_gpu_", "tpu": "xla_tpu_"}
"""Prefixes of the flags of one backend."""


def _about_reading(report: ReportRecord, present: set[str]) -> Iterable[Advice]:
    """Yield the advice on snapshots that are missing or unreadable."""
    has_snapshots = any(module.stages for module in report.outlines)
    snapshots = (stage for module in report.outlines for stage in module.stages)
    if has_snapshots and not any(stage.pipeline for stage in snapshots):
        words = "No module has snapshots between passes. For the changes of each pass, set"
        yield Advice(prose(words), "--xla_dump_hlo_pass_re=.*")
    if has_snapshots and not present & {*HLO_KINDS, RUN_KIND}:
        words = "Snapshots were dumped only as HTML, which cannot be read. Set"
        yield Advice(prose(words), "--xla_dump_hlo_as_text")
    elif not present & {"hlo-text", "hlo-proto"}:
        # XLA writes text by default, but not where another form is requested.
        only = (
            "HLO was dumped only in run snapshots, which hold the module after optimizations. For "
            "the module before them, set"
        )
        words = "There is no HLO text, the most useful kind of file. Set"
        is_inside = RUN_KIND in present and not present & set(HLO_KINDS)
        yield Advice(prose(only if is_inside else words), "--xla_dump_hlo_as_text")


def _about_source_lines(main: ModuleRecord | None) -> Iterable[Advice]:
    """Yield the variables for source lines, which PyTorch/XLA omits by default."""
    cost = main.cost if main is not None and main.frontend == "pytorch_xla" else None
    if cost is not None and not cost.lines:
        words = (
            "No instruction of the main program has a source line. For Python source lines in "
            "the HLO metadata, set `XLA_IR_DEBUG=1` and"
        )
        yield Advice(prose(words), "XLA_HLO_DEBUG=1")


def _about_modules(report: ReportRecord) -> Iterable[Advice]:
    """Yield advice on modules that lack their first or last snapshot."""
    repeated = _repeated_ids(report.outlines)
    if repeated:
        ids = units.plural(repeated, "module id belongs", "module ids belong")
        words = (
            f"{ids} to modules of different names, and ids are unique in a process: several "
            "processes or runs probably wrote into this directory and overwrote files of equal "
            "names. Use a separate directory for each, or set"
        )
        yield Advice(prose(words), "--xla_dump_include_timestamp")
    bare = sum(not module.stages for module in report.outlines)
    if bare > 0:
        has = units.plural(bare, "module has", "modules have")
        words = f"{has} no HLO text or proto. If the dump was limited to some modules, set"
        yield Advice(prose(words), "--xla_dump_max_hlo_modules=-1")
    for name in ("before_optimizations", "after_optimizations"):
        lacking = sum(_lacks(module, name) for module in report.outlines)
        stage = stages.find(name)
        if lacking and stage and stage.absent:
            has = units.plural(lacking, "module has", "modules have")
            yield Advice(prose(f"{has} no `{name}`. {stage.absent}"))


def _lacks(module: ModuleOutline, name: str) -> bool:
    """Return whether a usual snapshot is missing; pieces compiled for autotuning never have it."""
    return bool(module.stages) and not _has(module, name) and module.role not in PIECES


def _repeated_ids(modules: Iterable[ModuleOutline]) -> int:
    """Return the number of ids that modules of one folder and time share under different names."""
    numbers = array("q")
    for module in modules:
        if module.id is not None and module.stages:
            folder = module.stages[0].files[0].rpartition("/")[0]
            numbers.append(digest_number((folder, module.timestamp, module.id)))
    return len(group_alike(numbers))


def _has(module: ModuleOutline, name: str) -> bool:
    label = name.replace("_", " ")
    return any(stage.label == label for stage in module.stages)
