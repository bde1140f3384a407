"""A private temporary folder for unpacked and fetched files, with limits."""

from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import IO

from msgspec import Struct, field

from xlareport.runtime.errors import UnreadableInputError, error_reason
from xlareport.runtime.limits import FileTooLargeError, Limits, too_many_bytes, too_many_files

_CHUNK = 1 << 20


UnpackedFile = tuple[str, Path, float | None]
"""(path inside the dump, the file that has its bytes, its time of modification if known)."""


class Spool(Struct):
    """Files by number; `add` copies a stream into the next one. Threads may share it."""

    folder: Path
    limits: Limits
    _files: int = field(default=0)
    _bytes: int = field(default=0)
    _lock: Lock = field(default_factory=Lock)

    def add(self, stream: IO[bytes], chunk: int = _CHUNK) -> Path:
        """Copy the stream in chunks; raises what `keep` raises."""
        return self.keep(iter(lambda: stream.read(chunk), b""))

    def keep(self, parts: Iterable[bytes]) -> Path:
        """Write the parts into the next file; raises LimitPassedError and FileTooLargeError."""
        target = self.folder / f"{self.count():06d}"
        size = 0
        file = self._opened(target)
        try:
            for part in parts:
                size += len(part)
                self.pass_over(len(part))
                if size > self.limits.file_bytes:
                    raise FileTooLargeError(self.limits)
                self._write(file, part)
        finally:
            self._close(file)
        return target

    def count(self) -> int:
        """Count one more listed file; raises LimitPassedError."""
        with self._lock:
            self._files += 1
            if self._files > self.limits.files:
                raise too_many_files(self.limits)
            return self._files

    def pass_over(self, size: int) -> None:
        """Count bytes that had to be unpacked, kept or not; raises LimitPassedError."""
        with self._lock:
            self._bytes += size
            if self._bytes > self.limits.total_bytes:
                raise too_many_bytes(self.limits)

    def _opened(self, target: Path) -> IO[bytes]:
        try:
            return target.open("wb")
        except OSError as error:
            raise self._full(error) from error

    def _write(self, file: IO[bytes], part: bytes) -> None:
        try:
            file.write(part)
        except OSError as error:
            raise self._full(error) from error

    def _close(self, file: IO[bytes]) -> None:
        try:
            file.close()
        except OSError as error:
            raise self._full(error) from error

    def _full(self, error: OSError) -> UnreadableInputError:
        return UnreadableInputError(
            f"The input cannot be unpacked into {self.folder.parent}: {error_reason(error)}. Set "
            "TMPDIR to a folder with more room."
        )
