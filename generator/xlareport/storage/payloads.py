"""Data for the page script, as script files: pages opened from file:// can load nothing else.

A payload calls `xlareport.deliver(key, json)` or, when it is large,
`xlareport.deliver(key, base85, "gzip")`. Equal values give equal bytes.
"""

import base64
import codecs
import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.json import Encoder

SHARED = "small"
"""The name of the file of what is small of a module, `m/x/small`: payloads by their names."""
MOST_SMALL_CHARACTERS = 50_000
"""Characters of JSON up to which a payload may be in that file."""
INLINE_LIMIT = 2_000
"""Characters of JSON above which a payload is compressed in its file."""
_LEVEL = 7
"""Of gzip: 9 takes twice the time for one byte in a hundred."""
_MOST_BYTES = 512 << 20
"""Of JSON that is read."""
_MOST_VALUES = 50_000_000
_GZIP = 16 + zlib.MAX_WBITS
_ENCODER = Encoder()
_ESCAPING = "xlareport-json"
"""The name of `_escape_json` among Python's error handlers."""
_EXPONENT = re.compile(rb"e(?<=[0-9]e)-?[0-9]+(?:[,\]}]|\Z)")
"""A float's exponent. The expression begins with its letter: a search for a character is fast."""
_SMALL = b"0.0000"
"""The beginning of a float for which Python writes an exponent, and msgspec does not."""
_FLOAT = re.compile(rb"[\[,:]-?(?:0\.0000|[0-9]+(?:\.[0-9]+)?e)")
"""The beginning of such a float in a list or an object, not amid the text of a constant."""
_MARKUP, _PLAIN = b"<", b"."
"""The digit of base 85 (RFC 1924) that could begin markup, and what is written for it."""
_KEY = re.compile(r"[a-z0-9][a-z0-9._~-]*(/[a-z0-9][a-z0-9._~-]*)*\Z", re.IGNORECASE)
_CALL = re.compile(r'xlareport\.deliver\("([^"]*)", (\'.*\'|"[^"]*")(?:, "(gzip)")?\);\n\Z')


class LongText(Struct, frozen=True):
    """The content of a file in parts, of which few are in memory at a time."""

    parts: Iterable[str]


class Payload(Struct, frozen=True):
    """A value on its way to the page script."""

    key: str
    body: str
    """JSON, or packed JSON."""
    packing: str | None = None
    """`gzip`, None for JSON."""


def payload_path(key: str) -> str:
    """Return where the payload of `key` is in the site: `assets/data/m/x/steps.js`."""
    if not _KEY.match(key):
        raise ValueError(f"A payload's key is a relative path of plain characters: {key!r}.")
    return f"assets/data/{key}.js"


def make_payload(key: str, value: Any) -> Payload:
    """Return a payload of `value`, anything JSON can hold; a small one is left as JSON."""
    payload_path(key)
    return _smaller(Payload(key, write_json(value)), MOST_SMALL_CHARACTERS)


def write_json(value: Any) -> str:
    """Return a value as Python's `json` writes it, in ASCII; NaN and infinity are null.

    Raises TypeError for what JSON cannot hold.
    """
    try:
        written = _ENCODER.encode(value)
    except (TypeError, UnicodeEncodeError):  # keys that are not strings, bytes that are not UTF-8
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    may_differ = _SMALL in written or _EXPONENT.search(written)
    is_nested = written.startswith((b"[", b"{"))
    if may_differ and (not is_nested or _FLOAT.search(written)):
        try:
            return json.dumps(value, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError):  # records, sets, infinity: what msgspec alone can write
            return json.dumps(json.loads(written), separators=(",", ":"))
    text = written.replace(b"\x7f", b"\\u007f").decode()
    return text if text.isascii() else text.encode("ascii", _ESCAPING).decode()


def _escape_json(error: UnicodeError) -> tuple[str, int]:
    """Return characters that are not ASCII as JSON escapes, and where they end."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(_ESCAPING, _escape_json)


def make_payload_file(key: str, value: Any) -> tuple[str, str]:
    """Return the file of a payload: its path in the site, and its script."""
    return write_payload(make_payload(key, value))


def write_payload(payload: Payload) -> tuple[str, str]:
    """Return the file of a single payload: its path in the site, and its script."""
    return payload_path(payload.key), _script(_smaller(payload, INLINE_LIMIT))


def read_stored_value(site: Path, key: str) -> Any:
    """Return the value of a payload of a built site, which it shares a file with or has its own."""
    folder, _, name = key.rpartition("/")
    shared = site / payload_path(f"{folder}/{SHARED}" if folder else SHARED)
    bundle_payloads = read_payload(shared.read_text("ascii"))[1] if shared.is_file() else {}
    if name in bundle_payloads:
        return bundle_payloads[name]
    return read_payload((site / payload_path(key)).read_text("ascii"))[1]


def _smaller(payload: Payload, limit: int) -> Payload:
    """Pack what is longer than `limit`, unless it is packed."""
    if payload.packing or len(payload.body) <= limit:
        return payload
    return Payload(payload.key, compress_json(payload.body.encode()), "gzip")


def compress_json(written: bytes) -> str:
    """Return JSON as gzip in the digits of base 85, which need no quoting: 5 for 4 bytes."""
    digits = base64.b85encode(gzip.compress(written, _LEVEL, mtime=0))
    return digits.replace(_MARKUP, _PLAIN).decode()


def embed_payload(script: str) -> str:
    """Return a payload script as JSON that is safe inside markup and scripts.

    A report in one file contains its payloads in this form. Raises ValueError.
    """
    payload = _delivered(script)
    return json.dumps([payload.key, payload.body, payload.packing], separators=(",", ":")).replace(
        "<", "\\u003c"
    )


def extract_payload(data: str) -> str:
    """Return the script that `embed_payload` turned into `data`; raises ValueError."""
    try:
        delivered = json.loads(data)
    except RecursionError as error:
        raise ValueError("This payload is nested too deeply.") from error
    match delivered:
        case [str(key), str(body), None | "gzip" as packing] if _KEY.match(key):
            return _script(Payload(key, body, packing))
    raise ValueError("This is not a payload.")


def read_payload(script: str) -> tuple[str, Any]:
    """Return the key and the value of a script that `write_payload` made; raises ValueError.

    A foreign script may be a bomb, so the unpacked size and the number of values are limited.
    """
    payload = _delivered(script)
    return payload.key, decode_payload(payload)


def decode_payload(payload: Payload) -> Any:
    """Return the value of a payload; raises ValueError."""
    written = _unpacked(payload.body) if payload.packing else payload.body.encode()
    if written.count(b",") + written.count(b"[") + written.count(b"{") > _MOST_VALUES:
        raise ValueError("This payload holds too many values.")
    try:
        return json.loads(written)
    except RecursionError as error:
        raise ValueError("This payload is nested too deeply.") from error


def _script(payload: Payload) -> str:
    if payload.packing:
        return f'xlareport.deliver("{payload.key}", "{payload.body}", "{payload.packing}");\n'
    return f'xlareport.deliver("{payload.key}", {_script_string(payload.body)});\n'


def _delivered(script: str) -> Payload:
    match = _CALL.match(script)
    if match is None:
        raise ValueError("This is not a payload.")
    key, literal, packing = match.groups()
    body = literal[1:-1]
    return Payload(key, body if packing else re.sub(r"\\(.)", r"\1", body), packing)


def _unpacked(body: str) -> bytes:
    """Return the JSON in a gzip file, up to a limit."""
    reader = zlib.decompressobj(wbits=_GZIP)
    try:
        digits = body.encode().replace(_PLAIN, _MARKUP)
        written = reader.decompress(base64.b85decode(digits), _MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"This payload is damaged: {error}.") from error
    if not reader.eof:
        raise ValueError("This payload is cut off, or unpacks to too much.")
    return written


def _script_string(written: str) -> str:
    """Quote ASCII JSON as a script string that ends neither itself nor a script element."""
    quoted = written.replace("\\", "\\\\").replace("'", "\\'").replace("<", "\\\\u003c")
    return f"'{quoted}'"


_MOST_CHARACTERS = 700_000
"""Characters of JSON in that file, so that the first page of a large module comes quickly."""
_QUICKLY = 1
"""A level of zlib, for what is unpacked again a moment later."""

TextFile = tuple[str, str]
"""(path below the site, content)."""
SiteFile = tuple[str, str | bytes | LongText]
"""(path below the site, content)."""


class PackedPayloads(Struct, frozen=True):
    """The payloads of a module: the small ones compressed together, each other one as a file."""

    small: bytes = b""
    """Lines of a key, a space and JSON, compressed by zlib."""
    files: tuple[TextFile, ...] = ()
    """Files of the payloads that are not small."""


NO_PAYLOADS = PackedPayloads()


def pack_small_payloads(payloads: Iterable[Payload]) -> PackedPayloads:
    """Pack the small payloads of a module quickly; the others become files."""
    small, others = _parted(payloads)
    lines = "\n".join(f"{payload.key} {payload.body}" for payload in small)
    return PackedPayloads(
        zlib.compress(lines.encode(), _QUICKLY), tuple(map(write_payload, others))
    )


def unpack_small_payloads(small: bytes) -> Iterator[Payload]:
    """Yield the small payloads that `pack_small_payloads` packed."""
    lines = zlib.decompress(small).decode() if small else ""
    for line in lines.splitlines():
        key, body = line.split(" ", 1)
        yield Payload(key, body)


def module_payloads(key: str, payloads: Iterable[Payload]) -> Iterator[TextFile]:
    """Yield the files of payloads of a module: one for all small ones, and one for each other."""
    small, others = _parted(payloads)
    yield bundle_payloads(key, small)
    yield from map(write_payload, others)


def bundle_payloads(key: str, payloads: Iterable[Payload]) -> TextFile:
    """Return the file of payloads that are not packed, by the last part of their keys."""
    members = sorted(f'"{payload.key.rpartition("/")[2]}":{payload.body}' for payload in payloads)
    return write_payload(Payload(key, f"{{{','.join(members)}}}"))


def _parted(payloads: Iterable[Payload]) -> tuple[Sequence[Payload], Sequence[Payload]]:
    """Part the smallest payloads, as many as may share a file, from the others."""
    ordered = sorted(
        payloads, key=lambda payload: (payload.packing is not None, len(payload.body), payload.key)
    )
    ends = accumulate(len(payload.body) for payload in ordered)
    fit = [
        not payload.packing and end <= _MOST_CHARACTERS
        for payload, end in zip(ordered, ends, strict=True)
    ]
    return ordered[: sum(fit)], ordered[sum(fit) :]
