"""The texts of `tests/data/findings`: modules that have the pattern of a rule, and that lack it.

A text by hand is a file of sections, each below a line with its mark: `// having`, `// lacking`,
and for modules before optimizations `// having before`, `// lacking before`. Modules of a compiler
are files of their own, `having.txt` and `lacking.txt`.
"""

import re
from collections.abc import Mapping
from pathlib import Path

FINDINGS = Path(__file__).parents[2] / "data" / "findings"
MARK = re.compile(r"^// ((?:having|lacking)(?: before)?)\n", re.MULTILINE)


def paths_of_texts() -> list[Path]:
    """Return a file for each pair of a module that has a pattern and one that lacks it."""
    others = {"lacking.txt", "having.before.txt", "lacking.before.txt"}
    return sorted(path for path in FINDINGS.glob("*/*.txt") if path.name not in others)


def read_texts(path: Path) -> Mapping[str, str]:
    """Return the modules of a pair by their marks."""
    if path.name == "having.txt":
        return {
            written.stem.replace(".", " "): written.read_text()
            for written in path.parent.iterdir()
            if written.name.startswith(("having", "lacking"))
        }
    _, *parts = MARK.split(path.read_text())
    return dict(zip(parts[::2], parts[1::2], strict=True))


def having(rule: str, name: str = "by_hand") -> str:
    """Return a module that has the pattern of a rule."""
    return read_texts(FINDINGS / rule / f"{name}.txt")["having"]
