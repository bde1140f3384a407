"""The legend of a picture: what its colours, signs and lines mean, and only those it uses."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from xlareport.pictures.drawing import Drawing
from xlareport.pictures.scales import Scale

_SIGNS = {"added": "+", "removed": "\N{MINUS SIGN}", "changed": "~"}


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One swatch with its words."""

    kind: str
    """`families`, `states`, `edges`, or a palette: `heat`, `tint`."""
    name: str
    words: str


@dataclass(frozen=True, slots=True)
class Section:
    """Entries that are seen together: always, or in one colour mode."""

    mode: str
    """Empty for what is always seen."""
    entries: Sequence[LegendEntry]


def sign(state: str) -> str:
    """Return the character that tells a state without colour; empty for what stayed."""
    return _SIGNS.get(state, "")


def legend(drawing: Drawing, scales: Iterable[Scale] = ()) -> Sequence[Section]:
    """Return the sections for what the drawing uses, the one that is always seen first."""
    if not drawing.has_legend:
        return ()
    entries = _used(drawing)
    return [
        Section("", [entry for entry in entries if entry.kind != "families"]),
        Section("opcode", [entry for entry in entries if entry.kind == "families"]),
        *(Section(scale.mode, list(_of_scale(scale))) for scale in scales),
    ]


def _of_scale(scale: Scale) -> Iterator[LegendEntry]:
    for level, words in scale.words.items():
        yield LegendEntry(scale.palette, str(level), words)


def _used(drawing: Drawing) -> Sequence[LegendEntry]:
    """Return the entries of the table that a drawing uses, in its order."""
    boxes = {family for node in drawing.nodes for family in (node.family, *dict(node.mix))}
    states = {node.state for node in drawing.nodes} | {edge.state for edge in drawing.edges}
    states |= {group.state for group in drawing.groups}
    used: Mapping[str, set[str]] = {
        "families": {*boxes},
        "states": {*states},
        "edges": {edge.style for edge in drawing.edges},
    }
    return [
        LegendEntry(kind, name, words)
        for kind, names in words_by_kind().items()
        for name, words in names.items()
        if name in used[kind]
    ]


@cache
def words_by_kind() -> Mapping[str, Mapping[str, str]]:
    """Return all words of the table: of families, states and edges, in its order."""
    return tomllib.loads(files(__package__).joinpath("legend.toml").read_text("utf-8"))
