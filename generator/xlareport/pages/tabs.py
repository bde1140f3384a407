"""The tabs of a module's page: each names its value, its page and its title in its own file."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.module import ModuleAnalysis
from xlareport.pages.large_figures import Figure
from xlareport.pages.pictures.requests import PictureView
from xlareport.pages.tables import PartPage
from xlareport.records.report import ModuleRecord

T = TypeVar("T")


class ShownModule(Struct, frozen=True):
    """The source of the values in the tabs of a module."""

    record: ModuleRecord
    analysis: ModuleAnalysis
    pictures: Sequence[PictureView] = ()


class ModuleTab(Struct, Generic[T], frozen=True):
    """A tab of a module's page. A fault in its page does not affect the others."""

    name: str
    """In its address, `m/x.md?cost`, and of its template."""
    value: Callable[[ShownModule], T | None]
    """Returns what the tab shows; a module without it has no such tab."""
    page: Callable[[ModuleRecord, T], PartPage]
    """Makes the record that the template shows, and its tables."""
    place: int
    """Among the tabs of a module, the smallest first: those that are used most."""
    wide: bool = False
    """Whether it takes the room of the sidebars."""
    title: str = ""

    @property
    def label(self) -> str:
        """The title of the tab."""
        return self.title or self.name.capitalize()


class TabSection(Struct, frozen=True):
    """A part of a tab that a script fills, with its heading and a paragraph before it."""

    key: str
    """The name of its table or payload."""
    heading: str = ""
    words: Markup | str = ""
    shows: str = "table"
    """The kind of its content, in the attribute `data-xr-KIND`."""


class PlainTab(PartPage, frozen=True):
    """A tab of sentences, figures and tables, which needs no template of its own."""

    heading: str
    sections: tuple[TabSection, ...]
    lead: str = ""
    muted: Markup | str = ""
    """A pale paragraph below the lead."""
    notes: tuple[Markup | str, ...] = ()
    """Further paragraphs."""
    figures: tuple[Figure, ...] = ()
