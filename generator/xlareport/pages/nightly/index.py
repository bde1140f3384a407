"""The first page of the nights: one row for each, the last one first."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from xlareport.pages.rendering.environment import environment
from xlareport.runtime.resources import find_resource


class Outcome(StrEnum):
    """How a night ended."""

    BASELINE = "baseline"
    KEPT = "kept"
    EXCEEDED = "exceeded"
    UNCHECKED = "not checked"
    CRASHED = "crashed"


class NightOutcome(Struct, frozen=True):
    """The outcome of a night."""

    night: str
    outcome: Outcome
    code: int
    """The exit code of the command."""
    sentence: str
    has_report: bool = True
    baseline: str | None = None
    """The night that it was compared with."""
    is_compared: bool = False


def index_page(outcomes: Sequence[NightOutcome], title: str, baseline: str | None) -> str:
    """Return the page that lists the nights."""
    shown = tuple(reversed(outcomes))
    return _render("nights.html.jinja", nights=shown, title=title, baseline=baseline)


def latest_page(outcomes: Sequence[NightOutcome], title: str) -> str:
    """Return the page that leads to the last night that has a report."""
    last = next((outcome.night for outcome in reversed(outcomes) if outcome.has_report), None)
    return _render("latest.html.jinja", night=last, title=title)


def _render(name: str, **values: object) -> str:
    return environment(find_resource("templates")).get_template(name).render(**values)
