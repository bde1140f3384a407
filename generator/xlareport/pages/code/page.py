"""The page on what a module's instructions became: thunks, kernels, machine code, decisions."""

from collections.abc import Iterator
from dataclasses import dataclass

from xlareport.analysis.code.files import CodeLink
from xlareport.analysis.code.units import ModuleCode
from xlareport.pages import navigation, words
from xlareport.pages.code.payload import MOST_UNITS
from xlareport.records.report import CodeRecord, ModuleView
from xlareport.runtime import units


@dataclass(frozen=True, slots=True)
class CodeSummary:
    """What the module's pages say of its code."""

    units: int
    """Instructions, computations and modules that have code or run by themselves."""
    files: int
    linked: int
    """Files of which it is known what they were made from."""
    thunks: int
    links: tuple[CodeRecord, ...]
    """Every file, for each of its kernels."""
    names: frozenset[str]
    """Of the instructions that the page shows."""
    left_out: int
    """Units beyond those that the page shows."""


@dataclass(frozen=True, slots=True)
class CodePage:
    """Everything on the page beside its data."""

    name: str
    lead: str
    key: str
    history_key: str | None
    steps_address: str
    unlinked: tuple[tuple[str, str], ...]
    more_unlinked: int


_LISTED = 200


def code_page(view: ModuleView, summary: CodeSummary) -> CodePage:
    """Make the page of one module."""
    source = navigation.code_page(view.slug)
    unlinked = [(one.path, one.reason) for one in summary.links if one.computation is None]
    return CodePage(
        name=words.short_name(view.name),
        lead=code_words(summary),
        key=navigation.code_key(view.slug),
        history_key=navigation.history_key(view.slug) if view.changed_steps else None,
        steps_address=navigation.address(navigation.steps_page(view.slug), source),
        unlinked=tuple(unlinked[:_LISTED]),
        more_unlinked=max(0, len(unlinked) - _LISTED),
    )


def code_words(summary: CodeSummary) -> str:
    """Say in a few sentences how much code there is and how much of it is linked."""
    said = []
    if summary.files:
        of = "" if summary.linked == summary.files else f"{units.count(summary.linked)} of "
        files = units.plural(summary.files, "file")
        are = "is" if summary.files == 1 else "are"
        said.append(f"{of}{files} of code {are} linked to what they were made from.")
    if summary.thunks:
        said.append(f"{units.plural(summary.thunks, 'thunk')} run in a fixed order.")
    if summary.left_out:
        said.append(f"{units.count(summary.left_out)} further instructions are left out here.")
    return " ".join(said)


def summary_of(code: ModuleCode) -> CodeSummary:
    """Return what the pages say of a module's code."""
    return CodeSummary(
        units=len(code.units),
        files=len(code.links),
        linked=len(code.links) - len(code.unlinked),
        thunks=len(code.thunks),
        links=tuple(record for one in code.links for record in _records(one)),
        names=frozenset(one.place[1] for one in code.units[:MOST_UNITS]),
        left_out=max(0, len(code.units) - MOST_UNITS),
    )


def _records(link: CodeLink) -> Iterator[CodeRecord]:
    if not link.places:
        yield CodeRecord(link.file.path, None, None, "guessed", link.reason)
    for one in link.places:
        name = one.instruction or None
        yield CodeRecord(link.file.path, one.computation, name, one.grade, one.reason)
