"""The colors in which XLA draws instructions: the table `colors.toml`.

Source: xla/service/hlo_graph_dumper.cc, `NodeColorsForScheme`.
"""

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from xlareport.knowledge.table_files import read_table


class ColorScheme(Struct, frozen=True):
    """A family of instructions and its colors, each as `#rrggbb`."""

    name: str
    fill: str
    border: str
    text: str
    words: str
    """The common property of the family's members, in a sentence."""


@cache
def all_entries() -> Mapping[str, ColorScheme]:
    """Return all schemes by name."""
    return read_table("colors", ColorScheme)
