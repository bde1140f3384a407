"""Reads `priority_fusion_dump.txt`: the decisions and refusals of the GPU fusion pass."""

from msgspec import Struct

from xlareport.readers.textproto import Message, read_textproto
from xlareport.runtime.errors import Problem


class FusionDecision(Struct, frozen=True):
    """A step of the fusion pass, in order."""

    kind: str
    """`fusion`, `producer_ineligible` or `update_priority`."""
    producer: str
    consumers: tuple[str, ...]
    fusion: str
    """The resulting fusion; empty if there is none."""
    reason: str
    """Why not; empty where the file does not say."""
    microseconds_fused: float | None
    """XLA's own estimate; None where the file does not say."""
    microseconds_unfused: float | None


def read_fusion_decisions(
    data: bytes, path: str
) -> tuple[tuple[FusionDecision, ...], list[Problem]]:
    """Read the decisions in order."""
    message, problems = read_textproto(data, path)
    fusion_decisions = tuple(
        _decision(kind, step)
        for steps in message.messages("fusion_steps")
        for kind in steps.fields
        for step in steps.messages(kind)
    )
    return fusion_decisions, problems


def _decision(kind: str, step: Message) -> FusionDecision:
    return FusionDecision(
        kind=kind,
        producer=step.text("producer_name"),
        consumers=step.texts("consumer_names") or step.texts("consumer_name"),
        fusion=step.text("fusion_name"),
        reason=step.text("reason"),
        microseconds_fused=step.number("us_fused"),
        microseconds_unfused=step.number("us_unfused"),
    )
