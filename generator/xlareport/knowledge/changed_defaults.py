"""Options whose default differs between releases: the table `changed_defaults.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from xlareport.knowledge.tables import read_table


@dataclass(frozen=True, slots=True)
class ChangedDefault:
    """An option with its default in an older and in a newer release."""

    name: str
    older: str
    newer: str
    since: tuple[str, str]
    """The releases of jaxlib between which it changed."""
    source: str


@cache
def changed_defaults() -> Mapping[str, ChangedDefault]:
    """Return the table by option."""
    return read_table("changed_defaults", ChangedDefault)


def defaults_of(backend: str) -> tuple[ChangedDefault, ...]:
    """Return what concerns a backend (`cpu`, `gpu`, `tpu`): its own options and those of all."""
    others = {"cpu", "gpu", "tpu"} - {backend}
    return tuple(
        each
        for each in changed_defaults().values()
        if not any(each.name.startswith(f"xla_{other}_") for other in others)
    )
