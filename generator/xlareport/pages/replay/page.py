"""The part on `replay --bisect` of the passes tab: a strip and a table of the snapshots."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.steps.numbers_changed import NumbersChanged
from xlareport.pages.navigation import Link
from xlareport.pages.rendering.environment import href, prose
from xlareport.pages.replay.strip import ReplayBar, replay_strip
from xlareport.pages.tables import Column, Table
from xlareport.readers.replay_result import ReplayedStage, ReplayResult
from xlareport.runtime import units


class ReplayPart(Struct, frozen=True):
    """The template's data on the runs."""

    strip: Markup
    verdict: Markup
    ran: str
    """How many snapshots ran, and how many of the dump are not in the result."""
    first: Link | None
    table: Table


def replay_part(
    result: ReplayResult,
    steps: Mapping[str, Link],
    numbers: Sequence[tuple[str, NumbersChanged]],
) -> ReplayPart:
    """Join the runs with the snapshots; `steps` are those of the dump by key, in order.

    `numbers` are the changes that may change numbers, by the key of the snapshot after them.
    """
    runs = {run.stage: run for run in result.stages}
    changes: dict[str, list[str]] = {}
    for key, change in numbers:
        changes.setdefault(key, []).append(
            f"{change.what}, {units.plural(change.count, 'instruction')}"
        )
    bars = [
        _bar(runs.get(key), link, result.tolerance, is_marked=key in changes)
        for key, link in steps.items()
    ]
    ran = _ran(result, steps)
    drawn = replay_strip(bars, result.tolerance, f"Relative error of each snapshot: {ran}")
    return ReplayPart(
        strip=Markup(drawn),  # noqa: S704 - escaped where it is drawn
        verdict=prose(result.verdict),
        ran=ran,
        first=steps.get(result.first) if result.first and result.is_confirmed else None,
        table=_table(runs, steps, result.tolerance, changes),
    )


def _bar(run: ReplayedStage | None, link: Link, tolerance: float, *, is_marked: bool) -> ReplayBar:
    ran = run is not None and run.ran
    error = run.error if run is not None else None
    return ReplayBar(
        error,
        ran=ran,
        is_beyond=ran and _is_beyond(error, tolerance),
        is_marked=is_marked,
        words=f"{link.name}: {_words(run)}",
        address=str(href(link.address)),
    )


def _is_beyond(error: float | None, tolerance: float) -> bool:
    return error is None or error > tolerance


def _words(run: ReplayedStage | None) -> str:
    if run is None:
        return "not in the result"
    if not run.ran:
        return f"not run: {run.reason}"
    return "not finite" if run.error is None else f"relative error {run.error:.2g}"


def _ran(result: ReplayResult, steps: Mapping[str, Link]) -> str:
    known = [run for run in result.stages if run.stage in steps]
    ran = sum(run.ran for run in known)
    words = f"{ran:,} of {units.plural(len(steps), 'snapshot')} ran with jaxlib {result.release}"
    others = len(result.stages) - len(known)
    return (
        f"{words}; {units.plural(others, 'snapshot')} of the result not in this dump"
        if others
        else words
    )


def _table(
    runs: Mapping[str, ReplayedStage],
    steps: Mapping[str, Link],
    tolerance: float,
    changes: Mapping[str, Sequence[str]],
) -> Table:
    columns = (
        Column("Snapshot", "link"),
        Column("Relative error", "text", "Largest of all outputs, against the first snapshot"),
        Column("ULP", "int", "Largest distance of all outputs, in units in the last place"),
        Column("Result", "text", "Against the tolerance, or why it did not run"),
        Column("Numerics-affecting changes", "text", "What the step before it changed"),
    )
    rows = []
    for key, link in steps.items():
        run = runs.get(key)
        ran = run is not None and run.ran
        error = "" if run is None or not ran else _error_text(run)
        ulp = run.ulp if run is not None else None
        rows.append(
            (
                [link.name, link.address],
                error,
                ulp,
                _outcome(run, tolerance),
                "; ".join(changes.get(key, ())),
            )
        )
    return Table(columns, rows)


def _error_text(run: ReplayedStage) -> str:
    return "not finite" if run.error is None else f"{run.error:.2g}"


def _outcome(run: ReplayedStage | None, tolerance: float) -> str:
    if run is None or not run.ran:
        return _words(run)
    return "beyond the tolerance" if _is_beyond(run.error, tolerance) else "within the tolerance"
