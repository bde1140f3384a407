"""The outcome of a build, for the lines that a command prints at its end."""

from msgspec import Struct

from xlareport.runtime.errors import Problem


class BuildOutcome(Struct, frozen=True):
    """Warnings, problems and the main program of a report that was built."""

    warnings: str
    """Warnings of MkDocs; empty if there are none."""
    missing: str
    """The remedy if the dump has no module; empty if it has one."""
    problems: tuple[Problem, ...]
    bytes: int
    """Of the dump."""
    main: str | None
    """The name of the main program."""
    sureness: str = ""
    """What the main program was found by: `marker` where the marker decided; empty without one."""
