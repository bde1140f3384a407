"""Files that may be packed by gzip, such as `.hlo.pb.gz`: a small one can hold very many zeros."""

import zlib

MOST = 1 << 29
"""Bytes that a packed file may unpack to."""
TIMES = 100
"""Times its own size that it may; 300 protos of real dumps unpacked to 1 to 10 times theirs."""
ALWAYS = 32 << 20
"""Bytes that are allowed to any file."""
_MAGIC = b"\x1f\x8b"


def decompress_bytes(data: bytes) -> bytes:
    """Return the bytes of a file, packed or not; raises zlib.error where damaged or too large."""
    if not data.startswith(_MAGIC):
        return data
    most = min(MOST, max(ALWAYS, TIMES * len(data)))
    content = zlib.decompressobj(wbits=31).decompress(data, most + 1)
    if len(content) > most:
        raise zlib.error(f"it unpacks to more than {most:,} bytes")
    return content
