"""The measures by which modules are compared: work, memory, dots, and their relations."""

from array import array
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.modules.autotuning_pieces import AutotuningPieces, find_autotuning_pieces
from xlareport.analysis.modules.helper_modules import classify_helper
from xlareport.analysis.modules.module_links import link_modules
from xlareport.analysis.modules.module_role import ModuleRole
from xlareport.analysis.modules.processes import Processes, assign_processes, places_of
from xlareport.analysis.modules.recompilations import find_functions
from xlareport.analysis.modules.state import find_state_readers
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.storage.packed_keys import KeyedValues

_BYTES_PER_FLOP = 0.02
"""Bytes accessed per FLOP at equal time: a byte costs about 50 operations on any device."""

_BYTES_PER_STEP = 1e7
"""Bytes that memory transfers in the 7 microseconds of one factorization step on a GPU."""
_BYTES_PER_LAUNCH = 4e6
"""Bytes that memory transfers in the 3 microseconds that a GPU needs for an empty kernel."""
LAUNCHING = frozenset({"gpu", "tpu"})
"""Backends on which each kernel launch counts as work."""

_HELPED = {ModuleRole.RANDOM_NUMBERS: 0.0, ModuleRole.TRANSFER: 0.25, ModuleRole.EAGER_OP: 0.25}
"""Which part of its work and memory counts for a helper."""

_READING = 0.4
"""Weight of modules that only read a state: they may do more at once, and run less often."""


class Relations(Struct, frozen=True):
    """Links, processes and state shared between the modules of a dump."""

    summaries: Sequence[ModuleSummary]
    processes: Processes
    """The process that compiled each module, by its key."""
    sources: Mapping[str, int]
    """From how many modules before it a module takes results, by its key."""
    state_readers: Mapping[str, frozenset[str]]
    """Modules that read a module's state without returning it, by that module's key.

    Modules cut out of others for timing are not included.
    """
    weights: Mapping[str, float]
    """Which part of a module's work and memory counts, by its key."""
    pieces: AutotuningPieces
    """The modules that were cut out of other modules for autotuning."""
    functions: Sequence[Sequence[int]]
    """The indices of all modules of each function that was compiled several times."""

    @classmethod
    def of(
        cls, summaries: Sequence[ModuleSummary], processes: Processes | None = None
    ) -> "Relations":
        """Return the relations; links and states are guesses, processes default to folder names."""
        assigned = assign_processes(summaries) if processes is None else processes
        places = places_of(summaries)
        state_readers = find_state_readers(summaries)
        sources = array("q", bytes(8 * len(summaries)))
        for link in link_modules(summaries, assigned, keep=iter):
            sources[places[link.target]] += link.source != link.target
        readers = frozenset().union(*state_readers.values())
        weights, cut_out = array("d"), set[str]()
        pieces = find_autotuning_pieces(summaries)
        for summary in summaries:
            weights.append(_weight(summary, readers))
            if summary.files.key in readers and summary in pieces:
                cut_out.add(summary.files.key)
        programs = {key: keys - cut_out for key, keys in state_readers.items()}
        return cls(
            summaries,
            assigned,
            KeyedValues(places, sources),
            programs,
            KeyedValues(places, weights),
            pieces,
            find_functions(summaries, assigned, pieces),
        )


class Assumptions(Struct, frozen=True):
    """Assumed values for facts that the dump does not state."""

    trip_count: int = 100
    """How often a loop of unknown length runs."""
    hidden: float = 0.1
    """Assumed share of its maximum work that a custom call of unknown work does."""


class LargestFigures(Struct, frozen=True):
    """The largest value of each figure over all modules, for comparison."""

    assumed: Assumptions
    work: float
    busiest: str
    """The display name of the module with the most work."""
    matrices: float
    memory: float
    arguments: int
    changed: int
    text: int
    measured: float
    """See `longest_measured`."""
    hidden: int
    """Number of custom calls with unknown work in all modules."""
    has_open: bool
    """Whether some module has loops of unknown trip count."""
    relations: Relations

    @classmethod
    def of(
        cls, summaries: Sequence[ModuleSummary], assumed: Assumptions, relations: Relations
    ) -> "LargestFigures":
        """Measure all modules, in one pass over them."""
        work, busiest, matrices = 0.0, "", 0.0
        memory, arguments, changed, text, hidden = 0.0, 0, 0, 0, 0
        has_open = False
        measured = _LongestMeasured()
        for summary in summaries:
            own_work = measure_work(summary, assumed, relations)
            if own_work > work:
                work, busiest = own_work, summary.display_name
            matrices = max(matrices, measure_matrices(summary, assumed, relations))
            memory = max(memory, measure_memory(summary, relations))
            arguments = max(arguments, measure_arguments(summary, relations))
            changed = max(changed, summary.changed_steps)
            text = max(text, summary.text_bytes)
            hidden += summary.calls.hidden
            has_open = has_open or bool(summary.open_work)
            measured.add(summary)
        return cls(
            assumed=assumed,
            work=work,
            busiest=busiest,
            matrices=matrices,
            memory=memory,
            arguments=arguments,
            changed=changed,
            text=text,
            measured=measured.microseconds,
            hidden=hidden,
            has_open=has_open,
            relations=relations,
        )


class _LongestMeasured:
    """The most microseconds that a trace saw of modules."""

    def __init__(self) -> None:
        self._most = 0.0
        self._is_cut = False

    def add(self, summary: ModuleSummary) -> None:
        """Take the next module."""
        if summary.runs is not None:
            time = summary.runs.microseconds
            self._is_cut = self._is_cut or time is None
            self._most = max(self._most, time or 0.0)

    @property
    def microseconds(self) -> float:
        """The most; 0 without a trace, or where it cuts a module."""
        return 0.0 if self._is_cut else self._most


def longest_measured(summaries: Iterable[ModuleSummary]) -> float:
    """Return the most microseconds that a trace saw; 0 without one, or where it cuts a module."""
    measured = _LongestMeasured()
    for summary in summaries:
        measured.add(summary)
    return measured.microseconds


def measure_work(summary: ModuleSummary, assumed: Assumptions, relations: Relations) -> float:
    """Return the work as an equivalent in bytes, without the generation of random bits."""
    final, calls = summary.final, summary.calls
    counted = (final.bytes_accessed or 0) + _BYTES_PER_FLOP * (final.flops or 0)
    more = (assumed.trip_count - 1) * summary.open_work
    hidden = calls.hidden_bytes + _BYTES_PER_FLOP * assumed.hidden * calls.hidden_flops
    waiting = _BYTES_PER_STEP * calls.steps + _BYTES_PER_LAUNCH * summary.launches
    steps = waiting if summary.origin.backend in LAUNCHING else 0.0
    weight = relations.weights[summary.files.key]
    return (counted + more + hidden + steps) * (1 - _random_share(summary)) * weight


def _weight(summary: ModuleSummary, readers: frozenset[str]) -> float:
    role = classify_helper(summary)
    if role is not None:
        return _HELPED[role.name]
    return _READING if summary.files.key in readers else 1.0


def _random_share(summary: ModuleSummary) -> float:
    """Return which part of the operations makes random bits: they come with additions."""
    flops = summary.final.flops
    return min(1.0, 1.3 * summary.bit_flops / flops) if flops else 0.0


def measure_matrices(summary: ModuleSummary, assumed: Assumptions, relations: Relations) -> float:
    """Return the flops of matrix products, convolutions and libraries, as far as they count."""
    hidden = assumed.hidden * summary.calls.hidden_flops
    return (summary.matrix_flops + hidden) * relations.weights[summary.files.key]


def measure_arguments(summary: ModuleSummary, relations: Relations) -> int:
    """Return the bytes of the arguments of a program; 0 for helpers and autotuning pieces."""
    is_program = classify_helper(summary) is None and summary not in relations.pieces
    return summary.signature.argument_bytes if is_program else 0


def measure_memory(summary: ModuleSummary, relations: Relations) -> float:
    """Return the bytes that are allocated, else those of arguments and results, as they count."""
    arguments = summary.signature.argument_bytes + summary.signature.result_bytes
    return (summary.final.allocated_bytes or arguments) * relations.weights[summary.files.key]
