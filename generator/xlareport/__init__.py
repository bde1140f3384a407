"""Turns the directory that an XLA compiler dumped into a report that a person can read.

import xlareport
report = xlareport.read("dump/")
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xlareport.api import Module, Report, Snapshot, Stage, from_jax, read, read_text
    from xlareport.runtime.errors import UnknownNameError, UnreadableInputError, XlareportError

__version__ = "0.1.0"
__all__ = [
    "Module",
    "Report",
    "Snapshot",
    "Stage",
    "UnknownNameError",
    "UnreadableInputError",
    "XlareportError",
    "__version__",
    "from_jax",
    "read",
    "read_text",
]


def __getattr__(name: str) -> object:
    """Import the library when it is asked for, so that the command line starts at once."""
    if name in __all__:
        place = "xlareport.runtime.errors" if name.endswith("Error") else "xlareport.api"
        return getattr(import_module(place), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what is imported on use as well."""
    return sorted({*globals(), *__all__})
