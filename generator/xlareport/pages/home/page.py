"""The home page: the answer first, then ways in by question, then the modules."""

from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.modules.module_role import HELPERS
from xlareport.analysis.modules.settings import OptionOrigin
from xlareport.analysis.modules.tpu_flags import TpuFlag, TpuFlags
from xlareport.knowledge import flags
from xlareport.pages import navigation, words
from xlareport.pages.cost.page import cost_addresses
from xlareport.pages.findings.section import FindingsView
from xlareport.pages.home.answers import HomeSummary
from xlareport.pages.large_figures import Figure
from xlareport.pages.navigation import Link
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import Column, Table
from xlareport.records import sentences
from xlareport.records.module_outline import ModuleOutline
from xlareport.records.report import MainProgramRecord, ModuleRecord, ReportRecord
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

_ROWS_SHOWN = 12


class RunRow(Struct, frozen=True):
    """The main program of one run, if several runs wrote the dump."""

    processes: str
    name: str
    address: str
    sureness: str


class MainCard(Struct, frozen=True):
    """The guess of the main program in words."""

    name: str
    full_name: str
    address: str
    grade: str
    sureness: str
    meaning: str
    is_tie: bool
    is_open: bool
    """Whether the modules that come next may well be the program."""
    because: str
    """The strongest reasons in a sentence."""
    reasons: tuple[str, ...]
    """All reasons, with their points."""
    runners_up: tuple[Link, ...]
    runs: tuple[RunRow, ...]
    """The main program of each run; empty if there is only one program."""


class QuestionLink(Struct, frozen=True):
    """A question and where it is answered."""

    question: str
    answer: str
    address: str


class ModuleRow(Struct, frozen=True):
    """A module in a short table."""

    name: str
    key: str
    address: str
    role: str
    first: int | None
    last: int | None
    changed: int | None
    """None if the dump has no steps of it."""


class SettingRow(Struct, frozen=True):
    """An option that is not at its default."""

    name: str
    value: str
    by: str
    grade: str
    reason: str
    words: Markup
    """The option's effect; empty if unknown."""


class HomePage(Struct, frozen=True):
    """Everything on the home page."""

    title: str
    summary: HomeSummary
    main: MainCard | None
    findings: FindingsView | None
    """The findings of the main program and of the dump; None without a main program."""
    ways: tuple[QuestionLink, ...]
    roles: Markup
    """The number of modules by role, and how to avoid some."""
    many: str
    modules: tuple[ModuleRow, ...]
    more_modules: bool
    total_modules: int
    facts: tuple[Figure, ...]
    settings: tuple[SettingRow, ...]
    differing: tuple[SettingRow, ...]
    """Options that differ only because of the defaults of another version."""
    tpu_flags: TpuFlags | None
    """None where the dump has no `flagfile`."""
    problems: int


def home_page(
    report: ReportRecord,
    settings: Sequence[OptionOrigin],
    findings: FindingsView | None = None,
    summary: HomeSummary | None = None,
    *,
    nightly: bool = False,
    tpu_flags: TpuFlags | None = None,
) -> HomePage:
    """Return the home page from the report's records; `summary` is its first part."""
    ranked = nsmallest(_ROWS_SHOWN, report.outlines, key=lambda module: module.rank)
    main = report.main_module
    return HomePage(
        title=f"XLA report: {report.dump.path.rstrip('/').rpartition('/')[2] or report.dump.path}",
        summary=summary or HomeSummary(words.lead(report)),
        main=_main_card(report.main, main, report.by_key) if report.main and main else None,
        findings=findings,
        ways=tuple(_ways(report, main, nightly=nightly)),
        roles=prose(words.many(report)),
        many=_many(report),
        modules=tuple(map(row, ranked)),
        more_modules=len(report.outlines) > _ROWS_SHOWN,
        total_modules=len(report.outlines),
        facts=_facts(report),
        settings=tuple(_settings([setting for setting in settings if setting.by != _VERSIONS])),
        differing=tuple(_settings([setting for setting in settings if setting.by == _VERSIONS])),
        tpu_flags=tpu_flags,
        problems=len(report.problems),
    )


def row(module: ModuleOutline) -> ModuleRow:
    """Return a module as a row of a table."""
    counts = [stage.instructions for stage in module.stages if stage.instructions is not None]
    return ModuleRow(
        name=words.label(module),
        key=module.key,
        address=navigation.module_address(module.slug),
        role=module.role,
        first=counts[0] if counts else None,
        last=module.final.instructions,
        changed=module.changed_steps if module.steps else None,
    )


def _main_card(
    main: MainProgramRecord, module: ModuleRecord, others: Mapping[str, ModuleOutline]
) -> MainCard:
    is_only = len(others) == 1
    is_open = main.sureness not in ("clear", "marker")
    programs = set() if is_open else {program.module for program in main.programs}
    doubtful = [
        candidate.module
        for candidate in main.runners_up
        if candidate.module not in programs and others[candidate.module].role not in HELPERS
    ]
    return MainCard(
        name=words.short_name(main.name),
        full_name=main.name,
        address=navigation.module_address(module.slug),
        grade="exact" if is_only or main.sureness == "marker" else "guessed",
        sureness="the only module" if is_only else sentences.sureness(main.sureness),
        meaning="" if is_only else main.meaning,
        is_tie=main.tie,
        is_open=is_open,
        because=_because(main.strongest),
        reasons=main.reasons,
        runners_up=tuple(
            Link(other.name, other.address) for other in map(row, map(others.__getitem__, doubtful))
        ),
        runs=tuple(
            RunRow(
                units.plural(len(run.processes), "process", "processes"),
                row(others[run.module]).name,
                row(others[run.module]).address,
                sentences.sureness(run.sureness),
            )
            for run in main.runs
        ),
    )


def _because(strongest: Sequence[str]) -> str:
    """Return the strongest evidence as a sentence; empty if there is too little."""
    words = strongest[:_REASONS]
    return f"It {', '.join(words[:-1])} and {words[-1]}." if len(words) > 1 else ""


_REASONS = 3
"""How many are named."""


def _ways(
    report: ReportRecord, main: ModuleRecord | None, *, nightly: bool
) -> Iterator[QuestionLink]:
    """Yield the questions that this report can answer, those on the main program in between."""
    modules, program = (
        navigation.address(navigation.MODULES),
        navigation.address(navigation.PROGRAM),
    )
    if nightly:
        answer = "Figures over time, with their changes."
        yield QuestionLink("Nightly trend", answer, navigation.address(navigation.TRENDS))
    answer = "All modules with their roles."
    yield QuestionLink("Which module is my program?", answer, modules)
    if main is not None:
        yield from _ways_into(main)
    if main is not None and report.retrace_groups:
        answer = "Differences between compilations of one function."
        yield QuestionLink(
            "Why was it compiled again?", answer, f"{program}#compiled-more-than-once"
        )
    answer = "Data flow between modules, recompilations, and eager functions."
    yield QuestionLink("How are the modules connected?", answer, program)
    answer = "Every part of a file name, explained with files of this dump."
    yield QuestionLink(
        "What do these file names mean?", answer, navigation.address(navigation.NAMES)
    )
    answer = "xlareport compare BASE HEAD explains the difference to another dump or report."
    guide = navigation.address(_COMPARING)
    yield QuestionLink("What changed between two dumps?", answer, guide)
    answer = "All files, how each was used, and flags for a richer dump."
    where = navigation.address(navigation.COVERAGE)
    yield QuestionLink("What is in the dump, and what is missing?", answer, where)


def _fusion_answer(main: ModuleRecord) -> str:
    """Return a sentence on reasons of missing fusions, which only GPU compilers write."""
    if main.backend in ("cpu", "tpu"):
        compiler = words.BACKENDS[main.backend]
        return f"The {compiler} compiler writes no reasons. Trace one to see its fusion."
    return "Trace one of them to see the reason of the fusion pass, if the dump has it."


def _ways_into(main: ModuleRecord) -> Iterator[QuestionLink]:
    """Yield the questions on the main program that the dump can answer."""
    page = navigation.module_address(main.slug)
    if main.changed_steps:
        answer = "The pass that created an instruction, and the final instructions of an op_name."
        yield QuestionLink("Where did my op go?", answer, f"{page}#ask")
        yield QuestionLink(
            "Why were two instructions not fused?", _fusion_answer(main), f"{page}#ask"
        )
    if main.steps:
        answer = "Every step with its HLO diff and graph, the largest effect first."
        steps = navigation.module_address(main.slug, "steps")
        yield QuestionLink("What did each pass do?", answer, steps)
    if main.final.instructions is not None:
        costs = cost_addresses(main, navigation.HOME)
        for part, question, answer in _COST_WAYS:
            if part in costs:
                yield QuestionLink(question, answer, costs[part])
        if main.collectives:
            answer = "The cause, the bytes and the overlap of each collective."
            collectives = navigation.module_address(main.slug, "collectives")
            yield QuestionLink("Why is this collective there?", answer, f"{collectives}#origins")
        answer = "Parameters and results of the main program."
        yield QuestionLink("What are its inputs and outputs?", answer, f"{page}#inputs-and-outputs")


_COST_WAYS = (
    (
        "time",
        "Which instructions are slowest?",
        "Measured time by instruction, scope and source line.",
    ),
    ("cost", "What takes the time?", "Heaviest instructions, roofline, and findings."),
    (
        "memory",
        "What uses the memory?",
        "The buffers in use at the peak, and which to reduce.",
    ),
    ("source", "What does each source line cost?", "From source lines to final instructions."),
)


def _settings(choices: Sequence[OptionOrigin]) -> Iterator[SettingRow]:
    """Yield an option with all its values, those that were set explicitly first."""
    ordered = sorted(choices, key=lambda choice: choice.by != "somebody")
    by_name = group_by_key((choice.setting.name, choice) for choice in ordered)
    for name, options in by_name.items():
        entry = flags.find(name)
        yield SettingRow(
            name=name,
            value=", ".join(option.setting.value for option in options) or "(empty)",
            by=_author(options[0]),
            grade=options[0].grade,
            reason=options[0].reason,
            words=prose(entry.words if entry else ""),
        )


_COMPARING = "guide/comparing.md"
FLAGS_TABLE = "tpu-flags"
"""The payload of the table of all flags of a `flagfile`."""


def tabulate_tpu_flags(flags: TpuFlags) -> Table:
    """Return the table of all flags of a `flagfile`, those first that are not at their defaults."""
    columns = (
        Column("Flag", "code", of="flag"),
        Column("Value", "code"),
        Column(f"Default in libtpu {flags.release}", "code"),
        Column("Differs"),
        Column("What it does"),
    )
    return Table(columns, [_tpu_flag_row(flag) for flag in flags.every()])


def _tpu_flag_row(flag: TpuFlag) -> list[str | None]:
    entry = flags.find(flag.name)
    differs = "yes" if flag.differs else "no"
    differs = "not known" if flag.default is None else differs
    return [flag.name, flag.value, flag.default, differs, entry.words if entry else None]


def _author(option: OptionOrigin) -> str:
    """Return who set an option; of a value that only differs from its default, who may have."""
    if option.by == "somebody" and option.grade != "exact":
        return "set in XLA_FLAGS or by the framework"
    return _AUTHORS.get(option.by, option.by)


_VERSIONS = "versions"
_AUTHORS = {
    "somebody": "set in XLA_FLAGS",
    _VERSIONS: "another version's default",
    **words.FRONTENDS,
}


def _many(report: ReportRecord) -> str:
    if len(report.outlines) < 2:
        return ""
    sentences = (_MANY[frontend] for frontend in report.dump.frontends if frontend in _MANY)
    return " ".join(sentences) or "A program is compiled as one or more modules."


_MANY = {
    "jax": (
        "Every jitted function, and every operation dispatched outside jit, is compiled as a "
        "separate module."
    ),
    "tensorflow": (
        "Every function with jit_compile=True, and every cluster of operations that TensorFlow "
        "clusters for XLA, is compiled as a separate module."
    ),
    "pytorch_xla": (
        "Whatever is recorded until a step is marked or a value is needed is compiled as a module "
        "of its own."
    ),
}


def _facts(report: ReportRecord) -> tuple[Figure, ...]:
    dump = report.dump
    frontends = ", ".join(words.frameworks(dump.frontends))
    backends = ", ".join(words.BACKENDS.get(backend, backend) for backend in dump.backends)
    return (
        Figure("Read from", dump.path),
        Figure("Framework", frontends or "not known"),
        Figure("Backend", backends or "not known"),
        Figure("Modules", units.count(len(report.outlines))),
        Figure("Files", f"{units.count(dump.files)}, {units.byte_size(dump.bytes)}"),
        Figure("Report by", f"{report.generator.name} {report.generator.version}"),
    )
