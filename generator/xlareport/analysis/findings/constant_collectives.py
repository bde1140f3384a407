"""Collective that sends a constant.

The operand of a collective is a constant, or one that is broadcast: every device could make it
itself. Such are the first hops of the rings with which the SPMD partitioner reduce-scatters the
result of a product (collective matmul, windowed einsum): they send accumulators that are zero. Or
the operand is computed of an iota, constants and the device's number, as are the indices that
lax.top_k sorts along with a sharded array. Together, the collectives of one of these kinds send 3%
or more of the bytes of all collectives, and 1 MiB or more per device; or 2% or more of the
module's time is exposed. The upper bound of the gain is their exposed time.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.collectives.filled_values import find_filling
from xlareport.analysis.findings.finding import MEBIBYTE, Case, Finding, join_names
from xlareport.analysis.findings.known_values import find_iota
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime import units

LEAST_BYTES = MEBIBYTE
"""Sent per device."""
LEAST_SHARE = 0.03
"""Of what all collectives send per device."""
LEAST_TIME = 0.02
"""Exposed, of the module's time; a few bytes have latency too, which this leaves out."""
_Sent: TypeAlias = list[tuple[CollectiveFigures, Instruction]]
_RING = (
    " Where XLA made the ring, a collective in one piece sends none "
    "(--xla_tpu_enable_windowed_einsum_for_reduce_scatter=false)."
)

_LOCAL_TOP = (
    "Compute it where it is read. The indices that lax.top_k or a sort of a sharded dimension "
    "sorts along are such values: take the top k of each device's part in shard_map, then of all "
    "of these, or reshard the values before, so that no device sorts a part of the dimension."
)


def constant_collectives(case: Case) -> Iterator[Finding]:
    """Report collectives whose operands are constants together, and those of an iota together."""
    filled, computed = _list_sent(case)
    for sent in (filled, computed):
        if sent and _is_worth(case, sent):
            yield _finding(case, sorted(sent, key=lambda item: -item[0].sent_bytes))


def _list_sent(case: Case) -> tuple[_Sent, _Sent]:
    """Return the collectives of constants, and those of iotas, each with its constant or iota."""
    filled: _Sent = []
    computed: _Sent = []
    for figures in case.collectives:
        if not figures.counted:
            continue
        if (constant := _of_all_operands(case, figures, find_filling)) is not None:
            filled.append((figures, constant))
        elif (iota := _of_all_operands(case, figures, find_iota)) is not None:
            computed.append((figures, iota))
    return filled, computed


def _is_worth(case: Case, collectives: _Sent) -> bool:
    """Return whether collectives send, or delay, enough to be reported."""
    sent = sum(figures.sent_bytes for figures, _ in collectives)
    is_long = case.has_order and case.share(_exposed(collectives)) >= LEAST_TIME
    return sent >= LEAST_SHARE * case.sent_bytes and (sent >= LEAST_BYTES or is_long)


def _exposed(collectives: _Sent) -> float:
    return sum(figures.exposed_seconds for figures, _ in collectives)


def _finding(case: Case, collectives: _Sent) -> Finding:
    is_constant = collectives[0][1].opcode == "constant"
    exposed = _exposed(collectives)
    sent = sum(figures.sent_bytes for figures, _ in collectives)
    return Finding(
        title=f"Collective that sends {'a constant' if is_constant else 'computable values'}",
        places=tuple(figures.collective.key for figures, _ in collectives),
        evidence=(
            f"{_words(collectives)}. Together, {units.byte_size(round(sent))} per "
            f"device{_time_words(case, collectives, exposed)}."
        ),
        suggestion=_advise(case) if is_constant else _LOCAL_TOP,
        grade="exact",
        weight=exposed,
        seconds=exposed or None,
    )


def _words(collectives: _Sent) -> str:
    """Return the first clauses of the evidence: what is sent."""
    figures, source = collectives[0]
    first = figures.collective.instruction
    names = join_names(figures.collective.instruction for figures, _ in collectives)
    verb = "send" if len(collectives) > 1 else "sends"
    if source.opcode == "constant":
        return (
            f"{names} {verb} a constant, so that the transfer is needless: each element that "
            f"`{first}` sends is {source.argument.strip()} (`{source.name}`)"
        )
    return (
        f"{names} {verb} what each device can compute itself, so that the transfer is needless: "
        f"what `{first}` sends is computed of an iota (`{source.name}`), constants and the number "
        "of the device"
    )


def _advise(case: Case) -> str:
    return (
        "Make the constant on the device that receives it: begin a ring with the first value, "
        f"not with an empty sum.{_RING if case.backend == 'tpu' else ''}"
    )


def _of_all_operands(
    case: Case,
    figures: CollectiveFigures,
    find: Callable[[HloModule, Computation, Instruction], Instruction | None],
) -> Instruction | None:
    """Return what all operands of a collective consist of, that of the first; None for others."""
    home = case.module.by_name[figures.collective.body[0]]
    operands = home.operands(home.by_name[figures.collective.body[1]])
    sources = [find(case.module, home, value) if value else None for value in operands]
    return sources[0] if sources and all(sources) else None


def _time_words(case: Case, collectives: _Sent, exposed: float) -> str:
    """Return the modeled time of transfers, and how much of it is exposed."""
    seconds = sum((figures.time.seconds or 0) * figures.counted for figures, _ in collectives)
    if not seconds:
        return ""
    share = case.share_words(seconds)
    return (
        f", {units.seconds(seconds)} by link bandwidth ({share}), "
        f"{units.seconds(exposed) if exposed else 'nothing'} of it exposed"
    )
