"""As of when a release of a framework has XLA: the table `releases.toml`."""

import re
from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from xlareport.knowledge.table_files import read_table

_VERSION = re.compile(r"([a-z_-]{2,20})(?:==|[ -])v?(\d{1,4}(?:\.\d{1,4}){0,3})\Z", re.IGNORECASE)
_MONTH = re.compile(r"20\d\d-(?:0[1-9]|1[0-2])\Z")
_ALSO = {"jaxlib": "jax", "tf": "tensorflow", "torch-xla": "torch_xla"}


class Releases(Struct, frozen=True):
    """The releases of one package."""

    name: str
    lag: int
    """Months from the XLA that is in a release to the release."""
    months: tuple[tuple[str, str], ...]
    """(version, month of its release), the oldest first."""


@cache
def releases() -> Mapping[str, Releases]:
    """Return the table by package."""
    return read_table("releases", Releases)


def era_of(written: str) -> str:
    """Return the month `yyyy-mm` of XLA for `2024-05`, `jax==0.4.30` or `tensorflow 2.12`.

    A version between two of the table counts as the older one. Raises ValueError with the forms
    that are understood.
    """
    if _MONTH.match(written):
        return written
    match = _VERSION.match(written.strip())
    name = match[1].lower() if match else ""
    release = releases().get(_ALSO.get(name, name))
    if match is None or release is None:
        packages = ", ".join(releases())
        raise ValueError(
            f"{written!r} is no month such as 2024-05 and no release such as jax==0.4.30; "
            f"releases are known of {packages}"
        )
    wanted = _version_numbers(match[2])
    earlier = [month for version, month in release.months if _version_numbers(version) <= wanted]
    return _months_before(earlier[-1] if earlier else release.months[0][1], release.lag)


def _version_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _months_before(month: str, lag: int) -> str:
    year, number = (int(part) for part in month.split("-"))
    count = year * 12 + number - 1 - lag
    return f"{count // 12}-{count % 12 + 1:02d}"
