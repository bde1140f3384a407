"""The style sheet inside every picture: it looks right alone, and a page can change its colours.

Every colour is a custom property with the light value as its fallback: `--xg-white`,
`--xg-white-line`, `--xg-white-text`, `--xg-added`, `--xg-paper`, `--xg-ink`, `--xg-faint`,
`--xg-frame`, `--xg-frame-line`, `--xg-edge`, `--xg-edge-thin`, `--xg-heat-0`, `--xg-tint-0`, ...
A page that sets them, for its dark scheme, changes the pictures that stand in it; a file of its own
has rules for a dark system, which stay out of pages.

The class of the whole, `by-opcode` or another mode, says what the colours stand for.
"""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files

from xlareport.knowledge import colours
from xlareport.pictures.scales import Scale

_BASE = """\
.xg{font:12px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,"Liberation Mono",monospace}
.xg text{fill:var(--xg-ink,#1f2328)}
.xg .paper{fill:var(--xg-paper,#fff)}
.xg .b{font-weight:700}
.xg .n text{text-anchor:middle}
.xg .n>.box{stroke-width:1.2}
.xg .frame{fill:var(--xg-frame,#8c959f1f);stroke:var(--xg-frame-line,#8c959f)}
.xg .gt .b{paint-order:stroke;stroke:var(--xg-paper,#fff);stroke-width:3px}
.xg .title{font-weight:700;font-size:14px}
.xg .note,.xg .small{fill:var(--xg-faint,#59636e);font-size:11px}
.xg .small{font-size:9px}
.xg .e{fill:none;stroke:var(--xg-edge,#6e7781);stroke-width:1.2}
.xg .e-thin{stroke:var(--xg-edge-thin,#afb8c1);stroke-width:1}
.xg .e-control{stroke:var(--xg-edge,#6e7781);stroke-dasharray:2 3}
.xg .badge{fill:#6d4c41;stroke:none}
.xg .quiet{fill:#8c959f}
.xg .open rect{fill:var(--xg-paper,#fff);stroke:var(--xg-edge,#6e7781)}
.xg .open path{stroke:var(--xg-ink,#1f2328);stroke-width:1.2}
.xg [data-target]{cursor:pointer}
.xg .legend,.xg .mark{display:none}
.xg .mark{font-size:9px;font-weight:700;paint-order:stroke;stroke:var(--xg-paper,#fff);\
stroke-width:3px}
.xg .n>.mark{text-anchor:start}
"""

# What wins over the families, therefore behind them.
_LAST = """
.xg .s-context>.box{fill:var(--xg-paper,#fff)}
.xg .s-context>text{fill:var(--xg-faint,#59636e)}
.xg text.on,.xg text.tag{font-size:9px;font-weight:700;text-anchor:middle}
.xg text.on,.xg .n text.on{fill:var(--xg-paper,#fff)}
.xg .n text.tag{fill:#fff}
"""

_STATES = {
    "added": ("#1a7f37", "none"),
    "removed": ("#cf222e", "7 3"),
    "changed": ("#9a6700", "2 2"),
}


_HEAT = ("#fff3dc", "#fdd9a0", "#fdb45f", "#f07f3c", "#c8431f", "#8f1d14")
_DARK_HEAT = 4
"""The colour from which on text is white."""
_TINTS = (
    *("#b3cde8", "#fbcf9d", "#bfe3b4", "#f4b6b3", "#d9c3e6"),
    *("#dcc4b4", "#f6c6de", "#cfcfcf", "#e3e3a0", "#aee0e4"),
)


def style_sheet(families: Iterable[str], scales: Sequence[Scale] = ()) -> str:
    """Return the CSS for a picture that uses these families and has these other modes."""
    rules = [_family(name) for name in sorted(families)]
    rules += [_state(name, *look) for name, look in _STATES.items()]
    rules += [_palette("h", "heat", _HEAT), _palette("t", "tint", _TINTS)] if scales else []
    modes = [_mode("opcode"), *(rule for scale in scales for rule in _scale(scale))]
    return _BASE + "\n".join(rules) + _LAST + "\n".join(modes)


@cache
def dark_rules() -> str:
    """Return the CSS that a picture in a file of its own has for a system set to dark."""
    table = tomllib.loads(files(__package__).joinpath("dark.toml").read_text("utf-8"))
    properties = ";".join(f"--xg-{name}:{colour}" for name, colour in table.items())
    return f"\n@media (prefers-color-scheme:dark){{.xg{{{properties}}}}}\n"


def _palette(prefix: str, name: str, colours_of: Sequence[str]) -> str:
    """Return the rules of the swatches in the legend."""
    return "\n".join(
        f".xg .{prefix}-{level}{{fill:var(--xg-{name}-{level},{colour})}}"
        for level, colour in enumerate(colours_of)
    )


def _mode(mode: str) -> str:
    """Return the rule that shows what belongs to a mode only."""
    return f".xg.by-{mode} .of-{mode}{{display:inline}}"


def _scale(scale: Scale) -> Iterator[str]:
    """Yield the rules of a mode: its legend and marks, boxes that are not known, each colour."""
    here = f".xg.by-{scale.mode} .n"
    yield _mode(scale.mode)
    yield f"{here}>.box{{fill:var(--xg-paper,#fff)}}"
    yield f"{here}>.mix{{display:none}}"
    yield f"{here}>text:not([class]){{fill:var(--xg-ink,#1f2328)}}"
    fills = _HEAT if scale.palette == "heat" else _TINTS
    for level in scale.words:
        box = f'{here}[data-{scale.mode}="{level}"]'
        yield f"{box}>.box{{fill:var(--xg-{scale.palette}-{level},{fills[level]})}}"
        if scale.palette == "heat" and level >= _DARK_HEAT:
            yield f"{box}>text:not([class]){{fill:#fff}}"


def _family(name: str) -> str:
    scheme = colours.all_entries()[name]
    dash = ";stroke-dasharray:4 3" if name == "dashed" else ""
    return (
        f".xg .n-{name}>.box,.xg .f-{name}{{fill:var(--xg-{name},{scheme.fill});"
        f"stroke:var(--xg-{name}-line,{scheme.border}){dash}}}\n"
        f".xg .n-{name} text{{fill:var(--xg-{name}-text,{scheme.text})}}"
    )


def _state(name: str, colour: str, dash: str) -> str:
    line = f"stroke:var(--xg-{name},{colour})"
    border = f"{line};stroke-width:3;stroke-dasharray:{dash}"
    return (
        f".xg .n.s-{name}>.box,.xg .g.s-{name}>.frame{{{border}}}\n"
        f".xg .e.s-{name}{{{line};stroke-width:2}}\n"
        f".xg .sign-{name}{{fill:var(--xg-{name},{colour});stroke:none}}"
    )
