"""Collective that sends a constant.

The operand of a collective is a constant, or one that is broadcast: every device could make it
itself. Such are the first hops of the rings with which the SPMD partitioner reduce-scatters the
result of a product (collective matmul, windowed einsum): they send accumulators that are zero.
Together, these collectives send 1 MiB or more per device, and 3% or more of the bytes of all
collectives. The upper bound of the gain is their exposed time.
"""

from collections.abc import Iterator

from xlareport.analysis.collectives.figures import CollectiveFigures
from xlareport.analysis.collectives.filled_values import find_filling
from xlareport.analysis.findings.finding import MEBIBYTE, Case, Finding, join_names
from xlareport.hlo.model import Instruction
from xlareport.runtime import units

LEAST_BYTES = MEBIBYTE
"""Sent per device."""
LEAST_SHARE = 0.03
"""Of what all collectives send per device."""
_RING = (
    " Where XLA made the ring, a collective in one piece sends none "
    "(--xla_tpu_enable_windowed_einsum_for_reduce_scatter=false)."
)


def constant_collectives(case: Case) -> Iterator[Finding]:
    """Report collectives whose operands are constants, together."""
    filled = [
        (figures, constant)
        for figures in case.collectives
        if figures.counted and (constant := _constant_of(case, figures)) is not None
    ]
    sent = sum(figures.sent_bytes for figures, _ in filled)
    whole = sum(figures.sent_bytes for figures in case.collectives)
    if not filled or sent < max(LEAST_BYTES, LEAST_SHARE * whole):
        return
    filled.sort(key=lambda item: -item[0].sent_bytes)
    first, constant = filled[0]
    exposed = sum(figures.exposed_seconds for figures, _ in filled)
    yield Finding(
        rule="constant-collectives",
        title="Collective that sends a constant",
        places=tuple(figures.collective.key for figures, _ in filled),
        evidence=(
            f"{join_names(figures.collective.instruction for figures, _ in filled)} "
            f"{'send' if len(filled) > 1 else 'sends'} a constant, so that the transfer is "
            f"needless: each element that `{first.collective.instruction}` sends is "
            f"{constant.argument.strip()} (`{constant.name}`). Together, "
            f"{units.byte_size(round(sent))} per device{_time_words(case, filled, exposed)}."
        ),
        suggestion=(
            "Make the constant on the device that receives it: begin a ring with the first value, "
            f"not with an empty sum.{_RING if case.backend == 'tpu' else ''}"
        ),
        grade="exact",
        weight=exposed,
        seconds=exposed or None,
    )


def _constant_of(case: Case, figures: CollectiveFigures) -> Instruction | None:
    """Return the constant that all operands of a collective consist of; None for others."""
    home = case.module.by_name[figures.collective.body[0]]
    operands = home.operands(home.by_name[figures.collective.body[1]])
    fillings = [find_filling(case.module, home, value) if value else None for value in operands]
    return fillings[0] if fillings and all(fillings) else None


def _time_words(
    case: Case, filled: list[tuple[CollectiveFigures, Instruction]], exposed: float
) -> str:
    """Return the modeled time of transfers, and how much of it is exposed."""
    seconds = sum((figures.time.seconds or 0) * figures.counted for figures, _ in filled)
    if not seconds:
        return ""
    share = case.share_words(seconds)
    return (
        f", {units.seconds(seconds)} by link bandwidth ({share}), "
        f"{units.seconds(exposed) if exposed else 'nothing'} of it exposed"
    )
