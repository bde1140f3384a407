"""Comparing a dump with a version of itself that has one layer changed, against building it once.

The changed version is made here: in every text the `tanh` of one layer becomes a `logistic`. Both
are whole commands in processes of their own, with all jobs, and both write their site.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
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
        build = _run("build", dump, "--out", Path(folder) / "built")
        compare = _run("compare", dump, changed, "--out", Path(folder) / "compared")
    print(f"{dump.name}: {lines:,} lines changed in the texts")
    print(f"build {build:.1f} s, compare {compare:.1f} s: {compare / build:.2f} times")


def _change(dump: Path, target: Path) -> int:
    """Copy the texts with one layer changed; return how many lines that are."""
    target.mkdir()
    count = 0
    for path in sorted(one for one in dump.iterdir() if one.is_file()):
        content = path.read_bytes()
        if path.suffix == ".txt":
            lines = content.split(b"\n")
            for place, line in enumerate(lines):
                if b" tanh(" in line and any(one.encode() in line for one in _LAYERS):
                    lines[place] = line.replace(b" tanh(", b" logistic(")
                    count += 1
            content = b"\n".join(lines)
        (target / path.name).write_bytes(content)
    return count


def _run(*arguments: object) -> float:
    command = [sys.executable, "-m", "xlareport", *map(str, arguments), "--quiet"]
    start = time.perf_counter()
    subprocess.run(command, env=environment(), check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
