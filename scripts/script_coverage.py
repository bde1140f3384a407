"""Print how much of each page script the browser tests ran: `scripts/script_coverage.py FOLDER`.

FOLDER holds what tests/script_coverage.py wrote. A line counts as run where any of it ran.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "site_src/assets/xlareport.js"
_MODULE = re.compile(r"  // (src/\S+)\n")
"""What esbuild writes before each module."""


def main(folder: Path) -> int:
    """Print a table of files, lines and the percent of them that ran; return the exit code."""
    script = SCRIPT.read_text("ascii")
    files = [path.read_bytes() for path in sorted(folder.glob("*.ran"))]
    if not files or any(len(ran) != len(script) for ran in files):
        sys.stderr.write(f"{folder} has nothing of the present script.\n")
        return 1
    ran = bytes(map(max, zip(*files, strict=True))) if len(files) > 1 else files[0]
    rows = [(name, *counts(script, ran, start, end)) for name, start, end in modules(script)]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    for name, lines, covered in rows:
        sys.stdout.write(f"{name:40} {lines:6} {100 * covered / max(1, lines):6.1f}%\n")
    return 0


def modules(script: str) -> Iterator[tuple[str, int, int]]:
    """Yield name, start and end of each module in a bundle."""
    found = [(match[1], match.end()) for match in _MODULE.finditer(script)]
    ends = [match.start() for match in _MODULE.finditer(script)][1:]
    for (name, start), end in zip(found, [*ends, len(script)], strict=True):
        yield name, start, end


def counts(script: str, ran: bytes, start: int, end: int) -> tuple[int, int]:
    """Return how many lines with code there are in a part, and how many of them ran."""
    lines = covered = 0
    for match in re.finditer(r"[^\n]+", script[start:end]):
        code = match[0].strip()
        if not re.search(r"\w", code):
            continue  # braces alone
        at = start + match.start() + match[0].index(code)
        lines += 1
        covered += any(ran[at : at + len(code)])
    return lines, covered


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
