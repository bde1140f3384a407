"""The outcome of a build, for the lines that a command prints at its end."""

from dataclasses import dataclass

from xlareport.runtime.errors import Problem


@dataclass(frozen=True, slots=True)
class BuildOutcome:
    """Warnings, problems and the main program of a report that was built."""

    warnings: str
    """What MkDocs had to say; empty when all is well."""
    missing: str
    """What to do where the dump holds no module; empty where it holds one."""
    problems: tuple[Problem, ...]
    bytes: int
    """Of the dump."""
    main: str | None
    """The name of the main program."""
