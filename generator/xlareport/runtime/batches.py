"""Tasks that travel together between processes, packed: few of them are in memory unpacked."""

import pickle
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import zstandard
from msgspec import Struct

TOGETHER = 20
"""Tasks that are packed together: so many are in memory unpacked at a time."""
_LEVEL = 1


class Batch(Struct, frozen=True):
    """Tasks that travel together, with the program that they have to be done by."""

    program: str
    work: bytes
    """Pickled and packed."""
    blocks: tuple[bytes, ...]
    """The items, pickled and packed, some together: unpacked they take ten times as much."""

    def items(self) -> Iterator[Any]:
        """Yield the items, which are equal to those that were packed."""
        for block in self.blocks:
            yield from unpack(block)


class BatchResults(Struct, frozen=True):
    """The results of a batch, and its duration."""

    results: tuple[bytes, ...]
    """Pickled and packed, one by one: few are unpacked at a time."""
    seconds: float


def pack_batch(program: str, work: Callable[[Any], Any], items: Iterable[Any]) -> Batch:
    """Return a batch of items; each is taken when there is room for it."""
    waiting = iter(items)
    blocks = iter(lambda: list(islice(waiting, TOGETHER)), [])
    return Batch(program, pack(work), tuple(map(pack, blocks)))


def do_batch(batch: Batch) -> BatchResults:
    """Return the results of the tasks of a batch."""
    started = time.perf_counter()
    work = unpack(batch.work)
    results = tuple(pack(work(item)) for item in batch.items())
    return BatchResults(results, time.perf_counter() - started)


def pack(value: Any) -> bytes:
    """Return a value as bytes."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress(pickle.dumps(value, 5))


def unpack(written: bytes) -> Any:
    """Return the value of bytes that `pack` returned, in a process that is trusted."""
    return pickle.loads(zstandard.ZstdDecompressor().decompress(written))  # noqa: S301 - of this process, in a file without a name; or of a client or a worker, whose objects Dask unpickles as well
