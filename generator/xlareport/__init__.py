"""Turns the directory that an XLA compiler dumped into a report that a person can read.

import xlareport
report = xlareport.read("dump/")
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xlareport.api import Module, Report, Snapshot, Stage, read

__version__ = "0.1.0"
__all__ = ["Module", "Report", "Snapshot", "Stage", "__version__", "read"]


def __getattr__(name: str) -> object:
    """Import the library when it is asked for, so that the command line starts at once."""
    if name in __all__:
        return getattr(import_module("xlareport.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
