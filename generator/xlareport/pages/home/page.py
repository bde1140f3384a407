"""The home page: the answer first, then ways in by question, then the modules."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from xlareport.analysis.modules.settings import OptionOrigin
from xlareport.knowledge import flags
from xlareport.pages import navigation, words
from xlareport.pages.cost.page import cost_addresses
from xlareport.pages.findings.section import FindingsView
from xlareport.pages.home.answers import Answer, HomeSummary
from xlareport.pages.rendering.environment import prose
from xlareport.records import sentences
from xlareport.records.build import HELPERS
from xlareport.records.report import MainProgramRecord, ModuleRecord, ReportRecord
from xlareport.runtime import units

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """A module that could be the main program as well, with its address."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class MainCard:
    """The main-program guess as the page says it."""

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
    """All of them, with their points."""
    runners_up: tuple[RunnerUp, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """A question and where it is answered."""

    question: str
    answer: str
    address: str


@dataclass(frozen=True, slots=True)
class ModuleRow:
    """One module in a short table."""

    name: str
    key: str
    address: str
    role: str
    first: int | None
    last: int | None
    changed: int | None
    """None where the dump has no steps of it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A label and a value."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class SettingRow:
    """An option that is not at its default."""

    name: str
    value: str
    by: str
    grade: str
    reason: str
    words: Markup
    """What the option does; empty where that is not known."""


@dataclass(frozen=True, slots=True)
class HomePage:
    """Everything on the home page."""

    title: str
    lead: str
    main: MainCard | None
    answers: tuple[Answer, ...]
    findings: FindingsView | None
    """What stands out in the main program and in the dump; None without a main program."""
    ways: tuple[Way, ...]
    roles: Markup
    """How many modules play which part, and what would spare some."""
    many: str
    modules: tuple[ModuleRow, ...]
    more_modules: bool
    total_modules: int
    facts: tuple[Fact, ...]
    settings: tuple[SettingRow, ...]
    differing: tuple[SettingRow, ...]
    """Options that differ only because another version has other defaults."""
    problems: int


def home_page(
    report: ReportRecord,
    settings: Sequence[OptionOrigin],
    findings: FindingsView | None = None,
    summary: HomeSummary | None = None,
    *,
    nightly: bool = False,
) -> HomePage:
    """Make the home page from the report's records; `told` is what it says before all else."""
    ranked = sorted(report.modules, key=lambda module: module.rank)
    main = next(
        (module for module in ranked if report.main and module.key == report.main.module), None
    )
    return HomePage(
        title=f"XLA report: {_last_part(report.dump.path)}",
        lead=summary.lead if summary else words.lead(report),
        main=_main_card(report.main, main, report.modules) if report.main and main else None,
        answers=summary.answers if summary else (),
        findings=findings,
        ways=(*_way_to_trends(nightly=nightly), *_ways(report, main)),
        roles=prose(words.many(report)),
        many=_many(report),
        modules=tuple(row(module) for module in ranked[:_SHOWN]),
        more_modules=len(ranked) > _SHOWN,
        total_modules=len(ranked),
        facts=_facts(report),
        settings=tuple(_settings([setting for setting in settings if setting.by != _VERSIONS])),
        differing=tuple(_settings([setting for setting in settings if setting.by == _VERSIONS])),
        problems=len(report.problems),
    )


def row(module: ModuleRecord) -> ModuleRow:
    """Return a module as a row of a table."""
    known = [stage.instructions for stage in module.stages if stage.instructions is not None]
    return ModuleRow(
        name=words.label(module),
        key=module.key,
        address=navigation.address(navigation.module_page(module.slug)),
        role=module.role,
        first=known[0] if known else None,
        last=module.final.instructions,
        changed=module.changed_steps if module.steps else None,
    )


def _last_part(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1] or path


def _main_card(
    main: MainProgramRecord, module: ModuleRecord, modules: tuple[ModuleRecord, ...]
) -> MainCard:
    others = {module.key: row(module) for module in modules}
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
        address=navigation.address(navigation.module_page(module.slug)),
        grade="exact" if main.sureness == "marker" else "guessed",
        sureness=sentences.sureness(main.sureness),
        meaning=main.meaning,
        is_tie=main.tie,
        is_open=is_open,
        because=_because(main.reasons),
        reasons=main.reasons,
        runners_up=_named(doubtful, others),
    )


def _because(reasons: Sequence[str]) -> str:
    """Return the strongest evidence as a sentence, without its points."""
    counted = [reason for reason in reasons if _POINTS.search(reason) and _SECOND not in reason][
        :_REASONS
    ]
    result = [_POINTS.sub("", text).partition(" (")[0] for text in counted]
    return f"It {', '.join(result[:-1])} and {result[-1]}." if len(result) > 1 else ""


_SECOND = " as much as the one that "
_REASONS = 3
_POINTS = re.compile(r" \(\d+ of \d+ points?\)$")


def _named(keys: Sequence[str], rows: Mapping[str, ModuleRow]) -> tuple[RunnerUp, ...]:
    return tuple(RunnerUp(rows[key].name, rows[key].address) for key in keys)


def _way_to_trends(*, nightly: bool) -> tuple[Way, ...]:
    """Lead to the nights, where a history is kept."""
    question, answer = "Nightly trend", "Figures over time, with their changes."
    return (Way(question, answer, navigation.address(navigation.TRENDS)),) if nightly else ()


def _ways(report: ReportRecord, main: ModuleRecord | None) -> tuple[Way, ...]:
    modules = Way(
        "Which module is my program?",
        "All modules with their roles.",
        navigation.address(navigation.MODULES),
    )
    program = Way(
        "How are the modules connected?",
        "Data flow between modules, recompilations, and eager functions.",
        navigation.address(navigation.PROGRAM),
    )
    names = Way(
        "What do these file names mean?",
        "Every part of a file name, explained with files of this dump.",
        navigation.address(navigation.NAMES),
    )
    missing = Way(
        "What is in the dump, and what is missing?",
        "All files, how each was used, and flags for a richer dump.",
        navigation.address(navigation.COVERAGE),
    )
    if main is None:
        return (modules, program, names, missing)
    return (
        modules,
        *_ways_to_steps(main),
        *_ways_to_costs(main),
        *_way_to_signature(main),
        *_way_to_retraces(report),
        program,
        names,
        missing,
    )


def _ways_to_costs(main: ModuleRecord) -> tuple[Way, ...]:
    """Lead to what the main program costs, where it could be counted."""
    if main.final.instructions is None:
        return ()
    there = cost_addresses(main, navigation.HOME)
    asked: tuple[tuple[navigation.Part, str, str], ...] = (
        (
            "time",
            "Which instructions are slowest?",
            "Measured time by instruction, scope and source line.",
        ),
        ("cost", "What takes the time?", "Heaviest instructions, roofline, and findings."),
        (
            "memory",
            "What uses the memory?",
            "Buffers live at peak, and what to reduce.",
        ),
        ("source", "What does each source line cost?", "From source lines to final instructions."),
    )
    return tuple(
        Way(question, answer, there[part]) for part, question, answer in asked if part in there
    )


def _way_to_signature(main: ModuleRecord) -> tuple[Way, ...]:
    if main.final.instructions is None:
        return ()
    page = navigation.address(navigation.module_page(main.slug))
    address = f"{page}#inputs-and-outputs"
    return (
        Way(
            "What are its inputs and outputs?",
            "Parameters and results of the main program.",
            address,
        ),
    )


def _ways_to_steps(main: ModuleRecord) -> tuple[Way, ...]:
    """Lead to the steps of the main program and to histories, where the dump has any."""
    if not main.steps:
        return ()
    steps = navigation.address(navigation.module_page(main.slug, "steps"))
    words = "Every step with its HLO diff and graph."
    way = Way("What did each pass do?", words, steps)
    if not main.changed_steps:
        return (way,)
    page = navigation.address(navigation.module_page(main.slug))
    asked = "The pass that created an instruction, and the final instructions of an op_name."
    return (Way("Where did my op go?", asked, f"{page}#ask"), way)


def _way_to_retraces(report: ReportRecord) -> tuple[Way, ...]:
    """Lead to what was compiled more than once, where anything was."""
    if not report.retrace_groups:
        return ()
    page = navigation.address(navigation.PROGRAM)
    words = "Differences between compilations of one function."
    return (Way("Why was it compiled again?", words, f"{page}#compiled-more-than-once"),)


def _by_somebody_first(option: OptionOrigin) -> bool:
    return option.by != "somebody"


def _settings(choices: Sequence[OptionOrigin]) -> Iterator[SettingRow]:
    """Yield an option with all its values, those that somebody set first."""
    by_name: dict[str, list[OptionOrigin]] = defaultdict(list)
    for choice in sorted(choices, key=_by_somebody_first):
        by_name[choice.setting.name].append(choice)
    for name, options in by_name.items():
        known = flags.find(name)
        yield SettingRow(
            name=name,
            value=", ".join(option.setting.value for option in options) or "(empty)",
            by=_AUTHORS.get(options[0].by, options[0].by),
            grade=options[0].grade,
            reason=options[0].reason,
            words=prose(known.words if known else ""),
        )


_VERSIONS = "versions"
_AUTHORS = {
    "somebody": "a person or a script",
    _VERSIONS: "another version's default",
    **words.FRONTENDS,
}


def _many(report: ReportRecord) -> str:
    if len(report.modules) < 2:
        return ""
    result = (_MANY[frontend] for frontend in report.dump.frontends if frontend in _MANY)
    return " ".join(result) or "A program is compiled as one or more modules."


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


def _facts(report: ReportRecord) -> tuple[Fact, ...]:
    dump = report.dump
    frontends = ", ".join(words.frameworks(dump.frontends))
    backends = ", ".join(words.BACKENDS.get(backend, backend) for backend in dump.backends)
    return (
        Fact("Read from", dump.path),
        Fact("Framework", frontends or "not known"),
        Fact("Backend", backends or "not known"),
        Fact("Modules", units.count(len(report.modules))),
        Fact("Files", f"{units.count(dump.files)}, {units.byte_size(dump.bytes)}"),
        Fact("Report by", f"{report.generator.name} {report.generator.version}"),
    )
