"""The first sentences of the home page: an answer to each common question."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from math import isclose

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.cost.heavy import HeavyInstruction
from xlareport.analysis.cost_report.cost_report import CostReport
from xlareport.analysis.dump import AnalyzedDump
from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.modules.module_role import HELPERS
from xlareport.pages import navigation, words
from xlareport.pages.cost.basis import on_chip_words, time_by_cycles_words
from xlareport.pages.cost.page import cost_addresses, devices_of
from xlareport.pages.cost.unknown_loops import iterations_words, named_loops
from xlareport.pages.home.memory_answer import memory_lines
from xlareport.pages.home.time import TimeView, time_view
from xlareport.pages.program.rank_matrix import rank_words
from xlareport.pages.rendering.environment import prose
from xlareport.records.profile import ProfileRecord
from xlareport.records.report import ModuleRecord, ReportRecord
from xlareport.runtime import units
from xlareport.runtime.english import capitalize, listing

_HEAVIEST = 3
_TIE = 1e-3
"""By how much times differ, as a share, that count as equal."""
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
    return f"a {backend} like {device}" if grade == "matched" else backend


def _answers(
    report: ReportRecord, record: ModuleRecord, module: ModuleAnalysis
) -> Iterator[Answer]:
    costs = cost_addresses(record, navigation.HOME)
    yield _compiler(record, module)
    cost = _cost(record, module.cost) if module.cost else ""
    if cost:
        names = _histories(record, [row.instruction for row in _heavy(module.cost)])
        yield Answer("Cost", prose(cost, names), "All costs", costs.get("cost", ""))
    if record.measured is not None:
        names = _histories(
            record,
            [row.instruction for row in record.measured.slowest[:_HEAVIEST]],
        )
        words_of_time = prose(_time(record.measured), names)
        yield Answer("Measured time", words_of_time, "All times", costs.get("time", ""))
    memory = memory_lines(record, module.cost)
    if memory:
        at_peak = record.cost.memory.at_peak if record.cost else ()
        names = dict(_histories(record, [value.value for value in at_peak]))
        names |= {finding.title: costs.get("cost", "") for finding in record.findings}
        words_of_memory = Markup("<br>\n").join(prose(line, names) for line in memory)
        yield Answer("Memory", words_of_memory, "All memory", costs.get("memory", ""))
    yield _modules(report)


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


def _heavy(cost: CostReport | None) -> Sequence[HeavyInstruction]:
    return cost.heaviest[:_HEAVIEST] if cost else ()


def _cost(module: ModuleRecord, cost: CostReport) -> str:
    """Return the instruction with the most time, and its share of the work."""
    rows = [row for row in _heavy(cost) if row.share > 0]
    if not rows:
        return ""
    tied = _tied(cost)
    rows = list(tied or rows)
    names = _tied_words(tied) if tied else listing([f"`%{row.instruction}`" for row in rows])
    share = units.share(min(1.0, sum(row.share for row in rows)))
    accounts = "accounts" if len(rows) == 1 else "account"
    whole = "of it" if cost.by_cycles else "of roofline time"
    message = f"{names} {accounts} for {share} {whole}{_share_of_flops(cost, rows)}."
    whose = f" Per-device figures ({devices_of(module):,} partitions)." * (devices_of(module) > 1)
    text = f"{_whole_cost(cost)}{message}{_uncounted(cost)}{whose}"
    return capitalize(text) if words.is_whole(module) else f"Last snapshot: {text}"


def _tied(cost: CostReport) -> Sequence[HeavyInstruction]:
    """Return the heaviest instructions where more than are named need the same time.

    Those at the end of the list can have further equals: they are not counted.
    """
    first = cost.heaviest[0]
    seconds = first.seconds
    tied = [
        row
        for row in cost.heaviest
        if row.opcode == first.opcode and isclose(row.seconds, seconds, rel_tol=_TIE)
    ]
    return tied if _HEAVIEST < len(tied) < len(cost.heaviest) else ()


def _tied_words(rows: Sequence[HeavyInstruction]) -> str:
    """Return `16 all-reduces of 112 µs each`, with the names of the first."""
    kind = units.plural(len(rows), rows[0].opcode.removesuffix("-start"))
    names = sorted((row.instruction for row in rows), key=lambda name: (len(name), name))
    shown = ", ".join(f"`%{name}`" for name in names[:_HEAVIEST])
    more = len(rows) - _HEAVIEST
    return f"{kind} of {units.seconds(rows[0].seconds)} each ({shown} and {more:,} more)"


def _time(profile: ProfileRecord) -> str:
    """Return the number and length of the profiled runs, and the slowest instruction."""
    slowest = profile.slowest[:_HEAVIEST]
    names = listing([f"`%{row.instruction}`" for row in slowest])
    share = units.share(min(1.0, sum(row.share for row in slowest)))
    most = f" {names} took {share} of it." if slowest else ""
    if not profile.runs:
        return f"{units.seconds(profile.length / 1e6)} profiled.{most}"
    mean = units.seconds(profile.length / profile.runs / 1e6)
    runs = units.plural(profile.runs, "run")
    return f"{runs} profiled, {mean} {'on average' if profile.runs > 1 else 'long'}.{most}"


def _whole_cost(cost: CostReport) -> str:
    """Return how much one run does, and how long that takes at least on a device that is known."""
    done = []
    if cost.totals.flops:
        done.append(units.quantity(cost.totals.flops, "FLOP"))
    if cost.totals.bytes_accessed:
        done.append(f"{units.byte_size(cost.totals.bytes_accessed)} accessed")
    if cost.seconds and cost.device_grade != "guessed":
        like = "a device like " if cost.device_grade == "matched" else ""
        # Only GPUs have multiprocessors: each of their kernels is a launch.
        launches = " without launches" if cost.device.multiprocessors else ""
        time = f"roofline time {units.seconds(cost.seconds)}{launches}"
        done.append(f"{time} on {like}{cost.device.name}")
    least = f"{cost.totals.bound} " if cost.totals.bound else ""
    if not done:
        return ""
    figures = f"{least}{', '.join(done)} per execution."
    return f"{figures}{on_chip_words(cost)}{time_by_cycles_words(cost)} {_iterations(cost)}"


def _iterations(cost: CostReport) -> str:
    words = iterations_words(cost)
    return f"{words} " if words else ""


def _share_of_flops(cost: CostReport, rows: Sequence[HeavyInstruction]) -> str:
    """Return how much of the flops that can be counted some instructions do."""
    done = sum((row.cost.flops or 0) * row.cost.counted for row in rows)
    if not cost.totals.flops or not done:
        return ""
    counted = " that can be counted" if cost.totals.is_partial else ""
    return f" and {units.share(min(1.0, done / cost.totals.flops))} of the FLOPs{counted}"


def _uncounted(cost: CostReport) -> str:
    """Return a sentence on uncounted instructions, and how many of them are custom calls."""
    number = cost.totals.unknown_ops
    if not number:
        return ""
    loops = sum(loop.trip_count.count is None for loop in cost.loops)
    number, rest = max(0, number - loops), max(0, loops - named_loops(cost))
    more = "more " if rest < loops else ""
    once = f" {rest:,} {more}{_LOOPS[rest > 1]}: counted once." if rest else ""
    if not number:
        return once
    custom = sum(uncounted.opcode == "custom-call" for uncounted in cost.uncounted)
    if custom == number:
        return f" {units.plural(custom, 'custom call')} cannot be counted.{once}"
    of_them = f" ({units.plural(custom, 'custom call')} among them)" if custom else ""
    return f" {units.plural(number, 'instruction')} cannot be counted{of_them}.{once}"


_LOOPS = ("loop of unknown trip count", "loops of unknown trip count")


def _modules(report: ReportRecord) -> Answer:
    """Return the answer on other modules and on modules compiled more than once."""
    if len(report.outlines) == 1:
        return Answer("Other modules", prose("None."), "", "")
    ranks = [rank_words(report)] if len(report.ranks) > 1 else []
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
