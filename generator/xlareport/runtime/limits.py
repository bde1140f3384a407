"""How much of an input is taken: every figure is an option, and each message names its option."""

from msgspec import Struct

from xlareport.runtime.errors import UnreadableInputError


class Limits(Struct, frozen=True):
    """Limits on reading, unpacking and fetching; sizes in bytes."""

    files: int = 200_000
    """`--max-files`: in a folder, an archive or a log."""
    file_bytes: int = 2_000_000_000
    """`--max-file-size`: one file, unpacked; a file is held whole, and no proto can be larger."""
    total_bytes: int = 32_000_000_000
    """`--max-total-size`: all that is unpacked or fetched into the temporary folder."""
    beside_bytes: int = 100_000_000
    """`--max-beside-size`: one file of no module, unpacked: a trace, a framework's graph or log."""


LIMITS = Limits()
CACHE_BYTES = 2_000_000_000
"""Default limit on data that a build keeps in its folder for the next one."""


class LimitPassedError(UnreadableInputError):
    """The input exceeds the limit of files or bytes; the rest of it is not read."""


class FileTooLargeError(UnreadableInputError):
    """A file exceeds the size limit; the others are read."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(too_large(limits.file_bytes, "--max-file-size"))


def too_many_files(limits: Limits) -> LimitPassedError:
    """Return the error of an input with too many files."""
    return LimitPassedError(
        f"it holds more than {limits.files:,} files and folders; allow more with --max-files"
    )


def too_many_bytes(limits: Limits) -> LimitPassedError:
    """Return the error of an input that unpacks to too much."""
    most = f"{limits.total_bytes:,} bytes"
    return LimitPassedError(f"it unpacks to more than {most}; allow more with --max-total-size")


def too_large(most: int, option: str) -> str:
    """Return, without a full stop, that a file has too many bytes."""
    return f"it has more than {most:,} bytes; allow more with {option}"
