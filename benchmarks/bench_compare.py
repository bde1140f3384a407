"""Comparing a dump with a version of itself that has one layer changed, against building it once.

The changed version is made here: in every text the `tanh` of one layer becomes a `logistic`. All
are whole commands in processes of their own, with all jobs, and write their site. The comparison
runs twice: of the raw dumps, and of the reports built of them. Seconds are those of all processors.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import environment

ROOT = Path(__file__).resolve().parent.parent
BUNDLED = ROOT / "tests/data/jax-cpu-train"
LARGE = "jax-gpt2-allpasses/jax-gpt2-allpasses"
"""Used instead where XLAREPORT_DUMPS names a folder that has it."""
_LAYERS = ("h_3/", "layer_3/", "rollout")
"""One of these stands in the op_name of the lines that are changed."""


def main() -> None:
    """Print seconds of both and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dump", type=Path, nargs="?", help="a folder of texts")
    large = Path(os.environ.get("XLAREPORT_DUMPS", "")) / LARGE
    dump = parser.parse_args().dump or (large if large.is_dir() else BUNDLED)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        changed = Path(folder) / "changed"
        lines = _change(dump, changed)
        reports = [Path(folder) / name for name in ("built", "built-changed")]
        build = _run("build", dump, "--out", reports[0])
        _run("build", changed, "--out", reports[1])
        raw = _run("compare", dump, changed, "--out", Path(folder) / "compared")
        built = _run("compare", *reports, "--out", Path(folder) / "compared-built")
    print(f"{dump.name}: {lines:,} lines changed in the texts; build {build:.1f} s")
    for what, seconds in (("dumps", raw), ("built reports", built)):
        print(f"compare two {what} {seconds:.1f} s: {seconds / build:.2f} times the build")


def _change(dump: Path, target: Path) -> int:
    """Copy the texts with one layer changed; return how many lines that are."""
    target.mkdir()
    count = 0
    for path in sorted(one for one in dump.iterdir() if one.is_file()):
        content = path.read_bytes()
        if path.suffix == ".txt":
            lines = content.split(b"\n")
            for place, line in enumerate(lines):
                if b" tanh(" in line and any(layer.encode() in line for layer in _LAYERS):
                    lines[place] = line.replace(b" tanh(", b" logistic(")
                    count += 1
            content = b"\n".join(lines)
        (target / path.name).write_bytes(content)
    return count


def _run(*arguments: object) -> float:
    command = [sys.executable, "-m", "xlareport", *map(str, arguments), "--quiet"]
    start = _seconds()
    subprocess.run(command, env=environment(), check=True, stdout=subprocess.DEVNULL)
    return _seconds() - start


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
