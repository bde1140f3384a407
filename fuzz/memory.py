"""Peak memory on broken dumps against the good ones they were made of, and on bombs.

`python fuzz/memory.py --count 50`. Each is read in a process of its own, forked from one that has
imported everything; what is told is what it took beyond that.
"""

import argparse
import gzip
import json
import os
import random
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from mutate import InThisProcess
from mutations import broken, fixtures, write

from xlareport import report
from xlareport.report import BuildOptions, build

_MIB = 1 << 20
_HEAD = b"HloModule m\n\nENTRY %e (p: f32[]) -> f32[] {\n  "
_TAIL = b"\n  ROOT %p = f32[] parameter(0)\n}\n"

Content = Callable[[int], bytes]
"""Makes about so many bytes."""

GOOD: tuple[str, Content] = (
    "txt",
    lambda size: (
        _HEAD
        + b"".join(
            b'%%a.%d = f32[8,16]{1,0} add(%%p, %%p), metadata={op_name="jit(f)/add.%d"}\n  '
            % (number, number)
            for number in range(size // 75)
        )
        + _TAIL
    ),
)
BOMBS: Mapping[str, tuple[str, Content]] = {
    "brackets": ("txt", lambda size: _HEAD + b"%a = " + b"(" * size + _TAIL),
    "one line": ("txt", lambda size: _HEAD + b"a" * size + _TAIL),
    "many dimensions": (
        "txt",
        lambda size: _HEAD + b"%a = f32[" + b"9," * (size // 2) + b"9] x()" + _TAIL,
    ),
    "an open quote": (
        "txt",
        lambda size: _HEAD + b'%a = f32[] x(), m="' + b'\\"' * (size // 2) + _TAIL,
    ),
    "clusters": ("dot", lambda size: b"digraph G {\n" + b"subgraph cluster_1 {\n" * (size // 21)),
    "a packed proto": ("hlo.pb.gz", lambda size: gzip.compress(bytes(50 * size), 9)),
    "an absurd length": ("hlo.pb", lambda size: b"\x0a\xff\xff\xff\xff\x07" + b"x" * size),
    "brackets in a trace": ("trace.json", lambda size: b'{"traceEvents":' + b"[" * size),
    "planes of a profile": ("xplane.pb", lambda size: b"\x0a\x02\x1a\x00" * (size // 4)),
    "fields of a plane": (
        "xplane.pb",
        lambda size: b"\x0a\x80\x80\x40" + (b"\x1a\x00" * size)[: 1 << 20],
    ),
}


def taken(dump: Path) -> int:
    """Return the bytes that building the report of a dump took beyond those of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        before = _peak(reset=True)
        with tempfile.TemporaryDirectory(prefix="xlareport-out-") as out:
            build(dump, BuildOptions(Path(out) / "out", html=False, pictures="none"))
        os.write(writing, str(_peak() - before).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        number = int(told.read() or b"-1")
    os.waitpid(child, 0)
    return number


def _peak(*, reset: bool = False) -> int:
    """Return the most resident memory of this process in bytes, from now on where asked."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5", "ascii")
    status = Path("/proc/self/status").read_text("ascii")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024


def mutations(first: int, count: int) -> list[tuple[int, int, int]]:
    """Return (number, bytes of the good dump, bytes of the broken one)."""
    found = []
    with fixtures() as dumps, tempfile.TemporaryDirectory(prefix="xlareport-both-") as folder:
        taken(dumps(0))  # so that what is read once and kept is no dump's
        for number in range(first, first + count):
            luck = random.Random(number)  # noqa: S311 - the same dumps every time
            files = broken(dumps(number), luck)
            good, bad = Path(folder) / f"{number}-good", Path(folder) / f"{number}-bad"
            write(files, good, good=True)
            write(files, bad)
            found.append((number, taken(good), taken(bad)))
    return found


def bomb_taken(ending: str, content: Content, size: int) -> tuple[int, int]:
    """Return the bytes on disk of a dump of one file, and what it took."""
    with tempfile.TemporaryDirectory(prefix="xlareport-bomb-") as folder:
        path = Path(folder) / f"module_0001.x.before_optimizations.{ending}"
        path.write_bytes(content(size))
        return path.stat().st_size, taken(Path(folder))


def bombs(size: int) -> None:
    """Print what each bomb took, against a good text of that size."""
    _, good = bomb_taken(*GOOD, size)
    print(f"a good text of {size / _MIB:.0f} MiB took {good / _MIB:.0f} MiB", flush=True)
    for name, (ending, content) in BOMBS.items():
        on_disk, took = bomb_taken(ending, content, size)
        said = f"{on_disk / _MIB:.1f} MiB took {took / _MIB:.0f} MiB, {took / good:.2f} of that"
        print(f"{name}: {said}", flush=True)


def main() -> None:
    """Print the bombs, then the mutations with the worst ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--size", type=int, default=20_000_000, help="bytes of a bomb")
    chosen = parser.parse_args()
    setattr(report, "WorkerPool", InThisProcess)  # noqa: B010 - it is not its own name
    bombs(chosen.size)
    found = mutations(chosen.first, chosen.count)
    worst = sorted(found, key=lambda one: one[2] / max(one[1], _MIB), reverse=True)[:5]
    told = [(n, round(good / _MIB, 1), round(bad / _MIB, 1)) for n, good, bad in worst]
    over = sum(bad > 2 * max(good, _MIB) for _, good, bad in found)
    print(json.dumps({"dumps": len(found), "over twice": over, "worst": told}))


if __name__ == "__main__":
    main()
