"""Reads the output of `replay --bisect --json`: differences from the first snapshot."""

import json
import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from xlareport.runtime.errors import Problem

_MOST_BYTES = 64_000_000
_MOST_STAGES = 100_000
_MOST_CHARACTERS = 2_000


class ReplayedStage(Struct, frozen=True):
    """A snapshot with the results of its run."""

    stage: str
    """Its key."""
    ran: bool
    reason: str
    """Why it did not run; empty where it did."""
    error: float | None
    """The largest relative error of its outputs; None where it is not finite, or nothing ran."""
    ulp: int | None
    """The largest distance of its outputs in units in the last place, where they have one."""


class ReplayResult(Struct, frozen=True):
    """The runs of the snapshots of a module on the CPU."""

    module: str
    """Its key."""
    release: str
    """Of jaxlib."""
    tolerance: float
    stages: tuple[ReplayedStage, ...]
    first: str | None
    """The stage at which the outputs change; None where no step is named."""
    is_confirmed: bool
    """Whether a second run of both sides had exactly the same difference."""
    verdict: str
    """In a sentence."""


def read_replay_result(data: bytes, path: str) -> tuple[ReplayResult | None, list[Problem]]:
    """Return the result in a document, or why there is none."""
    if len(data) > _MOST_BYTES:
        return None, [Problem(path, None, f"larger than {_MOST_BYTES:,} bytes")]
    try:
        document = json.loads(data)
        return _result(document), []
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        message = f"no result of `replay --bisect --json`: {type(error).__name__}"
        return None, [Problem(path, None, message)]


def _result(document: Mapping[str, Any]) -> ReplayResult:
    first = document["first"]
    stages = document["stages"]
    if not isinstance(stages, list) or len(stages) > _MOST_STAGES:
        raise ValueError("stages")
    return ReplayResult(
        module=_short_text(document["module"]),
        release=_short_text(document["jaxlib"]),
        tolerance=_figure(document["tolerance"]) or 0.0,
        stages=tuple(map(_stage, stages)),
        first=None if first is None else _short_text(first["stage"]),
        is_confirmed=first is not None and first["confirmed"] is True,
        verdict=_short_text(document["verdict"]),
    )


def _stage(document: Mapping[str, Any]) -> ReplayedStage:
    ulp = document["max_ulp"]
    is_count = isinstance(ulp, int) and not isinstance(ulp, bool) and 0 <= ulp < 1 << 65
    return ReplayedStage(
        stage=_short_text(document["stage"]),
        ran=document["ran"] is True,
        reason=_short_text(document["reason"]),
        error=_figure(document["max_relative_error"]),
        ulp=ulp if is_count else None,
    )


def _short_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value[:_MOST_CHARACTERS]


def _figure(value: object) -> float | None:
    """Return a figure of at least 0; None for none and for what is no finite number."""
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError("figure")
    try:
        figure = float(value)
    except OverflowError:
        return None
    return figure if math.isfinite(figure) and figure >= 0 else None
