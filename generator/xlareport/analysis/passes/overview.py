"""The whole compilation of a module: busiest passes, passes without a change, oscillations.

The values travel between processes.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from xlareport import reader_table
from xlareport.analysis.cost.work import Costs
from xlareport.analysis.modules.summary import StepSummary
from xlareport.analysis.passes.growth import Growth, measure_growth
from xlareport.analysis.passes.pass_times import (
    FileTimes,
    PassTime,
    StepTime,
    estimate_file_times,
    estimate_step_times,
    find_pipelines,
    sum_pass_times,
)
from xlareport.analysis.steps.boundaries import START, Boundary, DumpMode, dump_mode
from xlareport.analysis.steps.numbers_changed import NumbersChanged
from xlareport.dump.modules import SnapshotFiles
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.program import ParsedModule
from xlareport.readers.pass_metadata import ModuleMetadata

_ALL_BYTES = 100_000.0
"""Weight of doubling the bytes accessed, and of partitioning: equal to a hundred fusions."""
_LEAST_SHARE = 0.001
"""Of the bytes accessed: a smaller change is none."""
_MOST_SHARE = 1.0
"""More than twice the bytes counts as twice."""
_MOST_REST = 0.5
"""Of a change: where less stays after the next one, that takes it back."""
_ANNOTATIONS = frozenset(
    {"frontend_attributes", "metadata", "origin", "original_value", "sharding"}
)
_LEAST_INSTRUCTIONS = 3
"""Instructions of a computation that is worth a word."""


class RepeatedState(Struct, frozen=True):
    """A state that an earlier snapshot had, but not every snapshot in between."""

    number: int
    """The index of the snapshot that has it again."""
    before: int
    """The index of the last earlier snapshot that had it."""
    computation: str | None
    """None for the module as a whole."""


def find_oscillations(modules: Sequence[HloModule]) -> tuple[RepeatedState, ...]:
    """Return repeated states: whole snapshots, else computations, by their text.

    Annotations alone, such as the shardings that a partitioner writes and removes, are no change.
    """
    agains = [again for again in _modules(modules) if _is_changed_between(modules, again)]
    numbers = {again.number for again in agains}
    agains += [
        again
        for again in _computations(modules)
        if again.number not in numbers and _is_changed_between(modules, again)
    ]
    return tuple(sorted(agains, key=lambda again: again.number))


def _is_changed_between(modules: Sequence[HloModule], again: RepeatedState) -> bool:
    now = modules[again.number]
    names = now.by_name if again.computation is None else (again.computation,)
    between = modules[again.before + 1 : again.number]
    return any(_differs(now, other, name) for other in between for name in names)


def _differs(module: HloModule, other: HloModule, name: str) -> bool:
    """Return whether a computation is another one in a second module, annotations aside."""
    here, there = module.by_name[name], other.by_name.get(name)
    if there is None or len(here.instructions) != len(there.instructions):
        return True
    pairs = zip(here.instructions, there.instructions, strict=True)
    return here is not there and any(
        first is not second and _content(first) != _content(second) for first, second in pairs
    )


def _content(line: Instruction) -> tuple[object, ...]:
    attributes = [entry for entry in line.attributes.items() if entry[0] not in _ANNOTATIONS]
    return line.name, line.opcode, line.shape.text, line.operands, line.argument, attributes


def _modules(modules: Sequence[HloModule]) -> Iterator[RepeatedState]:
    last: dict[tuple[Computation, ...], int] = {}
    for stage, module in enumerate(modules):
        key = module.computations
        if key in last and last[key] < stage - 1:
            yield RepeatedState(stage, last[key], None)
        last[key] = stage


def _computations(modules: Sequence[HloModule]) -> Iterator[RepeatedState]:
    last: dict[Computation, int] = {}
    for stage, module in enumerate(modules):
        for computation in module.computations:
            before = last.get(computation, stage)
            if before < stage - 1 and len(computation.instructions) >= _LEAST_INSTRUCTIONS:
                yield RepeatedState(stage, before, computation.name)
            last[computation] = stage


class PassChanges(Struct, frozen=True):
    """Everything that was seen to change when one pass had run."""

    name: str | None
    """None for the changes that no file ascribes to a pass."""
    steps: int
    """Steps that changed something."""
    certain: int
    """Steps in which no other pass ran."""
    added: int
    removed: int
    modified: int
    weight: float = 0.0
    """The effect of its steps, for ranking; no unit: see `weigh_steps`."""

    @property
    def changes(self) -> int:
        """Changes of any kind."""
        return self.added + self.removed + self.modified


def rank_busiest(
    between: Sequence[Boundary],
    steps: Sequence[StepSummary | None],
    weights: Sequence[float],
) -> tuple[PassChanges, ...]:
    """Return the passes that changed anything, those that did most first.

    `steps` has what led to each snapshot, None for the first, `weights` its weight.
    """
    busies: dict[str | None, PassChanges] = {}
    for boundary in between:
        step = steps[boundary.number]
        if step is not None and step.changed:
            former = busies.get(boundary.ran, PassChanges(boundary.ran, 0, 0, 0, 0, 0))
            busies[boundary.ran] = PassChanges(
                name=boundary.ran,
                steps=former.steps + 1,
                certain=former.certain + boundary.certain,
                added=former.added + step.added,
                removed=former.removed + step.removed,
                modified=former.modified + step.modified,
                weight=former.weight + weights[boundary.number],
            )
    return tuple(sorted(busies.values(), key=lambda busy: (-busy.weight, busy.name or "")))


class QuietPasses(Struct, frozen=True):
    """The passes that provably changed nothing."""

    passes: tuple[tuple[str, int], ...]
    """Names and runs, most runs first."""
    proof: str
    """The proof; if there are no such passes, why not."""


def find_idle_passes(
    stages: Sequence[SnapshotFiles], between: Sequence[Boundary], metadata: ModuleMetadata | None
) -> QuietPasses:
    """Return the passes that changed nothing in any of their runs."""
    if metadata is not None:
        inner = find_pipelines(metadata) | {START} | _suspects(between)
        quiet = [
            pass_time
            for pass_time in sum_pass_times(metadata)
            if not pass_time.changed and pass_time.name not in inner
        ]
        proof = "the compiler's metadata lists every run, with or without a change"
        return QuietPasses(_sorted((pass_time.name, pass_time.runs) for pass_time in quiet), proof)
    if dump_mode(stages).mode is not DumpMode.EVERY:
        return QuietPasses((), "the dump has no record of passes that reported no change")
    changed = {
        boundary.ran for boundary in between if not boundary.identical or not boundary.certain
    }
    runs: dict[str, int] = {}
    for boundary in between:
        if boundary.pipeline_start:  # inside a run that a later file ends
            continue
        if boundary.ran is not None and boundary.ran not in changed:
            runs[boundary.ran] = runs.get(boundary.ran, 0) + 1
    return QuietPasses(
        _sorted(runs.items()), "a file was written after every pass, and they are the same"
    )


def _suspects(between: Sequence[Boundary]) -> set[str]:
    """Return the passes of steps with a change that no pass reported."""
    return {
        name
        for boundary in between
        if not boundary.identical
        and boundary.ran is None
        and not any(changed for _, changed in boundary.inside)
        for name, _ in boundary.inside
    }


def _sorted(value: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(value, key=lambda item: (-item[1], item[0])))


class Overview(Struct, frozen=True):
    """A summary of the passes of a module. Snapshots are those that were read."""

    growth: tuple[Growth, ...]
    """The figures of each snapshot."""
    weights: tuple[float, ...]
    """The weight of the step to each snapshot, 0 for the first: see `weigh_steps`."""
    numbers: tuple[tuple[int, NumbersChanged], ...]
    """By the index of the snapshot after the step."""
    busiest: tuple[PassChanges, ...]
    again: tuple[RepeatedState, ...]
    idle: QuietPasses
    passes: tuple[PassTime, ...]
    """The longest first; empty where the compiler wrote no metadata."""
    pipelines: frozenset[str]
    """The passes that are pipelines."""
    span: int | None
    """Microseconds from the first start to the last end of a pass."""
    file_times: FileTimes | None
    step_times: tuple[StepTime | None, ...]
    """For each snapshot, the time since the previous one."""


def summarize_passes(
    module: ParsedModule,
    between: Sequence[Boundary],
    numbers: Sequence[tuple[int, NumbersChanged]],
    steps: Sequence[StepSummary | None],
    costs: Costs | None = None,
) -> Overview:
    """Return the overview of a module's steps; `between` has the boundaries, `steps` the changes.

    `costs` has the work that was counted already.
    """
    modules = [snapshot.hlo for snapshot in module.snapshots]
    metadata = module.side.of(reader_table.PASS_METADATA)
    growth = measure_growth(modules, costs or Costs())
    weights = weigh_steps(steps, growth)
    stages = [snapshot.stage for snapshot in module.snapshots]
    return Overview(
        growth=growth,
        weights=weights,
        numbers=tuple(numbers),
        busiest=rank_busiest(between, steps, weights),
        again=find_oscillations(modules),
        idle=find_idle_passes(stages, between, metadata),
        passes=sum_pass_times(metadata) if metadata else (),
        pipelines=find_pipelines(metadata) if metadata else frozenset(),
        span=metadata.span if metadata else None,
        file_times=estimate_file_times(module.files),
        step_times=estimate_step_times(stages, metadata),
    )


def weigh_steps(steps: Sequence[StepSummary | None], growth: Sequence[Growth]) -> tuple[float, ...]:
    """Return the weight of the step to each snapshot; 0 for the first, no unit.

    It is the work that the step's changes touch, and the relative change of the bytes accessed.
    What the next step takes back, as copies that one pass adds and another removes, does not count.
    Without figures for each snapshot, the changes alone count.
    """
    if not growth or len(growth) != len(steps):
        return tuple(step.weight if step else 0.0 for step in steps)
    shares = _lasting_shares(growth)
    partitioned = [False, *(old.partitions != new.partitions for old, new in pairwise(growth))]
    return tuple(
        step.weight + _ALL_BYTES * (share + is_partitioning) if step and step.changed else 0.0
        for step, share, is_partitioning in zip(steps, shares, partitioned, strict=True)
    )


def _lasting_shares(growth: Sequence[Growth]) -> list[float]:
    """Return the relative change of the bytes accessed by each step, as far as it stays."""
    shares = [0.0, *(bytes_share(old, new) for old, new in pairwise(growth))]
    changing = [number for number, share in enumerate(shares) if share]
    lasting = [min(abs(share), _MOST_SHARE) for share in shares]
    settled = -1
    for first, second in pairwise(changing):
        rest_share = bytes_share(growth[first - 1], growth[second])
        if first != settled and abs(rest_share) <= abs(shares[first]) * _MOST_REST:
            keeper = first if (rest_share > 0) == (shares[first] > 0) else second
            lasting[first], lasting[second] = 0.0, 0.0
            lasting[keeper] = min(abs(rest_share), _MOST_SHARE)
            settled = second
    return lasting


def bytes_share(before: Growth, after: Growth) -> float:
    """Return the relative change of the bytes accessed; 0 if unknown.

    0 also below a tenth of a percent, and for the partitioning step, which only moves work to other
    devices.
    """
    old, new = before.bytes_accessed, after.bytes_accessed
    if not old or new is None or before.partitions != after.partitions:
        return 0.0
    share = (new - old) / old
    return share if abs(share) >= _LEAST_SHARE else 0.0
