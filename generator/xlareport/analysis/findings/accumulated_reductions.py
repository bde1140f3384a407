"""Reduction in each iteration that could follow the loop.

A loop of known trip count executes an all-reduce or a reduce-scatter. The loop only adds the
results to its state and does not read these sums otherwise, as in gradient accumulation over
microbatches. One reduction of the sum after the loop sends the bytes of one iteration. The rule
also covers an inner loop, as over layers, that first stacks the results.

The gain is the exposed time, by link bandwidth, of all iterations but one. The finding appears if a
device sends at least 1 MiB less. Rounding changes, because the sums over devices and over
iterations change places.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.cost.loops import Loops
from xlareport.analysis.cost.shape_sizes import measure_data
from xlareport.analysis.findings.finding import MEBIBYTE, Case, Finding, join_names
from xlareport.analysis.findings.linear_flow import Flow, Tracks, condition_reads, follow, is_plain
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import REDUCING_COLLECTIVES
from xlareport.runtime import units
from xlareport.runtime.graphs import reachable

LEAST_BYTES = MEBIBYTE
"""That each device would send less, in all."""
_DEEPEST = 20
"""Loops around a collective that are followed."""
_ACCUMULATE = (
    "Accumulate the gradients of each device and reduce once: a `shard_map` around the loop with a "
    "`psum` after it, or an unreduced sharding of the state."
)
_OF_DERIVATIVE = "psum_invariant"
"""The primitive by which JAX sums the gradient of what all devices of a `shard_map` share."""
_PCAST = (
    "JAX makes such sums when it differentiates a `shard_map` (`psum_invariant`): cast what all "
    "devices share before the loop, with `jax.lax.pcast(x, AXES, to='varying')` inside the "
    "`shard_map`, and its gradient is summed over devices once, after the loop."
)
_MEMORY = (
    "The state then needs the memory of unreduced gradients, which is more where they were sharded."
)
_FORMS = frozenset({"synchronous", "start and done", "async computation"})


class _Loop(Struct, frozen=True):
    """A loop, where it is, and its body."""

    place: Computation
    instruction: Instruction
    body: Computation
    trips: int


class _Saving(Struct, frozen=True):
    """The saving of one reduction after the loop instead of one in each iteration."""

    figures: CollectiveFigures
    loops: tuple[_Loop, ...]
    """Those of several iterations that sum, the innermost first."""
    bytes: float
    seconds: float


def accumulated_reductions(case: Case) -> Iterator[Finding]:
    """Report reductions inside a loop of which only the sum over its iterations is used."""
    candidates = [
        figures
        for figures in case.collectives
        if figures.collective.kind in REDUCING_COLLECTIVES
        and figures.collective.form in _FORMS
        and (figures.executions or 0) > 1
        and _is_sum(case.module, figures)
    ]
    loops = _list_loops(case.module) if candidates else {}
    savings = [saving for figures in candidates if (saving := _saving(case, figures, loops))]
    savings.sort(key=lambda saving: (-saving.bytes, saving.figures.collective.key))
    if sum(saving.bytes for saving in savings) >= LEAST_BYTES:
        yield _finding(case, savings)


def _is_sum(module: HloModule, figures: CollectiveFigures) -> bool:
    line = module.find(*figures.collective.body)
    applied = module.callee(line, "to_apply") if line else None
    return bool(applied and applied.root and applied.root.opcode == "add")


def _is_of_derivative(case: Case, savings: Sequence[_Saving]) -> bool:
    """Return whether JAX made all reductions when it differentiated a `shard_map`.

    Combined ones have lost their op_name: then all that the program has in loops must be of these.
    """
    bodies = [case.module.find(*saving.figures.collective.body) for saving in savings]
    names = [body.metadata.op_name for body in bodies if body is not None]
    if not all(names) and case.before is not None:
        names += [name for name in _reductions_in_loops(case.before) if name]
    stated = [name for name in names if name]
    return bool(stated) and all(_OF_DERIVATIVE in name for name in stated)


def _reductions_in_loops(program: HloModule) -> Iterator[str]:
    """Yield the op_names of the reductions that the loops of a program execute."""
    called = {
        computation.name: [name for line in computation.instructions for _, name in line.called]
        for computation in program.computations
    }
    loops = [
        dict(line.called).get("body", "") for line in program.instructions if line.opcode == "while"
    ]
    for name in reachable(loops, lambda name: called.get(name, ())):
        inside = program.by_name.get(name)
        lines = inside.instructions if inside is not None else ()
        yield from (line.metadata.op_name for line in lines if line.opcode in REDUCING_COLLECTIVES)


def _list_loops(module: HloModule) -> Mapping[str, _Loop]:
    """Return the loops of known trip count by the name of their body."""
    counts, loops = Loops(module), {}
    for place, instruction in module.placed:
        if instruction.opcode == "while":
            body = module.callee(instruction, "body")
            trips = counts.trip_count(place, instruction).count
            if body is not None and trips is not None and len(body.parameters) == 1:
                loops[body.name] = _Loop(place, instruction, body, trips)
    return loops


def _saving(case: Case, figures: CollectiveFigures, loops: Mapping[str, _Loop]) -> _Saving | None:
    """Return what is saved outside of all loops that sum what a collective reduces."""
    collective = figures.collective
    line = case.module.find(collective.computation, collective.done or collective.instruction)
    loop = loops.get(collective.computation)
    if line is None or loop is None:
        return None
    parts = line.shape.members
    weights = {f"value {number}": measure_data(part) for number, part in enumerate(parts)}
    paths = [(number,) for number in range(len(parts))] if line.shape.elements else [()]
    seeds: dict[str, Flow] = {
        line.name: {path: frozenset({label}) for path, label in zip(paths, weights, strict=True)}
    }
    summing, shares = list[_Loop](), dict.fromkeys(weights, 1.0)
    for _ in range(_DEEPEST):
        if loop is None:
            break
        reached, summed = _carried(case.module, loop, seeds)
        for label in summed:
            shares[label] /= loop.trips
        summing += [loop] if summed and loop.trips > 1 else []
        flow: dict[tuple[int, ...], frozenset[str]] = {}
        for label, numbers in reached.items():
            for number in numbers:
                flow[number,] = flow.get((number,), frozenset()) | {label}
        alive = frozenset(reached)
        seeds = {**_without_others(seeds, alive), loop.instruction.name: flow}
        loop = loops.get(loop.place.name) if flow else None
    whole = sum(weights.values())
    saved = sum(size * (1 - shares[label]) for label, size in weights.items())
    part = saved / whole if whole else 0.0
    if not part:
        return None
    sent, exposed = figures.sent_bytes, figures.exposed_seconds
    return _Saving(figures, tuple(summing), sent * part, exposed * part)


def _without_others(seeds: Mapping[str, Flow], alive: frozenset[str]) -> Mapping[str, Flow]:
    """Return seeds with the labels that are followed on."""
    return {
        name: {path: labels & alive for path, labels in flow.items()}
        for name, flow in seeds.items()
    }


def _carried(
    module: HloModule, loop: _Loop, seeds: Mapping[str, Flow]
) -> tuple[Mapping[str, frozenset[int]], frozenset[str]]:
    """Return the elements of the state that each value reaches alone, and which values are summed.

    Such an element is read for nothing but itself: not by other instructions of the body, not by
    the condition.
    """
    spent = {str(number) for number in condition_reads(module, loop.instruction)}
    tracks = Tracks(module, spent=spent, inside=seeds)
    (state,) = loop.body.parameters
    own: Flow = {(number,): frozenset({str(number)}) for number in range(len(state.shape.elements))}
    root = follow(loop.body, {**seeds, state.name: own}, tracks, _steady_elements(loop))
    values = frozenset().union(*(labels for flow in seeds.values() for labels in flow.values()))
    reached = {}
    for value in values - tracks.spent:
        numbers = frozenset(path[0] for path, labels in root.items() if value in labels)
        if numbers and _keeps(root, values, numbers, tracks):
            reached[value] = numbers
    return reached, frozenset(reached) & frozenset(tracks.added - tracks.stacked)


def _keeps(root: Flow, values: frozenset[str], numbers: frozenset[int], tracks: Tracks) -> bool:
    """Return whether elements of the state hold their own earlier values and reach no other."""
    names = {str(number) for number in numbers}
    inside = all(
        str(path[0]) in labels and labels - values <= names
        for path, labels in root.items()
        if path[0] in numbers
    )
    outside = any(labels & names for path, labels in root.items() if path[0] not in numbers)
    return inside and not outside and not names & tracks.spent


def _steady_elements(loop: _Loop) -> list[str]:
    """Return the names of the loop's counters in its body: the same on each device."""
    before = loop.place.operand(loop.instruction)
    root = loop.body.root
    if before is None or root is None or "tuple" not in (before.opcode, root.opcode):
        return []
    return [
        element.name
        for element in loop.body.instructions
        if element.opcode == "get-tuple-element"
        and (number := element.taken_element) is not None
        and number < min(len(before.operand_names), len(root.operand_names))
        and is_plain(loop.place, before.operand_names[number])
        and _counts(loop.body, root.operand_names[number], element.name)
    ]


def _counts(body: Computation, name: str, element: str) -> bool:
    """Return whether a value is an element of the state plus a constant."""
    step = body.by_name.get(name)
    if step is None or step.opcode != "add" or element not in step.operand_names:
        return False
    return all(other == element or is_plain(body, other) for other in step.operand_names)


def _finding(case: Case, savings: list[_Saving]) -> Finding:
    first = savings[0]
    sent = sum(saving.figures.sent_bytes for saving in savings)
    seconds = sum(saving.seconds for saving in savings)
    names = join_names(saving.figures.collective.instruction for saving in savings)
    kinds = sorted({saving.figures.collective.kind for saving in savings})
    return Finding(
        title="Reduction in each iteration that could follow the loop",
        places=tuple(saving.figures.collective.key for saving in savings),
        evidence=(
            f"{names}: {units.byte_size(sent)} sent per device and module execution. One "
            f"{' or '.join(kinds)} of the sum after the loop saves "
            f"{units.byte_size(round(sum(saving.bytes for saving in savings)))} and "
            f"{units.seconds(seconds)} of exposed time. {_describe_loops(first.loops)} to its "
            "state, which its body reads for nothing else."
        ),
        suggestion=f"{_PCAST if _is_of_derivative(case, savings) else _ACCUMULATE} {_MEMORY}",
        grade="matched",
        weight=seconds,
        seconds=seconds,
    )


def _describe_loops(loops: Sequence[_Loop]) -> str:
    """Return which loops add up the results, with their trip counts, the innermost first."""
    inner, *outer = loops
    around = "".join(
        f" in each of {loop.trips:,} iterations of `{loop.instruction.name}`" for loop in outer
    )
    only = "; each loop only" if outer else " and only"
    return f"`{inner.instruction.name}` runs {inner.trips:,} times{around}{only} adds their results"
