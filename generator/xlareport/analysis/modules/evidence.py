"""The pieces of evidence that a module is the program, each with its weight in plain words.

A piece gives a module a share between 0 and 1 of the piece's weight. Work counts most, because a
program is what the machine spends its time on; names help and never decide.
"""

import math
from collections.abc import Callable

from msgspec import Struct

from xlareport.analysis.modules.helper_modules import classify_helper, is_own_function
from xlareport.analysis.modules.measures import (
    LAUNCHING,
    LargestFigures,
    measure_arguments,
    measure_matrices,
    measure_memory,
    measure_work,
)
from xlareport.analysis.modules.signature import has_parts
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.dump.module_names import explain_module
from xlareport.runtime import units


class Evidence(Struct, frozen=True):
    """One reason for a module as main program, with its share of the weight."""

    words: str
    weight: float
    share: float
    remark: str = ""
    """How that was counted."""
    compared: bool = False
    """Whether the share is relative to the module with the largest value."""

    @property
    def points(self) -> float:
        """Its contribution to the score."""
        return self.weight * self.share

    @property
    def is_second(self) -> bool:
        """Whether another module has a higher value."""
        return self.compared and self.share < 1


def _share(value: float, most: float) -> float:
    return value / most if most else 0.0


_SOFT = math.sqrt
"""How shares of work count: how often each module runs is not known, so that half is not half."""


def _of_most(verb: str, most: str, share: float) -> str:
    """Return a reason: `needs the most memory`, or how near the module comes to the first."""
    if share == 1:
        return f"{verb} {most}"
    return f"reaches {share:.0%} of the module that {verb} {most}"


def _by_work(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    """Return the evidence of the estimated work; its share is 0 if a trace has measured times."""
    estimate = 0.0 if most.measured else measure_work(summary, most.assumed, most.relations)
    share = _share(estimate, most.work)
    words = f"does the most work {_of_all(most)}"
    if share < 1:
        words = f"does {share:.0%} of the work of {_title(most.busiest)}, the most {_of_all(most)}"
    trips = (
        f"unknown trip counts assumed to be {most.assumed.trip_count:,}"
        if summary.open_work
        else _COUNTED
    )
    calls = f", {_calls(summary.calls.hidden)} estimated from the data that they take"
    hidden = calls if summary.calls.hidden else ""
    launches = (
        ", bytes and kernel launches" if summary.origin.backend in LAUNCHING else " and bytes"
    )
    remark = f"operations{launches}, {trips}{hidden}"
    return Evidence(words, 30, _SOFT(share), remark, compared=True)


def _title(name: str) -> str:
    return explain_module(name).display or name


_COUNTED = "loops multiplied by trip count"


def _of_all(most: LargestFigures) -> str:
    """Return which modules are compared: where calls cannot be counted, the most is an estimate."""
    if not most.hidden:
        return "of all modules"
    return f"of all modules by an estimate, since {_calls(most.hidden)} cannot be counted"


def _calls(number: int) -> str:
    return units.plural(number, "custom call")


def _by_open_loop(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    words = "has a while loop without a fixed trip count, as a solver or a simulation has"
    whole = summary.open_work * most.assumed.trip_count
    share = _share(whole, max(whole, measure_work(summary, most.assumed, most.relations)))
    return Evidence(words, 6, share * most.relations.weights[summary.files.key])


def _by_matrices(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    products = 0.0 if most.measured else measure_matrices(summary, most.assumed, most.relations)
    share = _share(products, most.matrices)
    which = ", as far as they can be counted" if most.hidden else ""
    words = _of_most("has", f"the most matmul and convolution FLOPs{which}", share)
    return Evidence(words, 18, _SOFT(share), compared=True)


def _by_input(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    share = _share(measure_arguments(summary, most.relations), most.arguments)
    words = _of_most("takes", "the largest arguments of all programs", share)
    words = f"{words}; an initializer takes almost none"
    return Evidence(words, 8, _SOFT(share), compared=True)


def _by_memory(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    share = _share(measure_memory(summary, most.relations), most.memory)
    words = _of_most("needs", "the most memory", share)
    return Evidence(words, 10, _SOFT(share), compared=True)


def _by_signature(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    del most
    returned, given = summary.signature.returned_arguments, len(summary.signature.arguments)
    share = min(1.0, returned / 4) if returned and given > 1 else 0.0
    results = units.plural(returned, "result")
    is_part = has_parts(summary.features.given, summary.signature)
    alike = f"of the same shape as arguments{' on each device' if is_part else ''}"
    words = f"returns {results} {alike}, as a training step does"
    return Evidence(words, 8, share)


def _by_donation(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    del most
    donated = sum(argument.donated for argument in summary.signature.arguments)
    message = units.plural(donated, "argument")
    words = f"donates {message}: their memory may be reused for results"
    return Evidence(words, 5, min(1.0, donated / 2))


def _by_arguments(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    del most
    many = len(summary.signature.arguments)
    return Evidence(
        f"takes {units.plural(many, 'argument')}, as programs with weights do", 5, min(1, many / 10)
    )


def _by_collectives(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    del most
    remark = units.plural(summary.collectives, "collective")
    share = min(1.0, float(summary.collectives))
    return Evidence("communicates with other devices", 4, share, remark)


def _by_source(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    del most
    lines = units.plural(summary.user_lines, "line")
    words = f"has call stacks through {lines} of the user's own source"
    return Evidence(words, 6, min(1.0, summary.user_lines / 8))


def _by_name(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    del most
    named = "step" in summary.display_name or "train" in summary.display_name
    words = f"is called {_title(summary.display_name)}, a usual name of a program"
    return Evidence(words, 3, 1.0 if named and not classify_helper(summary) else 0.0)


def _by_function(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    del most
    words = "has the name of a function in the source, not of a framework call"
    return Evidence(words, 3, 1.0 if is_own_function(summary) else 0.0)


def _by_executions(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    del most
    runs = summary.files.figures.snapshots
    words = f"was run {units.plural(runs, 'time')} while XLA dumped snapshots of its arguments"
    return Evidence(words, 3, 0.0 if classify_helper(summary) else min(1.0, runs / 4))


def _by_trace(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    """Return the evidence of a profile: measurements replace estimates."""
    if summary.runs is None:
        return Evidence("", _DECIDES, 0.0)
    microseconds = summary.runs.microseconds
    share = _share(microseconds or 0.0, most.measured)
    times = f" {units.plural(summary.runs.count, 'time')}" if summary.runs.count else ""
    whose = ", by itself or with others of its name" if summary.runs.shared else ""
    took = "the trace is cut" if microseconds is None else f"{microseconds / 1000:,.1f} ms in total"
    words = f"ran{times} in the profile{whose}, {took}"
    return Evidence(words, _DECIDES, share)


_DECIDES = 150
"""The weight of a measurement: more than all estimates together."""


def _by_sources(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    many = 0 if classify_helper(summary) else most.relations.sources.get(summary.files.key, 0)
    words = f"seems to take what {units.plural(many, 'module')} before it returned"
    return Evidence(words, 8, min(1.0, many / 2))


def _by_state_readers(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    many = len(most.relations.state_readers.get(summary.files.key, ()))
    verb = "reads" if many == 1 else "read"
    words = f"returns a state that {units.plural(many, 'other module')} only {verb}"
    return Evidence(words, 12, min(1.0, float(many)))


def _by_weights(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    del most
    embedded = summary.features.weights.bytes
    words = f"has {units.byte_size(embedded)} of constants, such as embedded weights or tables"
    many = embedded >= _WEIGHTS and not classify_helper(summary)
    return Evidence(words, 5, 1.0 if many and summary.matrix_flops else 0.0)


_WEIGHTS = 1 << 14
"""Bytes of constants that are taken for weights."""


def _by_changes(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    share = _share(summary.changed_steps, most.changed)
    return Evidence(
        f"was changed by {units.plural(summary.changed_steps, 'compiler step')}", 5, share
    )


def _by_text(summary: ModuleSummary, most: LargestFigures) -> Evidence:
    share = _share(summary.text_bytes, most.text)
    words = "has the largest final text" if share == 1 else "has a large final text"
    return Evidence(words, 4, share)


EvidenceRule = Callable[[ModuleSummary, LargestFigures], Evidence]
"""Returns the evidence of one kind for a module, relative to the largest figures of all."""

PIECES: tuple[EvidenceRule, ...] = (
    _by_work,
    _by_open_loop,
    _by_matrices,
    _by_input,
    _by_memory,
    _by_signature,
    _by_donation,
    _by_arguments,
    _by_collectives,
    _by_source,
    _by_name,
    _by_function,
    _by_executions,
    _by_trace,
    _by_sources,
    _by_state_readers,
    _by_weights,
    _by_changes,
    _by_text,
)
