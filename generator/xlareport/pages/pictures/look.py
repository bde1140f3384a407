"""How pictures look that the page script draws: as the report's own, by the same tables."""

from typing import Any

from xlareport.knowledge import colours
from xlareport.pictures.legend import words_by_kind
from xlareport.pictures.scales import every_scale, limits
from xlareport.pictures.style import dark_rules, filled, style_sheet

_OWN = filled("""\
.xg .n.focus>.box{stroke:$ink;stroke-width:4}
.xg .e-call{stroke:$edge;stroke-dasharray:6 3}
""")
"""What only these pictures have: the box that was asked for, and arrows through calls."""


def picture_look() -> dict[str, Any]:
    """Return the style sheet, the words of the legend in their order, where colours begin.

    `dark` are the rules that a picture has only in a file of its own.
    """
    words = {kind: list(names.items()) for kind, names in words_by_kind().items()}
    css = style_sheet(colours.all_entries(), every_scale()) + _OWN
    return {"css": css, "dark": dark_rules(), "scales": limits(), **words}
