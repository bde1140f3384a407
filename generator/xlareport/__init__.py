"""Turns the directory that an XLA compiler dumped into a report that a person can read.

import xlareport
report = xlareport.read("dump/")

What `dir(xlareport)` lists is stable: it is changed or removed only after a release that warns.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xlareport.analysis.source.locations import PlacedInstruction
    from xlareport.api import (
        Module,
        Report,
        Snapshot,
        from_jax,
        read,
        read_text,
    )
    from xlareport.captured_block import Capture, capture
    from xlareport.captures.jax_compiles import UncapturedProcessError
    from xlareport.records.column_tables import ColumnTable, MissingPackageError
    from xlareport.runtime.errors import (
        Problem,
        UnknownNameError,
        UnreadableInputError,
        UnwritableFileError,
        UnwritableOutputError,
        XlareportError,
    )
    from xlareport.runtime.limits import Limits

__version__ = "0.2.0"
_PLACES = {
    "Capture": "captured_block",
    "ColumnTable": "records.column_tables",
    "Limits": "runtime.limits",
    "MissingPackageError": "records.column_tables",
    "Module": "api",
    "PlacedInstruction": "analysis.source.locations",
    "Problem": "runtime.errors",
    "Report": "api",
    "Snapshot": "api",
    "UncapturedProcessError": "captures.jax_compiles",
    "UnknownNameError": "runtime.errors",
    "UnreadableInputError": "runtime.errors",
    "UnwritableFileError": "runtime.errors",
    "UnwritableOutputError": "runtime.errors",
    "XlareportError": "runtime.errors",
    "capture": "captured_block",
    "from_jax": "api",
    "read": "api",
    "read_text": "api",
}
__all__ = [
    "Capture",
    "ColumnTable",
    "Limits",
    "MissingPackageError",
    "Module",
    "PlacedInstruction",
    "Problem",
    "Report",
    "Snapshot",
    "UncapturedProcessError",
    "UnknownNameError",
    "UnreadableInputError",
    "UnwritableFileError",
    "UnwritableOutputError",
    "XlareportError",
    "__version__",
    "capture",
    "from_jax",
    "read",
    "read_text",
]
_FORMER = {"Stage": "Snapshot"}
"""Names that are going, with those in their place."""


def __getattr__(name: str) -> object:
    """Import the library on first access, so that the command line starts quickly."""
    if name in _FORMER:
        import warnings  # noqa: PLC0415 - rarely needed

        words = f"xlareport.{name} is called xlareport.{_FORMER[name]} now."
        warnings.warn(words, DeprecationWarning, stacklevel=2)
        name = _FORMER[name]
    if name in _PLACES:
        return getattr(import_module(f"xlareport.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what is stable, imported or not."""
    return [*__all__]
