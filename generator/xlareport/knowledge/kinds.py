"""Every kind of file in plain words: the table `kinds.toml`."""

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from xlareport.knowledge.table_files import read_table
from xlareport.runtime.english import first_sentence


class FileKind(Struct, frozen=True):
    """A kind of file; its texts are whole sentences and may contain `code` as in Markdown."""

    name: str
    """As in `--json` output, e.g. `hlo-text`."""
    title: str
    """Two or three words for tables."""
    words: str
    """The content of the file."""
    made_by: str
    """The program that writes it, and the flag for it."""
    flags: tuple[str, ...]
    """Flags and variables to look up, the decisive one first."""
    opened: str
    """How to open it by hand."""
    look_for: str
    """The useful information in it."""
    examples: tuple[str, ...]
    """Names as they are met."""

    @property
    def summary(self) -> str:
        """The first sentence of `words`."""
        return first_sentence(self.words)


@cache
def all_entries() -> Mapping[str, FileKind]:
    """Return all kinds by name, those of XLA first."""
    return read_table("kinds", FileKind)


def find(name: str) -> FileKind | None:
    """Return the kind called so."""
    return all_entries().get(name)
