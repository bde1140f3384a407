"""Devices as a small table: cells in the colors of their groups."""

from collections.abc import Sequence

from markupsafe import Markup
from msgspec import Struct

HUES = 6
"""Colors of the style sheet; its last one is gray and represents a rest."""


class DeviceCell(Struct, frozen=True):
    """One cell of a drawing."""

    text: str
    number: int | None = None
    """Of the group or part that it belongs to, which gives the color; None for no color."""
    title: str = ""


def draw_device_table(
    rows: Sequence[Sequence[DeviceCell]], columns: Sequence[str] = (), heads: Sequence[str] = ()
) -> Markup:
    """Return a table; `heads` has a name for each row, or is empty."""
    corner = Markup("<td></td>") if heads else Markup()
    top = Markup().join(Markup("<th>{}</th>").format(column) for column in columns)
    head = Markup("<thead><tr>{}{}</tr></thead>").format(corner, top) if columns else Markup()
    names = heads or [""] * len(rows)
    body = Markup().join(_table_row(name, row) for name, row in zip(names, rows, strict=True))
    return Markup('<table class="xr-devices">{}<tbody>{}</tbody></table>').format(head, body)


def _table_row(head: str, cells: Sequence[DeviceCell]) -> Markup:
    name = Markup('<th scope="row">{}</th>').format(head) if head else Markup()
    return Markup("<tr>{}{}</tr>").format(name, Markup().join(map(_cell, cells)))


def _cell(cell: DeviceCell) -> Markup:
    color = Markup()
    if cell.number is not None:
        color = Markup(' class="xr-hue-{}"').format(cell.number % HUES)
    title = Markup(' title="{}"').format(cell.title) if cell.title else Markup()
    return Markup("<td{}{}>{}</td>").format(color, title, cell.text)
