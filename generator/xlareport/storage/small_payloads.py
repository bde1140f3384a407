"""A module's small payloads in one file: packed together they take a fraction of what each takes.

The page script looks for a payload `m/x/NAME` in `m/x/small` first, and then in its own file.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from xlareport.storage.payloads import Payload, write_payload

_MOST = 700_000
"""Characters of JSON in that file, so that the first page of a large module comes quickly."""
_QUICKLY = 1
"""A level of zlib, for what is unpacked again a moment later."""

File = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Held:
    """Payloads of a module on their way to the process that makes the last ones."""

    small: bytes = b""
    files: tuple[File, ...] = ()
    """Of those that are not small."""


NOTHING = Held()


def hold(payloads: Iterable[Payload]) -> Held:
    """Pack the small payloads of a module quickly; the others become files."""
    small, others = _parted(payloads)
    lines = "\n".join(f"{payload.key} {payload.body}" for payload in small)
    return Held(zlib.compress(lines.encode(), _QUICKLY), tuple(map(write_payload, others)))


def held(small: bytes) -> Iterator[Payload]:
    """Yield the small payloads that `hold` packed."""
    lines = zlib.decompress(small).decode() if small else ""
    for line in lines.splitlines():
        key, body = line.split(" ", 1)
        yield Payload(key, body)


def module_payloads(key: str, payloads: Iterable[Payload]) -> Iterator[File]:
    """Yield the files of payloads of a module: one for all small ones, and one for each other."""
    small, others = _parted(payloads)
    yield together(key, small)
    yield from map(write_payload, others)


def together(key: str, payloads: Iterable[Payload]) -> File:
    """Return the file of payloads that are not packed, by the last part of their keys."""
    members = sorted(f'"{payload.key.rpartition("/")[2]}":{payload.body}' for payload in payloads)
    return write_payload(Payload(key, f"{{{','.join(members)}}}"))


def _parted(payloads: Iterable[Payload]) -> tuple[Sequence[Payload], Sequence[Payload]]:
    """Part the smallest payloads, as many as may share a file, from the others."""
    ordered = sorted(
        payloads, key=lambda payload: (payload.packing is not None, len(payload.body), payload.key)
    )
    ends = accumulate(len(payload.body) for payload in ordered)
    fit = [not payload.packing and end <= _MOST for payload, end in zip(ordered, ends, strict=True)]
    return ordered[: sum(fit)], ordered[sum(fit) :]
