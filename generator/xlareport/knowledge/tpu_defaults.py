"""Defaults of the TPU compiler's flags, by release of libtpu: the table `tpu_defaults.tsv`."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from msgspec import Struct


class TpuDefaults(Struct, frozen=True):
    """The flag defaults of one libtpu release, as written by a compilation without flags."""

    release: str
    """The version of the package libtpu."""
    build: int
    """The number after `cl_` in names of files."""
    values: Mapping[str, str]


@cache
def all_releases() -> tuple[TpuDefaults, ...]:
    """Return the releases of the table, the oldest first."""
    text = files(__package__).joinpath("tpu_defaults.tsv").read_text("utf-8")
    (_, *heads), *rows = (line.split("\t") for line in text.splitlines())
    columns = zip(*(row[1:] for row in rows), strict=True)
    names = [row[0] for row in rows]
    return tuple(
        _release(head, dict(zip(names, column, strict=True)))
        for head, column in zip(heads, columns, strict=True)
    )


def _release(head: str, column: Mapping[str, str]) -> TpuDefaults:
    release, _, build = head.partition(" ")
    values = {name: value for name, value in column.items() if value != "-"}
    return TpuDefaults(release, int(build), values)


def nearest_release(build: int) -> TpuDefaults:
    """Return the release of a build, or the one with the nearest build number."""
    return min(all_releases(), key=lambda release: abs(release.build - build))


@cache
def release_of(version: str) -> TpuDefaults | None:
    """Return a release by its version; None where the table does not have it."""
    return next((release for release in all_releases() if release.release == version), None)
