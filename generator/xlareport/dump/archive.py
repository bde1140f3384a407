"""Archives: .zip, .tar, .tar.gz, .tar.bz2, .tar.xz and .tar.zst, spooled member by member.

An archive may be made to harm: names that lead out, links, devices, members and headers that
unpack to more than any disk or memory holds. Names become plain paths, links and devices are
listed, and nothing is unpacked beyond the limits or in large pieces.
"""

import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Self, cast

import zstandard

from xlareport.dump.spool import Spool, UnpackedFile
from xlareport.runtime.errors import Problem, UnreadableInputError
from xlareport.runtime.limits import FileTooLargeError, too_many_files

_ENDINGS = {
    "zip": (".zip",),
    "tar": (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz"),
    "tar.zst": (".tar.zst", ".tzst"),
}
_BEGINNINGS = {
    "zip": (b"PK\3\4", b"PK\5\6"),
    "tar": (b"BZh", b"\xfd7zXZ\0"),
}
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_LARGEST_WINDOW = 1 << 27
"""Memory limit of zstd in bytes; the zstd command has the same default."""
_HEADERS = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)
"""Header members of a tar for the next member, which the library reads in full."""
_LARGEST_HEADER = 1 << 16
_PIECE = 4096
"""Bytes that are unpacked at a time where a piece can grow twenty thousandfold, as in bzip2."""
_ENTRY = 46
"""Bytes of the shortest entry in a zip's list of members."""
_DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zstandard.ZstdError,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,  # a zip method that Python does not know
    RuntimeError,  # an encrypted zip member
    ValueError,  # a name in a zip that is not in its encoding
    struct.error,
)


def archive_kind(path: Path, name: str) -> str | None:
    """Return `zip`, `tar` or `tar.zst` by the name of a file, else by its beginning, else None."""
    for kind, endings in _ENDINGS.items():
        if name.lower().endswith(endings):
            return kind
    with path.open("rb") as file:
        head = file.read(_PIECE)
        for kind, beginnings in _BEGINNINGS.items():
            if head.startswith(beginnings):
                return kind
        file.seek(0)
        if head.startswith(_ZSTD):
            return "tar.zst" if _is_tar(_unpacked(file)) else None
    return "tar" if _is_tar(_gunzipped(head) if head.startswith(_GZIP) else head) else None


def _gunzipped(head: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(head, _PIECE)
    except zlib.error:
        return b""


def _unpacked(file: IO[bytes]) -> bytes:
    """Return how a file of zstd begins; its blocks have to be read whole."""
    try:
        reader = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
        return reader.stream_reader(file, closefd=False).read(_PIECE)
    except zstandard.ZstdError:
        return b""


def _is_tar(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def members(
    path: Path, name: str, kind: str, spool: Spool, problems: list[Problem]
) -> Iterator[UnpackedFile]:
    """Yield (path inside, spooled file, modified); in a truncated archive, up to the damage."""
    number = 0
    try:
        for member in _open(path, kind, spool, problems):
            number += 1
            yield member
    except _DAMAGED as error:
        if not number:
            raise UnreadableInputError(f"{name} cannot be read as an archive: {error}.") from error
        message = f"The archive is broken after {number} files; the rest is lost: {error}."
        problems.append(Problem(name, None, message))


def _open(path: Path, kind: str, spool: Spool, problems: list[Problem]) -> Iterator[UnpackedFile]:
    if kind == "zip":
        _check_list(path, spool)
        with zipfile.ZipFile(path) as archive:
            yield from _zip_members(archive, spool, problems)
    elif kind == "tar.zst":
        reader = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
        with path.open("rb") as file, reader.stream_reader(file) as stream:
            yield from _tar_stream(cast("IO[bytes]", stream), spool, problems)
    else:
        with tarfile.open(path, "r|*", tarinfo=_Tarred, bufsize=_PIECE) as archive:
            yield from _tar_members(archive, spool, problems)


def _tar_stream(stream: IO[bytes], spool: Spool, problems: list[Problem]) -> Iterator[UnpackedFile]:
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Tarred) as archive:
        yield from _tar_members(archive, spool, problems)


class _Tarred(tarfile.TarInfo):
    """A member of a tar whose further headers cannot exhaust the memory."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Read a header of 512 bytes; raises ReadError where another of absurd length follows."""
        tarred = super().frombuf(buf, encoding, errors)
        if tarred.type in _HEADERS and tarred.size > _LARGEST_HEADER:
            raise tarfile.ReadError(f"a header of {tarred.size:,} bytes")
        return tarred


def _tar_members(
    archive: tarfile.TarFile, spool: Spool, problems: list[Problem]
) -> Iterator[UnpackedFile]:
    for member in archive:
        name = inside(member.name)
        if member.isdir():
            spool.count()
        elif not member.isfile():
            spool.count()
            message = "Not read: it is a link or a device in the archive."
            problems.append(Problem(name, None, message))
        elif member.size > spool.limits.file_bytes:
            spool.count()
            spool.pass_over(member.size)  # a stream is unpacked up to the next member
            problems.append(_left_out(name, FileTooLargeError(spool.limits)))
        elif (content := archive.extractfile(member)) is not None:
            yield name, spool.add(content), member.mtime


def _zip_members(
    archive: zipfile.ZipFile, spool: Spool, problems: list[Problem]
) -> Iterator[UnpackedFile]:
    for member in archive.infolist():
        name = inside(member.filename)
        if member.is_dir():
            spool.count()
            continue
        try:
            yield name, _unzipped(archive, member, spool), _zip_time(member)
        except FileTooLargeError as error:
            problems.append(_left_out(name, error))


def _unzipped(archive: zipfile.ZipFile, member: zipfile.ZipInfo, spool: Spool) -> Path:
    if member.file_size > spool.limits.file_bytes:
        raise FileTooLargeError(spool.limits)
    tame = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    with archive.open(member) as content:
        return spool.add(content) if tame else spool.add(content, _PIECE)


def _left_out(name: str, error: Exception) -> Problem:
    return Problem(name, None, f"Not read: {error}.")


def _check_list(path: Path, spool: Spool) -> None:
    """Refuse a zip that lists too many members before Python reads the list into memory."""
    with path.open("rb") as file:
        length = file.seek(0, 2)
        file.seek(max(0, length - (1 << 16) - 100))
        size = _list_size(file.read())
        if size <= spool.limits.files * _ENTRY:
            return
        file.seek(max(0, length - size - (1 << 16) - 100))
        listed = 0
        while part := file.read(1 << 20):
            listed += part.count(b"PK\1\2")
            if listed > spool.limits.files:
                raise too_many_files(spool.limits)


def _list_size(tail: bytes) -> int:
    """Return how many bytes a zip's list of members has, by its last record or the 64-bit one."""
    end = len(tail) - 22 if tail[-22:-18] == b"PK\5\6" else tail.rfind(b"PK\5\6")
    if end < 0 or len(tail) < end + 22:
        return 0  # no zip; Python says so
    if tail[end - 20 : end - 16] == b"PK\6\7" and tail[end - 76 : end - 72] == b"PK\6\6":
        return int(struct.unpack_from("<Q", tail, end - 76 + 40)[0])
    return int(struct.unpack_from("<I", tail, end + 12)[0])


def _zip_time(member: zipfile.ZipInfo) -> float | None:
    try:
        return datetime(*member.date_time, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def inside(name: str) -> str:
    """Return the name of a member as a path inside the dump: no root, no `..`, no bare bytes."""
    parts = name.replace("\\", "/").split("/")
    path = "/".join(part for part in parts if part not in {"", ".", ".."})
    return path.encode("utf-8", "backslashreplace").decode("utf-8") or "unnamed"
