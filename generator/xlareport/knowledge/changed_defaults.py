"""Options whose default differs between releases: the table `changed_defaults.tsv`.

scripts/changed_defaults.py made it of the libraries of both releases.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class ChangedDefault:
    """An option with its default in an older and in a newer release."""

    name: str
    older: str
    newer: str
    before: str
    """The last release of jaxlib that was seen with the older default."""
    after: str
    """The first that was seen with the newer one."""

    @property
    def source(self) -> str:
        """What both defaults were read from."""
        return f"the DebugOptions of jaxlib {self.before} and {self.after}"


@cache
def changed_defaults() -> Mapping[str, tuple[ChangedDefault, ...]]:
    """Return the changes by option, the oldest first."""
    text = files(__package__).joinpath("changed_defaults.tsv").read_text("utf-8")
    changes: dict[str, list[ChangedDefault]] = {}
    for line in text.splitlines()[1:]:
        change = ChangedDefault(*line.split("\t"))
        changes.setdefault(change.name, []).append(change)
    return {name: tuple(change) for name, change in changes.items()}


def defaults_of(backend: str) -> tuple[ChangedDefault, ...]:
    """Return what concerns a backend (`cpu`, `gpu`, `tpu`): its own options and those of all."""
    others = {"cpu", "gpu", "tpu"} - {backend}
    return tuple(
        change
        for name, changes in changed_defaults().items()
        if not any(name.startswith(f"xla_{other}_") for other in others)
        for change in changes
    )
