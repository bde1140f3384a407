"""Standard input as a file of a dump, named by how it begins."""

import sys
from pathlib import Path

from xlareport.dump.spool import Spool
from xlareport.runtime.errors import UnreadableInputError, error_reason
from xlareport.runtime.limits import FileTooLargeError

_NAME = "standard-input"
_HEAD = 64


def take_standard_input(spool: Spool) -> tuple[str, Path]:
    """Copy standard input into a file; return a name that fits how it begins, and the file."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UnreadableInputError("Nothing comes in on standard input; name a dump, or pipe one.")
    try:
        location = spool.add(sys.stdin.buffer)
    except FileTooLargeError as error:
        raise UnreadableInputError(f"Standard input cannot be taken: {error}.") from error
    except OSError as error:
        raise UnreadableInputError(
            f"Standard input cannot be read: {error_reason(error)}."
        ) from error
    with location.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise UnreadableInputError("Nothing came in on standard input.")
    return f"{_NAME}.{_ending(head)}", location


def _ending(head: bytes) -> str:
    """Return the ending of the name of a file that begins so, if it is no archive."""
    if head.startswith(b"HloModule "):
        return "txt"
    if head.lstrip().startswith(b"{"):
        return "json"
    return "hlo.pb" if head.startswith(b"\n") and any(sign < ord("\t") for sign in head) else "log"
