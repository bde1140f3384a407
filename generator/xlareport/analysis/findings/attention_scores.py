"""Attention scores are written to memory.

GPU and TPU. One matrix product, a softmax of its result, and a second product run in several
kernels, so that the scores, their softmax or their gradients are in the device memory between
them. They have a number for each pair of positions, and attention in one kernel keeps them on the
chip. Only data flow and shapes count, inside of fusions too: scores are a batch of matrices, not
much smaller than what they are computed from, and a maximum is subtracted before the exponential.
The finding appears if writing and reading them takes 3% or more of the roofline time, which is the
upper bound of the saving, except in the body of a loop: what it stacks for another loop, and the
gradients computed there, are not counted. What a loop, a collective or the caller needs too is
written in any case, and what a TPU keeps in VMEM does not count. The remedy depends on whether a
tanh caps the scores before the softmax.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from xlareport.analysis.code.decisions import LinkedDecisions
from xlareport.analysis.code.unfused_pairs import list_results
from xlareport.analysis.cost.phases import is_gradient
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.analysis.findings.result_traffic import ResultTraffic, weigh_result
from xlareport.analysis.findings.score_values import (
    find_attention_scores,
    has_capped_scores,
    is_ring,
)
from xlareport.hlo.graph import readers_behind
from xlareport.hlo.model import InstructionKey
from xlareport.hlo.opcode_groups import ALIASES
from xlareport.runtime import units

LEAST_SHARE = 0.03
"""Of the module's roofline time."""
_OF_GPU = (
    "Use fused attention, which keeps the scores on the chip: jax.nn.dot_product_attention with "
    'implementation="cudnn", or a Pallas kernel.'
)
_OF_TPU = (
    "Use a Pallas kernel of fused attention, which keeps the scores in VMEM: splash_attention or "
    "flash_attention of jax.experimental.pallas.ops.tpu."
)
_CAPPED_GPU = (
    "Use fused attention that caps the scores by a tanh, as this program does, such as a Pallas "
    "kernel, which keeps the scores on the chip. jax.nn.dot_product_attention has no such cap."
)
_CAPPED_TPU = (
    "Use a Pallas kernel of fused attention, which keeps the scores in VMEM: splash_attention of "
    "jax.experimental.pallas.ops.tpu with attn_logits_soft_cap, as a tanh caps these scores."
)
_OF_RING = (
    " In a ring, each step calls the kernel on its block of keys and values and merges output and "
    "logsumexp with those of the earlier steps; a jax.custom_vjp that saves only these sends the "
    "blocks around again for the gradients."
)
_BOUND = " The saving is an upper bound."
_STACKED = (
    " Not counted: what the loop stacks, and what another loop reads of that and computes as "
    "gradients. Fused attention can save that too."
)


def attention_scores(case: Case) -> Iterator[Finding]:
    """Report what writes scores of attention, their softmax or the gradients of either."""
    scores = list_score_traffic(case)
    if scores:
        yield _finding(case, scores)


def list_score_traffic(case: Case) -> Sequence[ResultTraffic]:
    """Return the traffic of the scores of attention; nothing where it is too little to report.

    CPUs have no kernel that would save it.
    """
    module = case.module
    has_softmax = any(line.opcode == "exponential" for line in module.instructions)
    if case.backend == "cpu" or not has_softmax:
        return ()
    names = dict.fromkeys(computation.name for computation, _, _ in case.scheduled)
    scores = {name: find_attention_scores(module, module.by_name[name]) for name in names}
    weighed = [
        traffic
        for computation, instruction, _ in case.scheduled
        if (elements := scores[computation.name].get(instruction.name)) is not None
        for result in list_results(computation, instruction, _as_selection(elements))
        if (traffic := weigh_result(case, computation, instruction, result, by_fusions=False))
        if traffic.moved
    ]
    is_much = case.is_noticeable(sum(traffic.saved for traffic in weighed), LEAST_SHARE)
    return weighed if is_much else ()


def _as_selection(elements: AbstractSet[int]) -> LinkedDecisions:
    """Return what selects elements of a result, all where there are none; no log is on them."""
    return LinkedDecisions((), "", dict.fromkeys(sorted(elements), ()) or None)


def _finding(case: Case, scores: Sequence[ResultTraffic]) -> Finding:
    seconds: dict[InstructionKey, float] = defaultdict(float)
    for traffic in scores:
        seconds[traffic.place] += traffic.saved
    saved, moved = sum(seconds.values()), sum(traffic.moved for traffic in scores)
    places = sorted(seconds, key=lambda place: (-seconds[place], place))
    first = next(traffic for traffic in scores if traffic.place == places[0])
    is_stacked = any(_is_stacked(case, place) for place in places)
    return Finding(
        title="Attention scores are written to memory",
        places=tuple(places),
        evidence=(
            f"{units.plural(len(places), 'producer')} {_of_what(case, places)}, by shape and data "
            f"flow. To write and read their results, {units.byte_size(moved)} in all executions, "
            f"takes {case.time_words(saved)}, which fused attention can save. Consumers of "
            f"`{first.place[1]}`: {join_names(first.users)}.{_STACKED if is_stacked else ''}"
        ),
        suggestion=(f"{_advice(case, places)}{_ring(case, places)}{'' if is_stacked else _BOUND}"),
        grade="matched",
        weight=saved,
        seconds=saved,
        is_partial=is_stacked,
    )


def _advice(case: Case, places: Sequence[InstructionKey]) -> str:
    """Return what computes the scores in one kernel, with a cap where the program has one."""
    homes = dict.fromkeys(name for name, _ in places)
    if any(has_capped_scores(case.module, case.module.by_name[name]) for name in homes):
        return _CAPPED_TPU if case.backend == "tpu" else _CAPPED_GPU
    return _OF_TPU if case.backend == "tpu" else _OF_GPU


def _of_what(case: Case, places: Sequence[InstructionKey]) -> str:
    """Return what the producers compute: gradients too if one of them has the op_name of one."""
    lines = (case.module.find(*place) for place in places)
    if any(line is not None and is_gradient(line, case.module) for line in lines):
        return "of scores, of their softmax or of their gradients"
    return "of scores or of their softmax"


def _is_stacked(case: Case, place: InstructionKey) -> bool:
    """Return whether the body of a loop writes a result into a part of a buffer, as a scan does."""
    home = case.module.by_name[place[0]]
    if home.is_entry:
        return False
    return any(
        line.opcode == "dynamic-update-slice"
        for user in readers_behind(home, place[1], ALIASES)
        for lines in ([user], *(body.instructions for body in case.module.callees(user)))
        for line in lines
    )


def _ring(case: Case, places: Sequence[InstructionKey]) -> str:
    """Return words for scores of keys that a collective-permute sends on in the body of a loop."""
    homes = dict.fromkeys(name for name, _ in places)
    bodies = [
        case.module.by_name[name]
        for name in homes
        if any(call.instruction.opcode == "while" for call in case.module.calls.get(name, ()))
    ]
    return _OF_RING if any(is_ring(case.module, body) for body in bodies) else ""
