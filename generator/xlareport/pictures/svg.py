"""A drawing and its layout as one SVG file that needs nothing else, and whose text is text.

Written by us from numbers and escaped strings: no script, no link, no font, no image, no id. The
page script writes the same (frontend/src/pictures/svg.js) from the records of
`pages.picture_record`. In it stand:

- `g.n[data-node]`: a box by its id, `g.g[data-node]` a frame; `data-e` of an arrow: the positions
  of its two boxes among all boxes
- `data-target` of these: what a click opens. `i=INSTRUCTION` asks for its details, `g=PART` for
  another picture
- `g.open[data-target]`: a mark that opens the picture `c=COMPUTATION` of what a box calls
- `data-modes` of the whole: what the colours can stand for, `opcode` first; a class changes it:
  `by-opcode`, `by-cost`, `by-time`, `by-memory`, `by-scope`, `by-sharding`. The legend and the
  marks of a mode (`.of-cost`) follow the class; boxes have `data-cost` and so on, the number of
  their colour

Where the pictures behind a target are, `pages.picture_levels` says.
"""

from collections.abc import Iterable, Iterator, Sequence

from xlareport.pictures.drawing import LEAVES, Box, Drawing, Group, Opening
from xlareport.pictures.edges import edge_elements
from xlareport.pictures.footer import footer_lines
from xlareport.pictures.layout import Layout, Rectangle
from xlareport.pictures.legend import legend, sign
from xlareport.pictures.markup import attribute, number, text
from xlareport.pictures.metrics import (
    BAR_HEIGHT,
    CHARACTER_WIDTH,
    LINE_HEIGHT,
    OPENING_WIDTH,
    STACK_OFFSET,
    shorten,
)
from xlareport.pictures.scales import Scale, scales
from xlareport.pictures.style import dark_rules, style_sheet
from xlareport.pictures.style_values import sizes

SIZE_LIMIT = 1_000_000
"""Bytes of one file; beyond it the tooltips are left out."""

_SIZES = sizes()


def svg_text(drawing: Drawing, layout: Layout, modes: Sequence[Scale] | None = None) -> str:
    """Return the SVG; the layout must be of this drawing.

    `modes` are those of drawings that are looked at together; without them it has its own.
    """
    modes = scales(drawing) if modes is None else modes
    whole = _document(drawing, layout, modes, tooltips=True)
    if len(whole.encode()) <= SIZE_LIMIT:
        return whole
    return _document(drawing, layout, modes, tooltips=False)


def _document(drawing: Drawing, layout: Layout, modes: Sequence[Scale], *, tooltips: bool) -> str:
    width = max(layout.width, _SIZES.narrowest) + 2 * _SIZES.margin
    top = layout.height + _SIZES.title_height + _SIZES.margin
    below, height = footer_lines(drawing.notes, legend(drawing, modes), _SIZES.margin, top, width)
    size = f"{number(width)} {number(height)}"
    left = (width - layout.width) / 2
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" class="xg by-opcode" role="img"'
        f' data-modes="{" ".join(("opcode", *(mode.mode for mode in modes)))}"'
        f' viewBox="0 0 {size}" width="{number(width)}" height="{number(height)}">'
    )
    return "\n".join(
        [
            head,
            f"<title>{text(drawing.title)}</title>",
            f"<desc>{text(_description(drawing))}</desc>",
            f"<style>{style_sheet(_families(drawing), modes)}{dark_rules()}</style>",
            '<rect class="paper" width="100%" height="100%"/>',
            _title(drawing.title, width),
            f'<g transform="translate({number(left)} {_SIZES.title_height:g})">',
            *map(_frame, drawing.groups, layout.groups),
            *edge_elements(drawing, layout),
            *map(_frame_title, drawing.groups, layout.groups),
            *(
                _node(*item, modes, tooltips=tooltips)
                for item in zip(drawing.nodes, layout.nodes, strict=True)
            ),
            "</g>",
            *below,
            "</svg>\n",
        ]
    )


def _description(drawing: Drawing) -> str:
    """Say in words how much is drawn and what is not."""
    counts = f"{len(drawing.nodes)} boxes, {len(drawing.edges)} arrows"
    return ". ".join((counts, *drawing.notes))


def _families(drawing: Drawing) -> set[str]:
    return {family for node in drawing.nodes for family in (node.family, *dict(node.mix))}


def _title(title: str, width: float) -> str:
    """Return the title above the picture, cut where it is wider."""
    columns = int((width - 2 * _SIZES.margin) / (CHARACTER_WIDTH * 14 / 12))
    return (
        f'<text class="title" x="{_SIZES.margin:g}" y="19">{text(shorten(title, columns))}</text>'
    )


def _frame(group: Group, box: Rectangle) -> str:
    size = f'width="{number(box.width)}" height="{number(box.height)}"'
    return (
        f'<g class="g g-{group.kind} s-{group.state}" data-node={attribute(group.id)}'
        f"{_target(group.target)}>"
        f'<rect class="frame" x="{number(box.x)}" y="{number(box.y)}" rx="6" {size}/></g>'
    )


def _frame_title(group: Group, box: Rectangle) -> str:
    """Return the title of a frame, which stands above the arrows."""
    title = shorten(group.title, max(3, int((box.width - 12) / CHARACTER_WIDTH)))
    return (
        f'<g class="gt"{_target(group.target)}>'
        f'<text class="b" x="{number(box.x + 8)}" y="{number(box.y + 13)}">{text(title)}</text>'
        f"{_sign(group.state, box.x, box.y)}</g>"
        f"{_openings(group.opens, box.x + box.width, box.y + box.height)}"
    )


def _sign(state: str, x: float, y: float) -> str:
    """Return the round sign of a state around a point; nothing for what stayed."""
    mark = sign(state)
    if not mark:
        return ""
    return (
        f'<circle class="sign-{state}" cx="{number(x)}" cy="{number(y)}" r="7"/>'
        f'<text class="on" x="{number(x)}" y="{number(y + 3.5)}">{mark}</text>'
    )


def _target(target: str | None) -> str:
    return f" data-target={attribute(target)}" if target else ""


def _node(node: Box, box: Rectangle, modes: Sequence[Scale], *, tooltips: bool) -> str:
    tooltip = f"<title>{text(node.tooltip)}</title>" if tooltips and node.tooltip else ""
    return (
        f'<g class="n n-{node.family} s-{node.state}" data-node={attribute(node.id)}'
        f"{_target(node.target)}{_levels(node, modes)}"
        f' transform="translate({number(box.x)} {number(box.y)})">'
        f"{tooltip}{''.join(_shapes(node, box))}{_lines(node, box)}{''.join(_marks(node, box))}"
        f"{_figures(node, box, modes)}</g>"
    )


def _levels(node: Box, modes: Iterable[Scale]) -> str:
    """Return the attributes with the colours of a box."""
    return "".join(
        f' data-{mode.mode}="{mode.levels[node.id]}"' for mode in modes if node.id in mode.levels
    )


def _figures(node: Box, box: Rectangle, modes: Iterable[Scale]) -> str:
    """Return what stands at the lower left corner of a box in each mode."""
    place = f'x="3" y="{number(_front(node, box)[1] + 3)}"'
    return "".join(
        f'<text class="mark of-{mode.mode}" {place}>{text(mode.marks[node.id])}</text>'
        for mode in modes
        if node.id in mode.marks
    )


def _openings(opens: Iterable[Opening], x: float, y: float) -> str:
    """Return the marks that open what is called, from a lower right corner to the left."""
    return "".join(
        f'<g class="open"{_target(opening.target)}'
        f' transform="translate({number(x - OPENING_WIDTH * place)} {number(y)})">'
        f"<title>{text(opening.words)}</title>"
        '<rect x="-8" y="-8" width="12" height="12" rx="2"/><path d="M-5-2h6M-2-5v6"/></g>'
        for place, opening in enumerate(opens)
    )


def _front(node: Box, box: Rectangle) -> tuple[float, float]:
    """Return the size of the rectangle that holds the text."""
    behind = STACK_OFFSET if node.shape == "stack" else 0.0
    return box.width - behind, box.height - behind


def _shapes(node: Box, box: Rectangle) -> Iterator[str]:
    """Yield the rectangle, with one behind it for several alike, and the bar of colours."""
    width, height = _front(node, box)
    round_corners = "2" if node.shape == "rect" else "7"
    size = f'width="{number(width)}" height="{number(height)}" rx="{round_corners}"'
    if node.shape == "stack":
        yield f'<rect class="box" x="{STACK_OFFSET:g}" y="{STACK_OFFSET:g}" {size}/>'
    yield f'<rect class="box" {size}/>'
    yield from _bar(node.mix, 8.0, width - 16, height - BAR_HEIGHT - 4)


def _bar(mix: Iterable[tuple[str, int]], x: float, width: float, y: float) -> Iterator[str]:
    """Yield one piece for each colour, as long as its share."""
    mix = tuple(mix)
    total = sum(count for _, count in mix)
    for family, count in mix:
        part = width * count / total
        yield (
            f'<rect class="mix f-{family}" x="{number(x)}" y="{number(y)}" width="{number(part)}"'
            f' height="{BAR_HEIGHT:g}"/>'
        )
        x += part


def _lines(node: Box, box: Rectangle) -> str:
    width, height = _front(node, box)
    bar = BAR_HEIGHT + 2 if node.mix else 0.0
    first = (height - bar - len(node.lines) * LINE_HEIGHT) / 2 + _SIZES.baseline
    x = number(width / 2)
    spans = [f'<tspan x="{x}" dy="{LINE_HEIGHT:g}">{text(line)}</tspan>' for line in node.lines[1:]]
    head = f'<tspan class="b" x="{x}" y="{number(first)}">{text(node.lines[0])}</tspan>'
    return f"<text>{head}{''.join(spans)}</text>"


def _marks(node: Box, box: Rectangle) -> Iterator[str]:
    """Yield the sign of a state, the badge and the mark that opens what is called."""
    yield _sign(node.state, 0, 0)
    yield _openings(node.opens, *_front(node, box))
    if node.badge:
        width = 5.6 * len(node.badge) + 6
        x = _front(node, box)[0] - width + 5
        size = f'width="{number(width)}" height="12" rx="6"'
        quiet = " quiet" if node.badge == LEAVES else ""
        yield f'<rect class="badge{quiet}" x="{number(x)}" y="-7" {size}/>'
        yield f'<text class="tag" x="{number(x + width / 2)}" y="2.5">{text(node.badge)}</text>'
