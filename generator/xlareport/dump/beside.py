"""Finds folders next to a dump that belong to it."""

from pathlib import Path


def profiles_beside(dump: Path | None) -> tuple[Path, ...]:
    """Return the profile folders next to a dump: `plugins/profile`, or one folder down."""
    if dump is None or not dump.is_dir():
        return ()
    above = dump.resolve().parent
    paths = [*above.glob("plugins/profile"), *above.glob("*/plugins/profile")]
    return tuple(sorted(path for path in paths if not path.is_relative_to(dump.resolve())))
