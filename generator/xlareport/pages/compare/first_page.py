"""The first page of a comparison: the answer, why, and what it means for the main program."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from xlareport.pages import words
from xlareport.pages.compare.figures import FigureRow, figure_rows, figures_differ
from xlareport.pages.compare.modules_table import TABLE, page_of
from xlareport.pages.compare.views import ComparedView, CompareView
from xlareport.pages.rendering.prose import prose
from xlareport.runtime import units

_LINKS = 3
"""Modules that a cause leads to."""
_PROBLEMS = 10


@dataclass(frozen=True, slots=True)
class CauseRow:
    """A cause with the pages that show it."""

    sentence: Markup
    grade: str
    links: tuple[tuple[str, str], ...]
    """(name, address)."""
    more: int


@dataclass(frozen=True, slots=True)
class ComparePage:
    """Everything on the first page."""

    lead: str
    base: str
    head: str
    causes: tuple[CauseRow, ...]
    main: str
    main_address: str
    figures: tuple[FigureRow, ...]
    counts: str
    key: str
    problems: tuple[str, ...]


def compare_page(view: CompareView) -> ComparePage:
    """Make the first page."""
    main = view.main
    shown = main is not None and main.has_page
    return ComparePage(
        lead=_lead(view),
        base=view.base.path,
        head=view.head.path,
        causes=tuple(_cause(view, place) for place in range(len(view.causes))),
        main=words.short_name(main.name) if main else "",
        main_address=page_of(main) if main and shown else "",
        figures=figure_rows(main.figures) if main else (),
        counts=_counts(view.modules),
        key=TABLE,
        problems=tuple(_problems(view)),
    )


def _problems(view: CompareView) -> Iterator[str]:
    for problem in view.problems[:_PROBLEMS]:
        yield f"{problem.path}: {problem.message}" if problem.path else problem.message
    if len(view.problems) > _PROBLEMS:
        yield f"And {len(view.problems) - _PROBLEMS} more, which compare.json lists."


def _lead(view: CompareView) -> str:
    if not view.modules:
        return "Neither of both holds a module."
    if any(module.bare for module in view.modules):
        changed = sum(module.bare and figures_differ(module) for module in view.modules)
        how_many = units.plural(len(view.modules), "module")
        return f"Only figures can be compared: of {how_many}, {changed} have other figures."
    if view.identical:
        return "Both are the same: no module differs, from its first snapshot to its last."
    differ = sum(not module.identical for module in view.modules)
    ends = sum(not module.same for module in view.modules)
    how_many = units.plural(len(view.modules), "module")
    verb = "differs" if differ == 1 else "differ"
    if not ends:
        return f"Of {how_many}, {differ} {verb} on the way or in options, and none in its code."
    end = "ends" if ends == 1 else "end"
    return f"Of {how_many}, {differ} {verb}, and {ends} {end} in different code."


def _counts(modules: Sequence[ComparedView]) -> str:
    pairs = [module for module in modules if module.base and module.head]
    same = sum(pair.same for pair in pairs)
    bare = all(pair.bare for pair in pairs)
    new, gone = (
        sum(module.base is None for module in modules),
        sum(module.head is None for module in modules),
    )
    of_them = "" if bare else f", {same} of them with the same code"
    parts = [f"{units.plural(len(pairs), 'module')} paired{of_them}"]
    parts += [f"{new} only in the head"] if new else []
    parts += [f"{gone} only in the base"] if gone else []
    return ", ".join(parts) + "."


def _cause(view: CompareView, place: int) -> CauseRow:
    cause = view.causes[place]
    wanted = set(cause.modules)
    members = [module for module in view.modules if (module.head or module.base) in wanted]
    members.sort(key=lambda member: not member.main)
    return CauseRow(
        sentence=prose(cause.sentence),
        grade=cause.grade,
        links=tuple(
            (words.short_name(member.name), page_of(member))
            for member in members[:_LINKS]
            if member.has_page
        ),
        more=max(0, len(members) - _LINKS),
    )
