"""How often the guess for the main program was right on dumps not tuned on: `main_record.toml`."""

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from xlareport.knowledge.table_files import read_table


class Record(Struct, frozen=True):
    """The guesses with one degree of sureness, and how many were right."""

    name: str
    """`clear`, `likely`, `tie` or `only`; `unseen` for all of them together."""
    right: int
    of: int

    @property
    def chance(self) -> float:
        """The chance that another such guess is right, by Laplace's rule of succession."""
        return (self.right + 1) / (self.of + 2)


@cache
def main_record() -> Mapping[str, Record]:
    """Return the table by sureness."""
    return read_table("main_record", Record)
