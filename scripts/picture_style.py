"""Write what scripts and style sheets take from pictures/style.toml: `make bundle` calls this.

With `--check` nothing is written; the exit code is 1 where a file is not what the table makes.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import to_builtins

from xlareport.pictures.style_values import dark, folding_rules, sizes

ROOT = Path(__file__).resolve().parents[1]
NOTE = "Made from generator/xlareport/pictures/style.toml by `make bundle`: changes here are lost."


def script_module() -> str:
    """Return the JavaScript module with the sizes of pictures, and what they fold."""
    head = f"/** Sizes of pictures, in SVG user units, and what they fold. {NOTE} */\n\n"
    values = [(name, f"{value:g}") for name, value in to_builtins(sizes()).items()]
    values += [(name, _written(value)) for name, value in to_builtins(folding_rules()).items()]
    return head + "".join(f"export const {name.upper()} = {value};\n" for name, value in values)


def _written(value: int | frozenset[str]) -> str:
    """Return a number or a set of opcodes as JavaScript."""
    return str(value) if isinstance(value, int) else f"new Set({json.dumps(sorted(value))})"


def style_sheet() -> str:
    """Return the CSS with the colors of pictures in the pages' dark scheme."""
    rules = "".join(f"    --xg-{name}: {color};\n" for name, color in dark().items())
    return (
        f"/* Colors of pictures where it is dark; paper is light. {NOTE} */\n"
        f'@media screen {{\n  [data-md-color-scheme="slate"] {{\n{rules}  }}\n}}\n'
    )


def outdated() -> Iterator[tuple[Path, str]]:
    """Yield the files that are not what the table makes, with what they should hold."""
    texts = {
        ROOT / "frontend/src/pictures/sizes.js": script_module(),
        ROOT / "site_src/assets/picture_colors.css": style_sheet(),
    }
    for path, text in texts.items():
        if not path.is_file() or path.read_text("utf-8") != text:
            yield path, text


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` only say which are outdated."""
    code = 0
    for path, text in outdated():
        if arguments == ["--check"]:
            sys.stderr.write(f"{path.relative_to(ROOT)} is outdated: run `make bundle`.\n")
            code = 1
        else:
            path.write_text(text, "utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
