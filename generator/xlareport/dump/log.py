"""A captured log of `--xla_dump_to=-`: files between `*** Begin NAME ***` and `*** End`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from xlareport.dump.spool import Spool, UnpackedFile
from xlareport.runtime.errors import Problem, error_reason
from xlareport.runtime.limits import FileTooLargeError

_BEGIN = re.compile(rb"^\*\*\* Begin ([^\n]{1,4096}) \*\*\*\r?\n$")
_MARK = b"*** Begin "
_ENDINGS = (".log", ".out", ".err", ".txt", "stdout", "stderr")
_PIECE = 1 << 20
"""Bytes that are read at a time: a line may be longer than any memory."""

_HELD = 1 << 20
"""Bytes that are searched for a frame at a time."""

LinePiece = tuple[int, bool, bytes]
"""The number of the line, whether it begins here, and the bytes."""


def may_hold_frames(path: str) -> bool:
    """Return whether a file of this name is worth a look for frames."""
    name = path.rsplit("/", 1)[-1].lower()
    return name.endswith(_ENDINGS) and "module_" not in name


def frames(
    location: Path, path: str, spool: Spool, problems: list[Problem]
) -> Iterator[UnpackedFile]:
    """Yield each framed file as (`path/NAME`, spooled file, time of the log)."""
    try:
        modified = location.stat().st_mtime
        with location.open("rb") as file:
            pieces = _pieces(file) if _holds_begin(file) else iter(())
            for number, begins, piece in pieces:
                begin = _BEGIN.match(piece) if begins else None
                if begin is not None:
                    name = begin[1].decode("utf-8", "backslashreplace").replace("/", "_")
                    endless = Problem(path, number, f"{name} begins here and has no end.")
                    content = _content(pieces, b"*** End " + begin[1] + b" ***", endless, problems)
                    yield f"{path}/{name}", spool.keep(content), modified
    except FileTooLargeError as error:
        problems.append(Problem(path, number, f"{name} begins here and is not read: {error}."))
    except OSError as error:
        problems.append(Problem(path, None, f"Not read: {error_reason(error)}."))


def _holds_begin(file: IO[bytes]) -> bool:
    """Return whether a frame may begin anywhere in a file; leaves the file at its beginning.

    Most texts hold none, and going through them line by line takes ten times as long.
    """
    end = b""
    while piece := file.read(_HELD):
        if _MARK in end + piece:
            break
        end = (end + piece)[-len(_MARK) :]
    file.seek(0)
    return bool(piece)


def _pieces(file: IO[bytes]) -> Iterator[LinePiece]:
    number, begins = 1, True
    while piece := file.readline(_PIECE):
        yield number, begins, piece
        begins = piece.endswith(b"\n")
        number += begins


def _content(
    pieces: Iterator[LinePiece], end: bytes, endless: Problem, problems: list[Problem]
) -> Iterator[bytes]:
    """Yield the content up to the closing line, without the newline that XLA adds before it."""
    held = b""
    for _, begins, piece in pieces:
        if begins and piece.startswith(end):
            break
        yield held
        held = piece
    else:
        problems.append(endless)
    yield held.removesuffix(b"\n")
