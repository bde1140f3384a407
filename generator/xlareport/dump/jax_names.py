"""Functions and primitives that one JAX release compiles as separate modules."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from msgspec import Struct


class JaxName(Struct, frozen=True):
    """A function that JAX wraps in jax.jit, or a primitive."""

    name: str
    kind: str
    """`function` or `primitive`."""
    where: str
    """Where it is in JAX; `-` where it is no attribute of a module."""

    @property
    def words(self) -> str:
        """Return the meaning of a module with this name, unless it is a user's function."""
        which = "" if self.where == "-" else f" {self.where}"
        kind = "The primitive" if which else "A primitive"
        what = self.where if self.kind == "function" else f"{kind}{which}"
        return f"{what} of JAX, which compiles it as a module of its own when it runs outside jit."


@cache
def jax_names() -> Mapping[str, JaxName]:
    """Return the table by name; a function goes before a primitive of its name."""
    rows = _text().splitlines()[1:]
    names = [JaxName(*row.split("\t")) for row in rows]
    return {name.name: name for name in reversed(names)}


@cache
def jax_release() -> str:
    """Return the release that the table was read from, as in `jax 0.10.2`."""
    return _text().partition(":")[0].removeprefix("# ")


@cache
def _text() -> str:
    return files(__package__).joinpath("tables", "jax_names.tsv").read_text("utf-8")


def find_jax_name(name: str) -> JaxName | None:
    """Return JAX's function with this name; JAX of 2022 numbered recompilations, `_var__1`."""
    known = jax_names()
    base, _, number = name.rpartition("__")
    return known.get(name) or (known.get(base) if number.isdecimal() else None)
