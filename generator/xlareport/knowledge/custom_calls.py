"""Custom calls by target: meaning, and rules for their cost: the table `custom_calls.toml`."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache, lru_cache

from msgspec import Struct

from xlareport.knowledge.table_files import read_table


class CustomCall(Struct, frozen=True):
    """The meaning of the custom calls with certain targets."""

    name: str
    targets: tuple[str, ...]
    """Their targets; `*` matches any letters, `?` a single one."""
    words: str
    source: str
    """Project and file that registers or handles the target."""
    backend: str | None = None
    """The backend that alone has such targets; None where several may."""
    work: str = ""
    """The rule by which the work is counted; empty if shapes do not determine it."""
    thirds: tuple[int, int] = (0, 0)
    """Of dense work on an m x n matrix: thirds of l*k*k and of k*k*k flops, of max and min."""
    values: tuple[int, int] | None = None
    """The same if only eigenvalues or singular values are requested."""
    steps: float = 0.0
    """Sequential kernels for each column, on an accelerator."""
    basis: str = ""
    """Where the flop count is."""


PRODUCT_WORK = frozenset(
    {
        *("product", "whole-product", "rows-product", "sparse-product", "rank-update"),
        *("convolution", "convolution-input-gradient", "convolution-kernel-gradient"),
    }
)
"""The rules of work by which calls are counted that multiply matrices or convolve."""


@cache
def all_entries() -> Mapping[str, CustomCall]:
    """Return the table, special entries before general ones."""
    return read_table("custom_calls", CustomCall)


@lru_cache(maxsize=1024)
def find(target: str) -> CustomCall | None:
    """Return the meaning of a target; None if the table does not have it."""
    return next(_fitting(target), None)


def backend_of(target: str) -> str | None:
    """Return the backend that alone has such a target; None where several may, or none is known."""
    return next((call.backend for call in _fitting(target) if call.backend), None)


def _fitting(target: str) -> Iterator[CustomCall]:
    for call in all_entries().values():
        if any(_fits(target, pattern) for pattern in call.targets):
            yield call


def _fits(target: str, pattern: str) -> bool:
    """Return whether a pattern fits; few of them are made regular expressions for that."""
    beginning = pattern.partition("*")[0].partition("?")[0].partition("[")[0]
    return target.startswith(beginning) and fnmatchcase(target, pattern)
