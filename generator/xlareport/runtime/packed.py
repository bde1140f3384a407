"""Files packed by gzip or xz, such as `.hlo.pb.gz`: a small one can hold very many zeros."""

import lzma
import zlib

MOST_BYTES = 1 << 29
"""Bytes that a packed file may unpack to."""
TIMES = 100
"""Times its own size that it may; 300 protos of real dumps unpacked to 1 to 10 times theirs."""
ALWAYS = 32 << 20
"""Bytes that are allowed to any file."""
_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zXZ\x00"
_DICTIONARY = 1 << 27
"""Memory limit in bytes for unpacking xz: `xz -9` needs half of it."""


def decompress_bytes(data: bytes) -> bytes:
    """Return the bytes of a file, packed or not; raises zlib.error where damaged or too large."""
    most = min(MOST_BYTES, max(ALWAYS, TIMES * len(data)))
    if data.startswith(_GZIP):
        content = zlib.decompressobj(wbits=31).decompress(data, most + 1)
    elif data.startswith(_XZ):
        content = _unpack_xz(data, most + 1)
    else:
        return data
    if len(content) > most:
        raise zlib.error(f"it unpacks to more than {most:,} bytes")
    return content


def _unpack_xz(data: bytes, most: int) -> bytes:
    try:
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_DICTIONARY)
        return unpacker.decompress(data, most)
    except lzma.LZMAError as error:
        raise zlib.error(str(error)) from error
