"""The legend of a picture: the meaning of the colors, signs and lines in it."""

from collections.abc import Mapping, Sequence
from functools import cache

from msgspec import Struct

from xlareport.pictures.drawing import Drawing
from xlareport.runtime.resources import read_toml

_SIGNS = {"added": "+", "removed": "\N{MINUS SIGN}", "changed": "~"}


class LegendEntry(Struct, frozen=True):
    """A color sample with its words."""

    kind: str
    """`families`, `states` or `edges`."""
    name: str
    words: str


def sign(state: str) -> str:
    """Return the character that marks a state without color; empty for unchanged."""
    return _SIGNS.get(state, "")


def legend(drawing: Drawing) -> Sequence[LegendEntry]:
    """Return the entries of the table that a drawing uses: states and arrows, then families."""
    if not drawing.has_legend:
        return ()
    states = {node.state for node in drawing.nodes} | {edge.state for edge in drawing.edges}
    used: Mapping[str, set[str]] = {
        "states": {*states, *(group.state for group in drawing.groups)},
        "edges": {edge.style for edge in drawing.edges},
        "families": {family for node in drawing.nodes for family in (node.family, *dict(node.mix))},
    }
    return [
        LegendEntry(kind, name, words)
        for kind, names in used.items()
        for name, words in words_by_kind()[kind].items()
        if name in names
    ]


@cache
def words_by_kind() -> Mapping[str, Mapping[str, str]]:
    """Return all words of the table: of families, states and edges, in its order."""
    return read_toml(__package__, "legend.toml")
