"""Why a collective is in a module: the step that inserted it and what that step needed it for."""

from collections.abc import Sequence

from xlareport.analysis.collectives.cause import CauseKind, CollectiveCause
from xlareport.analysis.collectives.cut_slices import CutSlices, find_cut_slices
from xlareport.analysis.collectives.find import Collective
from xlareport.analysis.collectives.halos import WINDOWED, find_edged, needs_edges
from xlareport.analysis.collectives.partial_results import (
    PART_OF_OPERANDS,
    PartialOp,
    contracted_cuts,
    find_partial_op,
    part_of,
    size_of_group,
)
from xlareport.analysis.collectives.partitioning import (
    Counterpart,
    Moved,
    PartitioningStep,
    ShardedValue,
    chain_back,
    consumer_of,
)
from xlareport.analysis.collectives.reshard_words import (
    describe_move,
    describe_resharding,
    find_merging_reshape,
)
from xlareport.analysis.collectives.selections import find_repeated_reduce, find_selection
from xlareport.analysis.collectives.sharding_effect import cuts_along
from xlareport.analysis.collectives.sharding_pair import (
    OF_PARTIAL,
    ShardingPair,
    make_pair,
    pair_of_value,
)
from xlareport.analysis.collectives.split_windows import (
    OF_DIVIDED_WINDOW,
    find_divided_window,
    find_part,
    sent_planes,
)
from xlareport.analysis.collectives.windowed_rings import Ring, find_ring
from xlareport.analysis.collectives.windowed_words import describe_ring, find_product
from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.site import parse_integers
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.opcode_groups import CONTRACTIONS, REDUCING_COLLECTIVES
from xlareport.knowledge.grades import Grade

_MOST_MADE = 16
"""Concatenations and selections between a collective and the op that it is made for."""
_WINDOWED = (
    "convolution",
    "reduce-window",
    "select-and-scatter",
    "pad",
    "concatenate",
    "slice",
    "dynamic-slice",
    "dynamic-update-slice",
    "reverse",
)


def explain_cause(
    step: PartitioningStep, collective: Collective, devices: int, member: Instruction | None = None
) -> CollectiveCause:
    """Return why partitioning put a collective in, by the snapshots before and after it.

    `member` is one of a combined collective, see `split_operands`.
    """
    home = step.after.by_name[collective.body[0]]
    body = member or home.by_name[collective.body[1]]
    ring = find_ring(step.after, home, body)
    if ring is not None:
        return _windowed(step, ring)
    return _explain(step, collective, devices, home, body)


def _explain(
    step: PartitioningStep,
    collective: Collective,
    devices: int,
    home: Computation,
    body: Instruction,
) -> CollectiveCause:
    """Explain a collective that is no hop of a collective matmul."""
    chain = chain_back(home, body)
    source = chain[-1] if chain else body
    if collective.kind in REDUCING_COLLECTIVES:
        return _explain_reduction(step, home, body, source)
    selection = find_selection(home, body) if collective.kind == "all-gather" else None
    if selection is not None:
        return _selected(step, body, selection)
    partial = find_repeated_reduce(home, body) if collective.kind == "all-gather" else None
    if partial is not None:
        return _explain_reduction(step, home, body, partial)
    slices = find_cut_slices(step, body)
    if slices is not None:
        return _sliced(step, slices)
    wanting = _wanting(step, home, body, source)
    is_edge = collective.kind == "collective-permute" and _is_edge(home, body)
    if wanting is not None and is_edge and _is_shifted(step, wanting, _op_name(body, source)):
        moved = Moved(home, body, tuple(chain))
        return _of_window(step, moved, wanting) or _halo(step, moved, wanting)
    return _resharding(step, Moved(home, body, tuple(chain)), wanting, devices)


def _windowed(step: PartitioningStep, ring: Ring) -> CollectiveCause:
    """Explain a hop of a collective matmul by its product."""
    product = find_product(step, ring)
    operands = tuple(step.operands(product.home, product.instruction)) if product else ()
    detail = describe_ring(step, ring, product)
    grade = product.grade if product is not None else Grade.MATCHED
    return CollectiveCause(CauseKind.WINDOWED, detail, operands, None, grade, _OF_RING)


def _selected(step: PartitioningStep, body: Instruction, selection: Instruction) -> CollectiveCause:
    """Explain a gather of candidates by the selection in the program."""
    selected = step.by_op_name(body.metadata.op_name, (selection.opcode, "sort"))
    operands = tuple(step.operands(selected.home, selected.instruction)) if selected else ()
    name = selected.instruction.name if selected else selection.name
    detail = (
        f"Gathers the candidates of `{name}`: each device selects among its part of the operand, "
        "and the final selection sorts these candidates alone."
    )
    return CollectiveCause(
        CauseKind.PARTIAL_RESULT, detail, operands, None, Grade.MATCHED, _OF_CANDIDATES
    )


def _sliced(step: PartitioningStep, slices: CutSlices) -> CollectiveCause:
    """Explain a move of parts by the slices along a sharded dimension that it is made for."""
    value, *_ = operands = tuple(step.operands(slices.home, slices.instructions[0]))
    after = slices.sharding(step)
    pair = make_pair(value.instruction, value.sharding, after, "resharding", Grade.MATCHED)
    detail = slices.describe(value.instruction)
    return CollectiveCause(CauseKind.RESHARDING, detail, operands, pair, Grade.MATCHED)


def _wanting(
    step: PartitioningStep, home: Computation, body: Instruction, source: Instruction
) -> Counterpart | None:
    """Return the op of the program that computes with the value that a collective moves.

    Where several ops have the name of the collective, its name does not identify one of them.
    """
    name = _op_name(body, source)
    user = _user(step, home, body, name)
    counterpart = step.counterpart(home, user) if user is not None else None
    if counterpart is not None and counterpart.instruction.metadata.op_name == name:
        return counterpart
    named = step.by_op_name(name, _WINDOWED)
    if named is not None and named.grade is Grade.GUESSED:
        named = _reader(step, home, body, name)
    return named or counterpart


def _reader(
    step: PartitioningStep, home: Computation, body: Instruction, name: str
) -> Counterpart | None:
    """Return the only op of a name that reads the value which a collective moves, if it is one."""
    links = (step.counterpart(home, link) for link in chain_back(home, body))
    value = next((link for link in links if link is not None), None)
    users = value.home.users.get(value.instruction.name, ()) if value else ()
    every = [user for user in users if user.metadata.op_name == name]
    return Counterpart(value.home, every[0], Grade.MATCHED) if value and len(every) == 1 else None


def _user(
    step: PartitioningStep, home: Computation, body: Instruction, name: str
) -> Instruction | None:
    """Return the user of a moved value, looking through instructions that partitioning inserted."""
    user = consumer_of(home, body)
    for _ in range(_MOST_MADE):
        if user is None or user.metadata.op_name != name or not step.is_inserted(user):
            break
        user = consumer_of(home, user)
    return user


def _op_name(body: Instruction, source: Instruction) -> str:
    return body.metadata.op_name or source.metadata.op_name


def _is_edge(home: Computation, body: Instruction) -> bool:
    """Return whether only a slice of the local value is sent."""
    operand = home.operand(body)
    while operand is not None and operand.opcode in ("bitcast", "copy", "convert", "reshape"):
        operand = home.operand(operand)
    return operand is not None and (
        operand.opcode in ("slice", "dynamic-slice")
        or (operand.opcode == "fusion" and "slice" in operand.name)
    )


def _is_shifted(step: PartitioningStep, wanting: Counterpart, op_name: str) -> bool:
    """Return whether the edges that are sent under an op_name can be those of an op's operand."""
    op = wanting.instruction
    if op.opcode not in _WINDOWED or op_name not in ("", op.metadata.op_name):
        return False
    return needs_edges(step, wanting.home, op)


def _explain_reduction(
    step: PartitioningStep, home: Computation, body: Instruction, source: Instruction
) -> CollectiveCause:
    """Explain a reduction over devices by the op whose partial results it adds up."""
    name = _op_name(body, source)
    wanting = step.counterpart(home, source)
    if wanting is None or name not in ("", wanting.instruction.metadata.op_name):
        wanting = step.by_op_name(name, _preferred(source)) or wanting
    partial = find_partial_op(step.after, home, body)
    group = size_of_group(step.after, body)
    if partial is not None and (wanting is None or wanting.grade is Grade.GUESSED):
        wanting = partial.counterpart(step)
        if wanting is None:
            return _of_partial(partial)
    if wanting is None:
        return _of_unknown(source)
    place, op = wanting.home, wanting.instruction
    operands = tuple(step.operands(place, op))
    divided = find_divided_window(step, wanting, source)
    kind, parted = _kind_of_sum(step, place, op)
    parts = partial.count_cuts(wanting, group) if partial is not None else 1
    cuts = group if group and group in (*parted, parts) else max(*parted, parts)
    sharding, reason = _pair_of_sum(step, op, operands)
    is_written = cuts in parted if cuts > 1 else kind is CauseKind.PARTIAL_RESULT
    proved = is_written and bool(operands)
    return CollectiveCause(
        kind=kind,
        detail=divided.describe_sum()
        if divided is not None
        else _SUMS[kind].format(
            name=op.name, opcode=op.opcode, cuts=_cuts_words(cuts), part=part_of(step, place, op)
        ),
        operands=operands,
        sharding=sharding,
        grade=_grade(wanting, proved=proved),
        sharding_reason=reason,
    )


def _of_partial(partial: PartialOp) -> CollectiveCause:
    """Explain a reduction by an op of the partitioned snapshot alone, under the same op_name."""
    op = partial.instruction
    kind = CauseKind.PARTIAL_SUM if op.opcode in CONTRACTIONS else CauseKind.PARTIAL_RESULT
    kind = CauseKind.PARTIAL_REDUCTION if op.opcode == "reduce" else kind
    opcode = f"{op.opcode}, after partitioning"
    detail = _SUMS[kind].format(
        name=op.name, opcode=opcode, cuts=_cuts_words(1), part=PART_OF_OPERANDS
    )
    return CollectiveCause(kind, detail, (), None, Grade.MATCHED, _NO_OP)


def _of_unknown(source: Instruction) -> CollectiveCause:
    detail = (
        f"Combines `{source.name}` over devices; its instruction before partitioning is not known."
    )
    return CollectiveCause(CauseKind.PARTIAL_RESULT, detail, (), None, Grade.GUESSED, _NO_OP)


def _grade(wanting: Counterpart, *, proved: bool) -> Grade:
    """Return how sure a cause is: that of the op, and exact only where its shardings say so."""
    if wanting.grade is Grade.GUESSED:
        return Grade.GUESSED
    return Grade.EXACT if proved else Grade.MATCHED


def _preferred(source: Instruction) -> Sequence[str]:
    if source.opcode in ("dot", "convolution", "reduce", "scatter", "gather"):
        return (source.opcode, *_ORDERED)
    return (*_ORDERED, "reduce", "gather", "scatter")


_ORDERED = ("dot", "convolution", "ragged-dot")
"""`CONTRACTIONS`, the most frequent first."""

_SUMS = {
    CauseKind.PARTIAL_SUM: (
        "Combines partial results of `{name}` ({opcode}): its contracting dimension is {cuts}."
    ),
    CauseKind.PARTIAL_REDUCTION: (
        "Combines partial results of `{name}` ({opcode}): a dimension that it reduces is {cuts}."
    ),
    CauseKind.PARTIAL_RESULT: ("Combines partial results of `{name}` ({opcode}): {part}."),
}
_OF_CANDIDATES = "candidates are gathered, not a value of the program"
_OF_RING = "a hop moves a part from device to device; all hops together gather or scatter"
_NO_OP = "the op that needs it has no counterpart before partitioning"
_MADE = "a value that the partitioner computes"
_NOT_WRITTEN = "the snapshot before partitioning does not write the shardings of its operands"
_NO_RESULT = "the snapshot before partitioning does not write the sharding of its result"


def _cuts_words(cuts: int) -> str:
    return f"sharded in {cuts:,}" if cuts > 1 else "sharded"


def _kind_of_sum(
    step: PartitioningStep, place: Computation, op: Instruction
) -> tuple[CauseKind, Sequence[int]]:
    """Return the cause, and the number of shards of each operand along contracted dimensions."""
    operands = place.operands(op)
    shardings = [step.sharding(operand) if operand else "" for operand in operands]
    try:
        if op.opcode in CONTRACTIONS:
            return CauseKind.PARTIAL_SUM, contracted_cuts(op, shardings)
        if op.opcode == "reduce" and shardings:
            dimensions = parse_integers(op.attributes.get("dimensions", ""))
            return CauseKind.PARTIAL_REDUCTION, (1, cuts_along(shardings[0], dimensions))
    except UncountableError:
        pass
    return CauseKind.PARTIAL_RESULT, (1,)


def _pair_of_sum(
    step: PartitioningStep, op: Instruction, operands: Sequence[ShardedValue]
) -> tuple[ShardingPair | None, str]:
    after = step.sharding(op)
    if not operands:
        return None, _NOT_WRITTEN
    if not after:
        return None, _NO_RESULT
    before = " · ".join(operand.sharding for operand in operands)
    return make_pair(op.name, before, after, OF_PARTIAL, Grade.EXACT), ""


def _of_window(
    step: PartitioningStep, moved: Moved, wanting: Counterpart
) -> CollectiveCause | None:
    """Explain a device's part of a divided window, which needs more than an edge."""
    op_name = wanting.instruction.metadata.op_name
    divided = find_divided_window(step, wanting, find_part(moved.home, moved.body, op_name))
    sent = sent_planes(divided, moved.body) if divided is not None else None
    if divided is None or sent is None:
        return None
    operands = tuple(step.operands(wanting.home, wanting.instruction))
    value = find_edged(step, moved, wanting.instruction) or operands[0].instruction
    detail = divided.describe_sent(value, sent)
    return CollectiveCause(
        CauseKind.SPLIT_WINDOW, detail, operands, None, Grade.MATCHED, OF_DIVIDED_WINDOW
    )


def _halo(step: PartitioningStep, moved: Moved, wanting: Counterpart) -> CollectiveCause:
    place, op = wanting.home, wanting.instruction
    operands = tuple(step.operands(place, op))
    value = find_edged(step, moved, op)
    named = [operand for operand in operands if operand.instruction == value]
    first = next(iter(named or operands), None)
    pair = (
        make_pair(first.instruction, first.sharding, first.sharding, "with halo", Grade.EXACT)
        if first
        else None
    )
    whose = f"`{value}`" if value else "an operand"
    how = "over which the window moves" if op.opcode in WINDOWED else "in which the op shifts it"
    detail = (
        f"`{op.name}` ({op.opcode}) needs the edge of {whose} that a neighbor holds: this "
        f"operand is sharded along a dimension {how}."
    )
    reason = "" if pair else _NOT_WRITTEN
    grade = _grade(wanting, proved=first is not None and op.opcode == "convolution")
    return CollectiveCause(CauseKind.HALO, detail, operands, pair, grade, reason)


def _resharding(
    step: PartitioningStep,
    moved: Moved,
    wanting: Counterpart | None,
    devices: int,
) -> CollectiveCause:
    source = moved.chain[-1] if moved.chain else moved.body
    pair = pair_of_value(step, moved, wanting, devices)
    operands = tuple(step.operands(wanting.home, wanting.instruction)) if wanting else ()
    if pair is None:
        detail = describe_move(
            moved.body, source, wanting, is_made=step.is_without_counterpart(moved)
        )
        reason = _MADE if step.is_without_counterpart(moved) else _NOT_WRITTEN
        return CollectiveCause(CauseKind.RESHARDING, detail, operands, None, Grade.MATCHED, reason)
    kind = moved.body.opcode.removesuffix("-start")
    detail = describe_resharding(step, pair, wanting, kind)
    grade = Grade.EXACT if pair.grade is Grade.EXACT and pair.to else Grade.MATCHED
    reshape = find_merging_reshape(step, pair, wanting)
    name = reshape.name if reshape is not None else ""
    return CollectiveCause(
        CauseKind.RESHARDING, detail, operands, pair, grade, merging_reshape=name
    )
