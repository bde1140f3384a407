"""The page of one module of a comparison: figures, options, and where both are side by side."""

from dataclasses import dataclass

from markupsafe import Markup

from xlareport.pages import navigation, words
from xlareport.pages.compare.figures import FigureRow, figure_rows
from xlareport.pages.compare.times import TimesPart, times_part
from xlareport.pages.compare.views import ComparedView, ContrastView
from xlareport.pages.rendering.prose import prose
from xlareport.runtime import units

_NONE = "none"


@dataclass(frozen=True, slots=True)
class ComparedPage:
    """Everything on the page of one module."""

    name: str
    lead: Markup
    paired: str
    grade: str
    figures: tuple[FigureRow, ...]
    opcodes: tuple[tuple[str, int, int], ...]
    options: tuple[tuple[str, str, str], ...]
    ports: tuple[tuple[str, str, str], ...]
    only_base: tuple[str, ...]
    only_head: tuple[str, ...]
    contrasts: tuple[tuple[str, str, Markup], ...]
    """(label, address, headline)."""
    key: str
    times: TimesPart | None


def compared_page(compared: ComparedView) -> ComparedPage:
    """Make the page of one module."""
    return ComparedPage(
        name=words.short_name(compared.name),
        lead=prose(compared.divergence.sentence),
        paired=compared.paired,
        grade=compared.grade,
        figures=figure_rows(compared.figures),
        opcodes=compared.opcodes,
        options=tuple(
            (each.name, _option(each.base), _option(each.head)) for each in compared.options
        ),
        ports=tuple((each.what, each.base or _NONE, each.head or _NONE) for each in compared.ports),
        only_base=compared.only_base,
        only_head=compared.only_head,
        contrasts=tuple(
            (each.label, f"#step={each.id}", prose(_headline(each))) for each in compared.contrasts
        ),
        key=navigation.steps_key(compared.slug) if compared.contrasts else "",
        times=times_part(compared),
    )


def _headline(contrast: ContrastView) -> str:
    layouts = units.plural(
        contrast.layouts, "instruction has another layout", "instructions have another layout"
    )
    return f"{contrast.headline} {layouts}." if contrast.layouts else contrast.headline


def _option(value: str | None) -> str:
    return "default" if value is None else value
