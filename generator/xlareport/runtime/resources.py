"""Finds files that are not code: in the package once installed, else in the checkout."""

from pathlib import Path

PACKAGE = Path(__file__).parent.parent


def find_resource(name: str) -> Path:
    """Return the folder or file `name` (`templates`, `site_src`) of the installation in use."""
    installed = PACKAGE / name
    return installed if installed.exists() else PACKAGE.parent.parent / name
