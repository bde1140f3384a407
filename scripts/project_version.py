"""Prints the version of the package that pyproject.toml names."""

import sys
import tomllib
from pathlib import Path

if __name__ == "__main__":
    settings = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    sys.stdout.write(f"{settings['project']['version']}\n")
