"""The first sentences of the home page: an answer to each common question."""

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import isclose

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.cost.heavy import HeavyInstruction
from xlareport.analysis.cost.memory import DEFAULT_SPACE
from xlareport.analysis.cost_report.report import CostReport
from xlareport.analysis.dump import AnalyzedDump
from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.modules.module_role import HELPERS
from xlareport.pages import navigation, words
from xlareport.pages.cost.basis import on_chip_words, time_by_cycles_words
from xlareport.pages.cost.page import cost_addresses, devices_of
from xlareport.pages.cost.unknown_loops import iterations_words, named_loops
from xlareport.pages.home.time import TimeView, time_view
from xlareport.pages.memory.actions import list_reductions
from xlareport.pages.memory.analysis_line import analysis_line, padding_words
from xlareport.pages.program.ranks import rank_words
from xlareport.pages.rendering.environment import prose
from xlareport.records.cost import MemoryRecord, MemorySpaceRecord
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
    memory = _memory(record, module.cost)
    if memory:
        names = dict(_histories(record, _held_values(record)))
        names |= {finding.title: costs.get("cost", "") for finding in record.findings}
        advice = _memory_advice(module.cost, names)
        lines = [prose(line, names) for line in (*memory, advice) if line]
        words_of_memory = Markup("<br>\n").join(lines)
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
    message = f"{names} {accounts} for {share} {whole}{_work(cost, rows)}."
    whose = f" Per-device figures ({devices_of(module):,} partitions)." * (devices_of(module) > 1)
    text = f"{_whole(cost)}{message}{_uncounted(cost)}{whose}"
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


def _whole(cost: CostReport) -> str:
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


def _work(cost: CostReport, rows: Sequence[HeavyInstruction]) -> str:
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


def _memory(module: ModuleRecord, cost: CostReport | None) -> list[str]:
    """Return a line on the peak, and what is allocated with what `memory_analysis()` prints."""
    memory = module.cost.memory if module.cost else None
    peak, reserved = module.final.occupied_peak_bytes, module.final.allocated_bytes
    message = ""
    if peak is not None:
        message = f"Peak memory {units.byte_size(peak)}."
    elif memory is not None and memory.estimated_peak_bytes is not None:
        about = units.byte_size(memory.estimated_peak_bytes)
        message = f"Peak memory about {about}, guessed from the schedule."
    padding = padding_words(cost.memory) if cost is not None else ""
    message += _largest(memory, peak, padding) if memory is not None and message else ""
    allocated = "" if reserved is None else f"Allocated: {units.byte_size(reserved)}. "
    line = analysis_line(cost.memory, module.backend) if cost is not None else ""
    held = line if module.frontend == "jax" else _held(memory)
    return [line for line in (message, f"{allocated}{held}".strip()) if line]


def _memory_advice(cost: CostReport | None, titles: Container[str]) -> str:
    """Return the suggestion that saves the most memory; empty for none."""
    actions = list_reductions(cost.memory, titles) if cost is not None else []
    return f"To lower it: {actions[0]}" if actions else ""


def _held(memory: MemoryRecord | None) -> str:
    """Return the memory of one run in XLA's terms; `memory_analysis()` is a function of JAX."""
    held = memory.held if memory is not None else None
    if held is None:
        return ""
    reused = (
        f" ({units.byte_size(held.alias_bytes)} in argument memory)" if held.alias_bytes else ""
    )
    return (
        f"Buffer assignment: arguments {units.byte_size(held.argument_bytes)}, outputs "
        f"{units.byte_size(held.output_bytes)}{reused}, temp {units.byte_size(held.temp_bytes)}."
    )


_LEAST_SPACE = 0.01
"""Share of the peak of the device memory below which a space is not mentioned."""


_LEAST_HELD = 0.5
"""Share of the peak from which arguments and outputs are stated."""


def _largest(memory: MemoryRecord, peak: int | None, padding: str = "") -> str:
    """Name the largest buffer in use at the peak; of equals, a value that is live there."""
    if not memory.at_peak:
        return ""
    value = max(memory.at_peak, key=lambda row: (row.bytes, bool(row.live_at_peak)))
    alike = sum(other.bytes == value.bytes for other in memory.at_peak)
    used = {space.number: space for space in memory.spaces if space.peak_bytes}
    main = used.pop(DEFAULT_SPACE, None)
    of_main = f" of {main.name}" if main and used else ""
    least = _LEAST_SPACE * ((main.peak_bytes if main else 0) or 0)
    large = [space for space in used.values() if (space.peak_bytes or 0) >= least]
    others = "".join(map(_in_use, large))
    size = units.byte_size(value.bytes)
    name = f"`%{value.value}`"
    if value.argument and "`" not in value.argument:
        name = f"`{value.argument}` ({name})"
    many = f" (one of {alike} of this size)" if alike > 1 else ""
    held = _held_part(memory, peak, padding)
    return f"{held} Largest buffer at the peak{of_main}: {name}, {size}{many}.{others}"


def _held_values(record: ModuleRecord) -> list[str]:
    """Return the instructions whose values live at the peak."""
    at_peak = record.cost.memory.at_peak if record.cost else ()
    return [value.value for value in at_peak]


def _held_part(memory: MemoryRecord, peak: int | None, padding: str) -> str:
    """Return how much of the peak arguments and outputs hold, if it is most of it."""
    if memory.held is None or not peak:
        return ""
    size = memory.held.argument_bytes + memory.held.output_bytes - memory.held.alias_bytes
    if not _LEAST_HELD * peak <= size <= peak:
        return ""
    return f" Arguments and outputs hold {units.byte_size(size)} of it{padding}."


def _in_use(space: MemorySpaceRecord) -> str:
    most = units.byte_size(space.peak_bytes or 0)
    return f" Not counted in the peak: {space.name.partition(',')[0]}, at most {most} in use."


def _modules(report: ReportRecord) -> Answer:
    """Return the answer on other modules and on modules compiled more than once."""
    if len(report.outlines) == 1:
        return Answer("Other modules", prose("None."), "", "")
    ranks = [rank_words(report)] if len(report.ranks) > 1 else []
    message = " ".join([words.many(report), *_again(report), *_programs(report), *ranks])
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


def _programs(report: ReportRecord) -> Iterator[str]:
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
