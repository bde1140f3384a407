"""Problems, which are listed in the report, and errors, which end the command."""

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct


class Problem(Struct, frozen=True, order=True):
    """A problem with reading a file; the rest of the report continues."""

    path: str
    """Relative to the dump."""
    line: int | None
    """From 1; None where it is not one line."""
    message: str
    column: int | None = None
    """From 1; None where it is not one place."""
    excerpt: str = ""
    """The text about the place and, below it, a mark that points at it; empty where unknown."""
    is_fault: bool = False
    """Whether it is a defect of xlareport, or lack of memory: another build may lack it."""

    def __str__(self) -> str:
        """Return `path:line:column: message` and the excerpt, leaving out what is not known."""
        place = [self.path, *(str(n) for n in (self.line, self.column) if n is not None)]
        return "\n".join(filter(None, (f"{':'.join(place)}: {self.message}", self.excerpt)))


def error_reason(error: Exception) -> str:
    """Return why a system call failed: the system's words, else the error's, else its name."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


class XlareportError(Exception):
    """Base of every error that a user of the command can meet; its text is a whole sentence."""

    exit_code = 2


class UnreadableInputError(XlareportError):
    """The input as a whole cannot be read: not there, not a dump, a broken archive."""

    exit_code = 3


class UnknownNameError(XlareportError):
    """A name in a request is not in the dump, or is ambiguous."""

    _SHOWN = 8

    def __init__(self, message: str, near: Sequence[str]) -> None:
        plain = [name if name.isprintable() else ascii(name) for name in near[: self._SHOWN]]
        shown = "".join(f"\n  {name}" for name in plain)
        more = f"\n  and {len(near) - self._SHOWN} more" if len(near) > self._SHOWN else ""
        hint = f"; it could be:{shown}{more}" if near else "."
        super().__init__(f"{message}{hint}")


class UnwritableFileError(XlareportError):
    """A requested file cannot be written."""

    def __init__(self, path: Path, error: OSError) -> None:
        place = error.filename or path
        super().__init__(f"{place} cannot be written: {error_reason(error)}.")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn any OSError of the block, which writes to `path`, into UnwritableFileError."""
    try:
        yield
    except OSError as error:
        raise UnwritableFileError(path, error) from error


def refuse_contents(folder: Path) -> None:
    """Raise UnwritableFileError if a folder is there and is not empty."""
    with writing(folder):
        if folder.exists() and any(folder.iterdir()):
            raise OSError(errno.ENOTEMPTY, "it is not empty")


class UnwritableOutputError(XlareportError):
    """The report cannot be written: a full disk, a folder without permission."""

    def __init__(self, out: Path, error: OSError) -> None:
        place = error.filename or out
        super().__init__(
            f"The report cannot be written to {out}: {error_reason(error)} ({place}). "
            "The former report is unchanged."
        )


class InputInsideOutputError(XlareportError):
    """The report would replace the dump."""

    def __init__(self, dump: Path, place: Path) -> None:
        super().__init__(
            f"The dump {dump} lies in {place}, which the report would replace. Name another folder "
            "with --out."
        )


class OutputInsideInputError(XlareportError):
    """The report would be written into the dump itself."""

    def __init__(self, dump: Path, out: Path) -> None:
        super().__init__(
            f"The output folder {out} lies inside the dump {dump}; the next "
            "build would read its own pages. Name another folder with --out."
        )
