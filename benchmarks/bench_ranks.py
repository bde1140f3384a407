"""Ranks: how long a dump of many equal ranks takes beside one of them.

The folders are copies of one real dump, byte for byte; with `--harmless` every HLO text of every
rank but the first has op_names of its own. Measured are the whole build of one, the
whole build of all, and reading and hashing all files, each in processes of their own, as CPU time:
on a busy machine that says more than the wall's. Of several runs the least of each counts.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_many_modules import build
from dumps import dumps

ROOT = Path(__file__).resolve().parent.parent
GOAL = 1.3
"""CPU time of all ranks, hashing aside, by that of one."""
HASHING = """
import hashlib, pathlib, sys
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
    if path.is_file():
        hashlib.blake2b(path.read_bytes(), digest_size=20).digest()
"""


def main() -> None:
    """Copy a dump, build both reports, print what each took; exit 1 where the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dump", type=Path, help="the dump to copy; the first real one if none")
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--harmless", action="store_true", help="other op_names in each rank")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench_ranks.json")
    arguments = parser.parse_args()
    dump = arguments.dump or dumps()[0]
    with tempfile.TemporaryDirectory() as folder:
        ranks = Path(folder) / "ranks"
        for number in range(arguments.ranks):
            shutil.copytree(dump, ranks / f"rank_{number}")
            if arguments.harmless and number:
                rename_ops(ranks / f"rank_{number}", number)
        single = least(dump, Path(folder), arguments)
        many = least(ranks, Path(folder), arguments)
        hashed = min(hashing(ranks) for _ in range(arguments.runs))
        size = sum(path.stat().st_size for path in ranks.rglob("*") if path.is_file())
    report = {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "dump": dump.name,
        "ranks": arguments.ranks,
        "harmless_differences": arguments.harmless,
        "bytes": size,
        "one_cpu_seconds": single,
        "all_cpu_seconds": many,
        "hashing_cpu_seconds": hashed,
        "ratio_without_hashing": (many - hashed) / single,
        "goal": GOAL,
    }
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(report, indent=1))
    sys.exit(report["ratio_without_hashing"] > GOAL)


def rename_ops(folder: Path, number: int) -> None:
    """Give every op_name of a rank's HLO texts a scope of its own."""
    scope = b'op_name="rank_%d/' % number
    for path in folder.rglob("*.txt"):
        path.write_bytes(path.read_bytes().replace(b'op_name="', scope))


def least(dump: Path, folder: Path, arguments: argparse.Namespace) -> float:
    """Return the least CPU time of some builds, each into an empty folder."""
    times = []
    for _ in range(arguments.runs):
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        times.append(build(dump, out, arguments.jobs)["cpu_seconds"])
    return min(times)


def hashing(folder: Path) -> float:
    """Return the CPU time of a process that reads and hashes every file."""
    before = used(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", HASHING, folder], check=True)
    return used(resource.RUSAGE_CHILDREN) - before


def used(who: int) -> float:
    """Return the CPU time of a process or of its children, in seconds."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
