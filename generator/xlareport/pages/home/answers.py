"""The first sentences of the home page: an answer to each common question."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.dump import AnalyzedDump
from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.modules.module_role import HELPERS
from xlareport.pages import navigation, words
from xlareport.pages.cost.page import cost_addresses
from xlareport.pages.home.cost_answer import MOST_NAMED, cost_lines, heaviest
from xlareport.pages.home.memory_answer import memory_lines
from xlareport.pages.home.time import TimeView, time_view
from xlareport.pages.program.rank_matrix import describe_rank
from xlareport.pages.rendering.environment import prose
from xlareport.records.profile import ProfileRecord
from xlareport.records.report import ModuleRecord, ReportRecord
from xlareport.runtime import units
from xlareport.runtime.english import listing

_BUSIEST = 2
_AGAIN = 3
_MOST_NAMES = 4


class Answer(Struct, frozen=True):
    """A question with its answer, and a link to the details."""

    label: str
    words: Markup
    link: str
    """The text of the link; empty if there is none."""
    address: str


class HomeSummary(Struct, frozen=True):
    """The first part of the home page."""

    lead: str
    """The content of the dump, in a sentence."""
    answers: tuple[Answer, ...] = ()
    """On the main program, as far as the dump has them."""
    time: TimeView | None = None
    """The division of its time; None if nothing was counted."""


def summarize_home(report: ReportRecord, dump: AnalyzedDump) -> HomeSummary:
    """Return the summary of the dump and of the main program."""
    place = report.main_place
    if place is None:
        return HomeSummary(words.lead(report))
    main = report.modules[place], dump.modules[place]
    answers = tuple(_answers(report, *main))
    return HomeSummary(_lead(report, *main), answers, time_view(main[1].cost, main[0].slug))


def _lead(report: ReportRecord, record: ModuleRecord, module: ModuleAnalysis) -> str:
    framework = " and ".join(words.frameworks((record.frontend,) if record.frontend else ()))
    program = f"A {framework} program" if framework else "A program of an unknown framework"
    form = ", apparently a training step," if module.is_training_step else ""
    return f"{program}{form} compiled for {_target(record)}: {words.extent(report)}."


def _target(module: ModuleRecord) -> str:
    """Return the target of a module, as specifically as the dump states it."""
    backend = words.BACKENDS.get(module.backend or "", module.backend or "an unknown backend")
    if module.backend_reason:
        return f"{backend}, judged by its passes"
    grade, device = (module.cost.device_grade, module.cost.device) if module.cost else ("", "")
    if grade == "exact":
        return device
    return f"a {backend} like {device}" if grade in ("matched", "others") else backend


def _answers(
    report: ReportRecord, record: ModuleRecord, module: ModuleAnalysis
) -> Iterator[Answer]:
    costs = cost_addresses(record, navigation.HOME)
    yield _compiler(record, module)
    cost = cost_lines(record, module.cost) if module.cost else []
    if cost:
        names = _histories(record, [row.instruction for row in heaviest(module.cost)])
        yield Answer("Cost", _lines(cost, names), "All costs", costs.get("cost", ""))
    if record.measured is not None:
        slowest = record.measured.slowest[:MOST_NAMED]
        names = _histories(record, [row.instruction for row in slowest])
        words_of_time = prose(_time(record.measured), names)
        yield Answer("Measured time", words_of_time, "All times", costs.get("time", ""))
    memory = memory_lines(record, module.cost)
    if memory:
        at_peak = record.cost.memory.at_peak if record.cost else ()
        names = dict(_histories(record, [value.value for value in at_peak]))
        names |= {finding.title: costs.get("cost", "") for finding in record.findings}
        yield Answer("Memory", _lines(memory, names), "All memory", costs.get("memory", ""))
    yield _modules(report)


def _lines(lines: Sequence[str], names: Mapping[str, str]) -> Markup:
    return Markup("\n").join(Markup("<p>{}</p>").format(prose(line, names)) for line in lines)


def _compiler(record: ModuleRecord, module: ModuleAnalysis) -> Answer:
    message = f"{words.journey(record)} {_busiest(module)}".rstrip()
    steps = navigation.module_address(record.slug, "steps") if record.steps else ""
    return Answer("Compilation", prose(message), "All steps", steps)


def _busiest(module: ModuleAnalysis) -> str:
    """Return the passes with the largest changes; a step is named after its last pass."""
    busies = module.overview.busiest if module.overview else ()
    names = [f"`{busy.name}`" for busy in busies if busy.name][:_BUSIEST]
    if len(busies) <= _BUSIEST or not names:
        return ""
    return f"Steps of most effect: {', '.join(names)}."


def _time(profile: ProfileRecord) -> str:
    """Return the number and length of the profiled runs, and the slowest instruction."""
    slowest = profile.slowest[:MOST_NAMED]
    names = listing([f"`%{row.instruction}`" for row in slowest])
    share = units.share(min(1.0, sum(row.share for row in slowest)))
    most = f" {names} took {share} of it." if slowest else ""
    if not profile.runs:
        return f"{units.seconds(profile.length / 1e6)} profiled.{most}"
    mean = units.seconds(profile.length / profile.runs / 1e6)
    runs = units.plural(profile.runs, "run")
    return f"{runs} profiled, {mean} {'on average' if profile.runs > 1 else 'long'}.{most}"


def _modules(report: ReportRecord) -> Answer:
    """Return the answer on other modules and on modules compiled more than once."""
    if len(report.outlines) == 1:
        return Answer("Other modules", prose("None."), "", "")
    ranks = [describe_rank(report)] if len(report.ranks) > 1 else []
    message = " ".join([words.many(report), *_again(report), *_other_programs(report), *ranks])
    where = navigation.address(navigation.PROGRAM)
    return Answer("All modules", prose(message), "Execution graph", where)


def _again(report: ReportRecord) -> Iterator[str]:
    """Name the functions that were compiled more than once, but for the framework's helpers."""
    modules = report.by_key
    groups = (
        group for group in report.retrace_groups if modules[group.modules[0]].role not in HELPERS
    )
    for group in islice(groups, _AGAIN):
        shared = {words.short_name(modules[key].name) for key in group.modules}
        name = shared.pop() if len(shared) == 1 else words.short_name(group.name)
        yield f"`{name}` was compiled {len(group.modules):,} times."


def _other_programs(report: ReportRecord) -> Iterator[str]:
    """Name the modules that play the main role as well, but those that are this one once more."""
    main = report.main
    if main is None or main.tie:
        return
    recompiled = (group.modules for group in report.retrace_groups)
    groups = chain(recompiled, (group.modules for group in report.rank_groups))
    same = {key for keys in groups if main.module in keys for key in keys} | {main.module}
    programs = [program.name for program in main.programs if program.module not in same]
    others = dict.fromkeys(f"`{words.short_name(name)}`" for name in programs)
    more = ["others"] if len(others) > _MOST_NAMES else []
    if others:
        what = "a main program" if len(others) == 1 else "main programs"
        yield f"{listing([*list(others)[:_MOST_NAMES], *more])} may be {what} too."


def _histories(module: ModuleRecord, names: Sequence[str]) -> Mapping[str, str]:
    """Return the address of each instruction's history, if the module has histories."""
    if not module.changed_steps:
        return {}
    page = navigation.module_address(module.slug)
    return {f"%{name}": f"{page}#i={name}" for name in names}
