"""The vocabulary of the kinds of file, read from `tables/vocabulary.toml`."""

from functools import cache

from xlareport.dump.tokens import table


@cache
def kinds() -> tuple[str, ...]:
    """Return every kind that a file of a dump can have, `unknown` last."""
    return tuple(table("vocabulary")["kinds"])
