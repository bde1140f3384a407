"""Reads `autotune_results.pbtxt`: what XLA's autotuner measured, and what it chose.

Source: OpenXLA, xla/autotune_results.proto and xla/autotuning.proto: `results` (version 3), and
before them `dots` and `convs`.
"""

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from xlareport.readers.textproto import Message, read_textproto
from xlareport.runtime.errors import Problem
from xlareport.runtime.whole_numbers import parse_whole_number

MOST_RESULTS = 500
"""Limit on stored results of one file."""
_ENTRIES = ("results", "dots", "convs")
_CHOICES = {
    "triton": "Triton",
    "gemm": "cuBLAS",
    "algorithm": "cuDNN",
    "conv": "cuDNN",
    "cuda_conv_plan": "cuDNN",
    "custom_kernel_fusion": "custom kernel",
}
_LONGEST_HLO = 1_000
_MOST_FIELDS = 40
_DURATION = re.compile(r"(\d{1,9})(?:\.(\d{1,9}))?s", re.ASCII)


class TuningResult(Struct, frozen=True):
    """The autotuner's choice for one instruction."""

    device: str
    hlo: str
    """The instruction, as a text of its own: it has no name there."""
    made_by: str
    """`Triton`, `cuBLAS`, `cuDNN`, `custom kernel`, or the name of another backend."""
    settings: Mapping[str, str]
    """Settings of the choice: `block_m`, `split_k`, `algorithm`, ...; `failure` without one."""
    nanoseconds: int | None
    """The measured time; None if unknown."""


def read_autotune_results(data: bytes, path: str) -> tuple[tuple[TuningResult, ...], list[Problem]]:
    """Return the results in the order of the file; none for one that holds its version alone."""
    message, problems = read_textproto(data, path)
    entries = [entry for name in _ENTRIES for entry in message.messages(name)]
    return tuple(map(_result, entries[:MOST_RESULTS])), problems


def _result(entry: Message) -> TuningResult:
    result = next(iter(entry.messages("result")), Message())
    name, chosen = _chosen(result)
    settings = dict(_settings(chosen)) if chosen else {}
    for failure in result.messages("failure"):
        settings["failure"] = failure.text("kind")[:40]
    return TuningResult(
        device=entry.text("device")[:200],
        hlo=entry.text("hlo")[:_LONGEST_HLO],
        made_by=settings.pop("name", "") if name == "other" else _CHOICES.get(name, ""),
        settings=settings,
        nanoseconds=_nanoseconds(result),
    )


def _chosen(result: Message) -> tuple[str, Message | None]:
    for name in (*_CHOICES, "other"):
        for message in result.messages(name):
            return name, message
    return "", None


def _settings(message: Message, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the fields of a choice; those of a message in it as `workspace_size.value`."""
    for name, values in list(message.fields.items())[:_MOST_FIELDS]:
        for value in values[:_MOST_FIELDS]:
            if isinstance(value, str):
                yield prefix + name, value[:100]
            elif set(value.fields) == {"key", "value"}:
                yield f"{prefix}{name}[{value.text('key')[:20]}]", value.text("value")[:100]
            elif not prefix:
                yield from _settings(value, f"{name}.")


def _nanoseconds(result: Message) -> int | None:
    """Return `run_time`, a Duration: `{seconds nanos}`, or `0.000012s` where it is a text."""
    for duration in result.messages("run_time"):
        parts = [parse_whole_number(duration.text(name) or "0") for name in ("seconds", "nanos")]
        seconds, nanos = parts
        return None if seconds is None or nanos is None else seconds * 10**9 + nanos
    match = _DURATION.fullmatch(result.text("run_time"))
    return int(match[1]) * 10**9 + int((match[2] or "0").ljust(9, "0")) if match else None
