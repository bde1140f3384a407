"""What stands below a picture: the notes, then the legend, both as wide as the picture.

The legends of the colour modes stand in the same place; the style sheet shows one of them.
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from xlareport.pictures.legend import LegendEntry, Section, sign
from xlareport.pictures.markup import number, text
from xlareport.pictures.style_values import sizes

_SIZES = sizes()
_PALETTES = {"heat": "h", "tint": "t"}


def footer_lines(
    notes: Sequence[str], sections: Iterable[Section], left: float, top: float, width: float
) -> tuple[list[str], float]:
    """Return the elements below a picture, from `top` on, and where they end."""
    columns = int((width - 2 * left) / _SIZES.legend_character)
    lines = [line for note in notes for line in textwrap.wrap(note, columns)]
    below = [
        f'<text class="note" x="{number(left)}" y="{number(top + 12 + _SIZES.legend_line * row)}">'
        f"{text(line)}</text>"
        for row, line in enumerate(lines)
    ]
    top += _SIZES.legend_line * len(lines) + 6
    ends = [top]
    for section in sections:
        elements, end = _section(section, left, top, width - left)
        below += elements
        if section.mode:
            ends.append(end)
        else:
            ends = [top := end]
    return below, max(ends) + 8


def _section(section: Section, left: float, top: float, right: float) -> tuple[list[str], float]:
    """Return the elements of a section and where they end."""
    placed = list(_flow(section.entries, left, right))
    entries = [_entry(entry, x, top + 12 + _SIZES.legend_line * row) for entry, x, row in placed]
    if section.mode and entries:
        entries = [f'<g class="legend of-{section.mode}">', *entries, "</g>"]
    return entries, top + _SIZES.legend_line * (placed[-1][2] + 1 if placed else 0)


def _flow(
    entries: Iterable[LegendEntry], left: float, right: float
) -> Iterator[tuple[LegendEntry, float, int]]:
    """Yield each entry with its place, beginning a new row where one would stand out."""
    x, row = left, 0
    for entry in entries:
        width = _SIZES.legend_swatch + _SIZES.legend_character * len(entry.words)
        if x > left and x + width > right:
            x, row = left, row + 1
        yield entry, x, row
        x += width + _SIZES.legend_gap


def _entry(entry: LegendEntry, x: float, y: float) -> str:
    place = f'x="{number(x + _SIZES.legend_swatch)}" y="{number(y)}"'
    return f'<g>{_swatch(entry, x, y)}<text class="note" {place}>{text(entry.words)}</text></g>'


def _swatch(entry: LegendEntry, x: float, y: float) -> str:
    place = f'x="{number(x)}" y="{number(y - 9)}" width="16" height="10"'
    if entry.kind == "families":
        return f'<rect class="f-{entry.name}" {place} rx="1"/>'
    if entry.kind in _PALETTES:
        return f'<rect class="{_PALETTES[entry.kind]}-{entry.name}" {place} rx="1"/>'
    if entry.kind == "edges":
        return f'<path class="e e-{entry.name}" d="M{number(x)} {number(y - 4)}h16"/>'
    mark = sign(entry.name)
    if not mark:
        return f'<g class="s-{entry.name}"><rect class="box frame" {place}/></g>'
    middle = number(x + 8)
    return (
        f'<circle class="sign-{entry.name}" cx="{middle}" cy="{number(y - 4)}" r="7"/>'
        f'<text class="on" x="{middle}" y="{number(y - 0.5)}">{mark}</text>'
    )
