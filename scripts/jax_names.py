"""Writes dump/tables/jax_names.tsv: functions and primitives of JAX that it compiles by itself.

Usage: `PYTHON scripts/jax_names.py`, with a Python that has the release of JAX to read. A function
is one that JAX's own modules wrap in jax.jit, by the name that its module gets; a primitive is
compiled under its name where it runs outside jit.
"""

import gc
import importlib
import pkgutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import jax
from jax.extend.core import Primitive

_TABLE = Path(__file__).parent.parent / "generator/xlareport/dump/tables/jax_names.tsv"
_LEFT_OUT = ("test", "tools", "colab", "mosaic", "triton", "pallas", "tpu_", "jax2tf")
"""Modules whose import needs what is not there, or that hold no function of users."""
_JITTED = type(jax.jit(abs))


def main() -> None:
    """Write the table."""
    modules = [*_modules()]
    functions: dict[str, str] = {}
    primitives: dict[str, str] = {
        each.name: "" for each in gc.get_objects() if isinstance(each, Primitive)
    }
    for module in modules:
        for name, value in vars(module).items():
            where = f"{module.__name__}.{name}"
            if isinstance(value, _JITTED):
                function = value.__wrapped__
                called = getattr(function, "__name__", name)
                private = f"{function.__module__}.{called}"
                _keep(functions, called, private if "._" in where else where)
            elif isinstance(value, Primitive):
                _keep(primitives, value.name, where)
    rows = [
        f"{name}\t{kind}\t{where or '-'}"
        for kind, places in (("function", functions), ("primitive", primitives))
        for name, where in sorted(places.items())
    ]
    head = f"# jax {jax.__version__}: name, kind, place; written by scripts/jax_names.py"
    _TABLE.write_text("\n".join([head, *rows, ""]))


def _modules() -> Iterator[ModuleType]:
    for walk_package in pkgutil.walk_packages(jax.__path__, "jax.", onerror=lambda _: None):
        if not any(word in walk_package.name for word in _LEFT_OUT):
            try:
                yield importlib.import_module(walk_package.name)
            except Exception as error:  # noqa: BLE001 - a module of an experiment may raise anything
                warnings.warn(f"{walk_package.name}: {error}", stacklevel=1)


def _keep(places: dict[str, str], name: str, where: str) -> None:
    """Keep the public place, else the shortest, else the first in the alphabet."""
    places[name] = min(filter(None, (places.get(name), where)), key=_order)


def _order(where: str) -> tuple[bool, int, str]:
    return "._" in where, where.count("."), where


if __name__ == "__main__":
    main()
