"""Many small modules: how long the whole build of a dump of thousands of helper modules takes.

The dump is made here: the small modules of real dumps, each with its first few files, again and
again under new numbers. Of every five copies one is edited, each time to another size of its
largest dimension: the compiler would have written another module. On a busy machine CPU time says
more than the wall's.
"""

import argparse
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from dumps import dumps
from measuring import environment

from xlareport.dump.grouping import group, name_files
from xlareport.dump.modules import Artifact, ModuleFiles
from xlareport.dump.source import open_source

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 60_000
"""Bytes of a module that counts as small."""
LEAST = 5
"""Files of a module that is worth a copy."""
EDITED = 5
"""One copy of so many is edited."""
_NUMBER = re.compile(r"module_\d+")
_SIZES = re.compile(rb"(?<=[\[,])\d+(?=[,\]])")


@dataclass(frozen=True, slots=True)
class Original:
    """A small module: what follows its number in the names of its files, and their contents."""

    name: str
    files: tuple[tuple[str, bytes], ...]


def main() -> None:
    """Make the dump, build its report, print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", type=int, default=5_000)
    parser.add_argument("--files", type=int, default=10, help="of each module (10)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--dump", type=Path, help="where the dump is made, and stays")
    parser.add_argument("--out", type=Path, help="where the report is built, and stays")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench_many_modules.json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        dump = arguments.dump or Path(folder) / "dump"
        originals = list(small_modules(dumps(), arguments.files))
        files = make(dump, originals, arguments.modules)
        took = build(dump, arguments.out or Path(folder) / "out", arguments.jobs)
    report = {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "originals": len(originals),
        "modules": arguments.modules,
        "files": files,
        **took,
    }
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(report, indent=1))


def small_modules(paths: Sequence[Path], most_files: int) -> Iterator[Original]:
    """Yield the small modules of dumps, those of equal content once."""
    seen = set()
    for path in paths:
        with open_source(path) as source:
            for module in group(name_files(source)).modules:
                original = _original(module, most_files)
                if original is not None and original not in seen:
                    seen.add(original)
                    yield original


def _original(module: ModuleFiles, most_files: int) -> Original | None:
    chosen = sorted(module.artifacts, key=_place)[:most_files]
    if len(chosen) < LEAST or sum(artifact.entry.size for artifact in chosen) > LARGEST:
        return None
    files = (
        (_NUMBER.split(Path(artifact.path).name, maxsplit=1), artifact.entry.read())
        for artifact in chosen
    )
    named = [(parts[1], content) for parts, content in files if len(parts) > 1]
    return Original(module.name, tuple(named)) if len(named) == len(chosen) else None


def _place(one: Artifact) -> tuple[bool, bool]:
    """Put snapshots between passes last, and the others first: those are in every dump."""
    return one.name.sequence is not None, one.name.kind != "hlo-text"


def make(dump: Path, originals: Sequence[Original], modules: int) -> int:
    """Write the dump and return how many files it has."""
    dump.mkdir(parents=True, exist_ok=True)
    files = 0
    for number, one in enumerate(islice(cycle(originals), modules)):
        edit = number if number % EDITED == 0 else None
        for ending, content in one.files:
            path = dump / f"module_{2 * number:04d}{ending}"
            path.write_bytes(content if edit is None else edited(content, edit))
            files += 1
    return files


def edited(content: bytes, number: int) -> bytes:
    """Return a text with another size of its largest dimension; other files as they are."""
    sizes = {int(match) for match in _SIZES.findall(content) if len(match) < 9}
    if b"HloModule " not in content[:4096] or not sizes:
        return content
    largest, other = b"%d" % max(sizes), b"%d" % (10_000 + number)
    return _SIZES.sub(lambda found: other if found[0] == largest else found[0], content)


def build(dump: Path, out: Path, jobs: int) -> dict[str, float]:
    """Build the complete report, as a user does; return what it took and what it left."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "xlareport", "build", dump, "--out", out, "--jobs", str(jobs)],
        env=environment(),
        check=True,
    )
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    written = [path.stat() for path in (out / "site").rglob("*") if path.is_file()]
    return {
        "seconds": seconds,
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "site_files": len(written),
        "site_bytes": sum(one.st_size for one in written),
    }


if __name__ == "__main__":
    main()
