"""Compilations of JAX in a `with` block as a report: for notebooks and running sessions."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from xlareport.api import Report, read
from xlareport.captures.jax_compiles import compiled_functions, dumped_compiles
from xlareport.runtime.english import first_few
from xlareport.runtime.errors import UnreadableInputError

_NAMED = 8


class Capture:
    """The compilations of a block, once it has ended."""

    def __init__(self, folder: Path) -> None:
        """Take the folder into which XLA dumps."""
        self.folder = folder
        """The dump. A temporary folder is removed when Python ends."""
        self.missed: tuple[str, ...] = ()
        """Functions that were compiled before the block and not in it: if they ran in it, they are
        not in the dump."""

    def __repr__(self) -> str:
        """Name the folder."""
        return f"<Capture {self.folder}>"

    @cached_property
    def report(self) -> Report:
        """The opened dump. Raises UnreadableInputError if nothing was compiled in the block."""
        if not any(self.folder.iterdir()):
            raise UnreadableInputError(f"Nothing was compiled in the block.{self._missed_words()}")
        return read(self.folder)

    def _missed_words(self) -> str:
        if not self.missed:
            return ""
        return (
            f" Compiled before it: {first_few(self.missed, _NAMED)}; `jax.clear_caches()` before "
            "the block lets JAX compile them again."
        )


@contextmanager
def capture(folder: str | Path | None = None, level: str = "passes") -> Iterator[Capture]:
    """Let XLA dump the compilations of JAX in the `with` block, and nothing else.

    JAX may have been imported and used before. `level` is one of `xlareport capture`. Without a
    `folder`, which has to be new or empty, it is temporary. Raises XlareportError where the
    process has no JAX, or one of a version that is not known, and where another capture runs.
    """
    captured = Capture(_folder(folder))
    with dumped_compiles(captured.folder, level):
        before = compiled_functions()
        try:
            yield captured
        finally:
            programs = {
                id(compiled_function.function): compiled_function.programs
                for compiled_function in compiled_functions()
            }
            captured.missed = tuple(
                function.name
                for function in before
                if programs.get(id(function.function)) == function.programs
            )


def _folder(asked: str | Path | None) -> Path:
    if asked is None:
        temporary = Path(tempfile.mkdtemp(prefix="xlareport-capture-"))
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        return temporary
    folder = Path(asked)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise UnreadableInputError(f"{folder} is not empty.")
    return folder.resolve()
