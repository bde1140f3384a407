"""The style sheet inside every picture: complete by itself, but a page can change its colors.

The colors are in `style.toml`. Each is a custom property with the light value as its fallback:
`--xg-white`, `--xg-white-line`, `--xg-white-text`, `--xg-added`, `--xg-paper`, `--xg-heat-0`, ... A
page that sets them, for its dark scheme, changes the pictures in it; a separate file has rules for
a dark system, which do not apply in pages.

The class of the root, `by-opcode` or another mode, determines the meaning of the colors.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from string import Template

from xlareport.knowledge import colors
from xlareport.pictures import style_values
from xlareport.pictures.scales import palettes

_DARK_HEAT = 4
"""The level of heat from which on text is bright."""


def filled(rules: str) -> str:
    """Return rules of CSS with `$edge_thin` as `var(--xg-edge-thin,#afb8c1)`, the light color."""
    colors = {name: variable(name) for name in style_values.light()}
    named = {name.replace("-", "_"): value for name, value in colors.items()}
    return Template(rules).substitute(named | dict(style_values.fixed()))


def variable(name: str) -> str:
    """Return a color that a page may replace."""
    return f"var(--xg-{name},{style_values.light()[name]})"


_BASE = filled("""\
.xg{font:12px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,"Liberation Mono",monospace}
.xg text{fill:$ink}
.xg .paper{fill:$paper}
.xg .b{font-weight:700}
.xg .n text{text-anchor:middle}
.xg .n>.box{stroke-width:1.2}
.xg .frame{fill:$frame;stroke:$frame_line}
.xg .gt .b{paint-order:stroke;stroke:$paper;stroke-width:3px}
.xg .title{font-weight:700;font-size:14px}
.xg .note,.xg .small{fill:$faint;font-size:11px}
.xg .small{font-size:11px}
.xg .e{fill:none;stroke:$edge;stroke-width:1.2}
.xg .e-thin{stroke:$edge_thin;stroke-width:1}
.xg .e-control{stroke:$edge;stroke-dasharray:2 3}
.xg .badge{fill:$badge;stroke:none}
.xg .quiet{fill:$quiet}
.xg .open rect{fill:$paper;stroke:$edge}
.xg .open path{stroke:$ink;stroke-width:1.2}
.xg [data-target]{cursor:pointer}
.xg .legend,.xg .mark{display:none}
.xg .mark{font-size:11px;font-weight:700;paint-order:stroke;stroke:$paper;\
stroke-width:3px}
.xg .n>.mark{text-anchor:start}
""")

# What wins over the families, therefore behind them.
_LAST = filled("""
.xg .s-context>.box{fill:$paper}
.xg .s-context>text{fill:$faint}
.xg text.on,.xg text.tag{font-size:11px;font-weight:700;text-anchor:middle}
.xg text.on,.xg .n text.on{fill:$paper}
.xg .n text.tag{fill:$bright}
""")


def style_sheet(families: Iterable[str], *, has_modes: bool = False) -> str:
    """Return the CSS for a picture that uses these families; `has_modes` adds the other modes."""
    rules = [_family(name) for name in sorted(families)]
    rules += [_state(name, dash) for name, dash in style_values.dashes().items()]
    if not has_modes:
        return _BASE + "\n".join(rules) + _LAST
    rules += [_palette("h", "heat"), _palette("t", "tint")]
    modes = [_show("opcode"), *(rule for mode in palettes() for rule in _mode(mode))]
    return _BASE + "\n".join(rules) + _LAST + "\n".join(modes)


@cache
def dark_rules() -> str:
    """Return the CSS that a picture in a file of its own has for a system set to dark."""
    properties = ";".join(f"--xg-{name}:{color}" for name, color in style_values.dark().items())
    return f"\n@media (prefers-color-scheme:dark){{.xg{{{properties}}}}}\n"


def _palette(prefix: str, name: str) -> str:
    """Return the rules of the swatches in the legend."""
    levels = range(len(style_values.palette(name)))
    return "\n".join(f".xg .{prefix}-{at}{{fill:{variable(f'{name}-{at}')}}}" for at in levels)


def _show(mode: str) -> str:
    """Return the rule for the parts of one mode."""
    return f".xg.by-{mode} .of-{mode}{{display:inline}}"


def _mode(mode: str) -> Iterator[str]:
    """Yield the rules of a mode: its legend and marks, boxes that are not known, each color."""
    here = f".xg.by-{mode} .n"
    palette, count = palettes()[mode]
    yield _show(mode)
    yield f"{here}>.box{{fill:{variable('paper')}}}"
    yield f"{here}>.mix{{display:none}}"
    yield f"{here}>text:not([class]){{fill:{variable('ink')}}}"
    for level in range(count):
        box = f'{here}[data-{mode}="{level}"]'
        yield f"{box}>.box{{fill:{variable(f'{palette}-{level}')}}}"
        if palette == "heat" and level >= _DARK_HEAT:
            yield f"{box}>text:not([class]){{fill:{style_values.fixed()['bright']}}}"


def _family(name: str) -> str:
    scheme = colors.all_entries()[name]
    dash = ";stroke-dasharray:4 3" if name == "dashed" else ""
    return (
        f".xg .n-{name}>.box,.xg .f-{name}{{fill:var(--xg-{name},{scheme.fill});"
        f"stroke:var(--xg-{name}-line,{scheme.border}){dash}}}\n"
        f".xg .n-{name} text{{fill:var(--xg-{name}-text,{scheme.text})}}"
    )


def _state(name: str, dash: str) -> str:
    line = f"stroke:{variable(name)}"
    border = f"{line};stroke-width:3;stroke-dasharray:{dash}"
    return (
        f".xg .n.s-{name}>.box,.xg .g.s-{name}>.frame{{{border}}}\n"
        f".xg .e.s-{name}{{{line};stroke-width:2}}\n"
        f".xg .sign-{name}{{fill:{variable(name)};stroke:none}}"
    )
