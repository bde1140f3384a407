"""Differences of the autotuner's choices on two ranks, ignoring measured times."""

from collections.abc import Sequence

from xlareport.dump.modules import Artifact
from xlareport.readers.autotune_results import MOST_RESULTS, TuningResult, read_autotune_results

_RESULTS = "autotune_results"
_UNREAD = "not known: the results could not be read whole"
_MOST_CHARACTERS = 120
_Choices = dict[tuple[str, str], tuple[str, ...]]


def compare_tuning(base: Artifact, other: Artifact) -> str:
    """Return the first choice that differs; empty where all are the same; raises OSError.

    Logs of what was timed make no choice: those of two runs always differ. Of what cannot be read
    whole it is not known.
    """
    if base.name.stage != _RESULTS or other.name.stage != _RESULTS:
        return ""
    both = _read(base), _read(other)
    if None in both:
        return _UNREAD
    ours, theirs = (_choices(results or ()) for results in both)
    for key in [*ours, *(key for key in theirs if key not in ours)]:
        if ours.get(key) != theirs.get(key):
            _, hlo = key
            return (
                f"{_words(theirs.get(key))} for {_shown(hlo)}; most ranks: {_words(ours.get(key))}"
            )
    return ""


def _read(artifact: Artifact) -> Sequence[TuningResult] | None:
    """Return the results; None if they may be incomplete."""
    results, problems = read_autotune_results(artifact.entry.read(), artifact.path)
    return None if problems or len(results) >= MOST_RESULTS else results


def _choices(results: Sequence[TuningResult]) -> _Choices:
    """Return the choice for each instruction of a device."""
    return {
        (result.device, result.hlo): (
            result.made_by,
            *(f"{name}={value}" for name, value in sorted(result.settings.items())),
        )
        for result in results
    }


def _words(choice: tuple[str, ...] | None) -> str:
    return " ".join(filter(None, choice))[:_MOST_CHARACTERS] if choice else "none"


def _shown(hlo: str) -> str:
    """Return the instruction without its layout of lines, cut where it is long."""
    text = " ".join(hlo.split())
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
