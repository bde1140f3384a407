"""Finds files that are not code: in the package once installed, else in the checkout."""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent.parent


def find_resource(name: str) -> Path:
    """Return the folder or file `name` (`templates`, `site_src`) of the installation in use."""
    installed = PACKAGE / name
    return installed if installed.exists() else PACKAGE.parent.parent / name


def read_toml(package: str | None, *path: str) -> dict[str, Any]:
    """Return the content of a TOML file in a package or a folder of it."""
    return tomllib.loads(files(package or "").joinpath(*path).read_text("utf-8"))
