"""What a cluster costs beside the work itself, and what the client's memory grows with.

Dumps of many small modules are made here and built with processes of this machine, then by workers
of Dask on it, whose site has to be the same. The overhead is the CPU time that Dask adds, less what
the start of its processes takes, measured with a dump of few modules.

Usage: `bench_cluster.py --modules 1000,5000,20000`; needs `xlareport[dask]`.
"""

import argparse
import filecmp
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_growth import Case, make
from measuring import environment
from msgspec import to_builtins

ROOT = Path(__file__).resolve().parent.parent
FEW = 20
"""Modules of the dump whose build is all start."""
_CLIENT = """
import json, resource, sys
from xlareport.cli import main
sys.argv[1:] = json.loads(sys.argv[1])
try:
    main()
finally:
    own, below = (resource.getrusage(who) for who in (0, -1))
    peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1]
    seconds = own.ru_utime + own.ru_stime, below.ru_utime + below.ru_stime
    print(json.dumps([int(peak) / 1024, *seconds]), file=sys.stderr)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a build took."""

    megabytes: float
    """The most memory that the client took."""
    client_seconds: float
    """Of CPU, of the client alone."""
    worker_seconds: float
    """Of CPU, of all processes that it began."""

    @property
    def seconds(self) -> float:
        """All together."""
        return self.client_seconds + self.worker_seconds


def main() -> None:
    """Make each dump, build it in both ways, print a table and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", type=_numbers, default=[1_000, 5_000])
    parser.add_argument("--instructions", type=int, default=40, help="of each module (40)")
    parser.add_argument("--snapshots", type=int, default=4, help="of each module (4)")
    parser.add_argument("--pictures", default="changed")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench_cluster.json")
    asked = parser.parse_args()
    print(
        "| modules | local CPU s | cluster CPU s | client MB, local | client MB, cluster | same |"
    )
    print("|--:|--:|--:|--:|--:|---|")
    rows = []
    for number in [FEW, *asked.modules]:
        rows.append(measure(number, asked))
        print(_line(rows[-1]), flush=True)
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    report = json.dumps({"machine": machine, "rows": rows}, indent=1)
    asked.json.write_text(f"{report}\n", encoding="utf-8")
    _print_overhead(rows)


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part]


def _line(row: dict[str, Any]) -> str:
    names = ("local_seconds", "cluster_seconds", "local_megabytes", "cluster_megabytes")
    cells = [f"{row[name]:.1f}" for name in names]
    return f"| {row['modules']} | {' | '.join(cells)} | {row['same']} |"


def _print_overhead(rows: list[dict[str, Any]]) -> None:
    """Print what Dask adds to each second of work, start aside."""
    few, most = rows[0], rows[-1]
    local = most["local_seconds"] - few["local_seconds"]
    cluster = most["cluster_seconds"] - few["cluster_seconds"]
    print(f"Overhead of the cluster: {cluster / local - 1:+.1%} of the CPU time, start aside.")


def measure(number: int, asked: argparse.Namespace) -> dict[str, Any]:
    """Return what both builds of a dump of so many modules took."""
    with tempfile.TemporaryDirectory() as folder:
        dump, local, far = (Path(folder) / name for name in ("dump", "local", "far"))
        make(dump, Case("modules", number, asked.instructions, asked.snapshots))
        options = ["--pictures", asked.pictures, "--jobs", str(asked.workers)]
        here = build(dump, local, options)
        there = build(dump, far, [*options, "--scheduler", f"local:{asked.workers}"])
        same = not _differing(local / "site_src", far / "site_src")
    return {
        "modules": number,
        "local_seconds": here.seconds,
        "cluster_seconds": there.seconds,
        "local_megabytes": here.megabytes,
        "cluster_megabytes": there.megabytes,
        "same": same,
        **{f"local_{name}": value for name, value in to_builtins(here).items()},
        **{f"cluster_{name}": value for name, value in to_builtins(there).items()},
    }


def build(dump: Path, out: Path, options: list[str]) -> Cost:
    """Build the sources of a report in a process of its own."""
    arguments = ["build", str(dump), "--out", str(out), "--no-html", "--quiet", *options]
    done = subprocess.run(
        [sys.executable, "-c", _CLIENT, json.dumps(arguments)],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Cost(*json.loads(done.stderr.strip().splitlines()[-1]))


def _differing(folder: Path, other: Path) -> list[str]:
    """Return the files that are not the same in both folders."""
    compared = filecmp.dircmp(folder, other)
    _, wrong, odd = filecmp.cmpfiles(folder, other, compared.common_files, shallow=False)
    different = [*wrong, *odd, *compared.left_only, *compared.right_only]
    for name in compared.common_dirs:
        different += _differing(folder / name, other / name)
    return different


if __name__ == "__main__":
    main()
