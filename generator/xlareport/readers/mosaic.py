"""A Pallas kernel as Mosaic, its compiler on TPUs, dumps it: the name, the grid and the windows.

Every stage of a kernel is MLIR with one function that bears `iteration_bounds` and, for each
operand and result that the grid walks over, a window: the block that one step sees, and a function
that turns the place in the grid into the block's place. Source: jax, `jax/_src/pallas/mosaic/`.
"""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

_LONGEST_LINE = 100_000
_MOST_WINDOWS = 1_000
_NAME = re.compile(r"\s*+func\.func @([\w.$-]{1,255})\(")
_GRID = re.compile(r"iteration_bounds = array<i64: ([0-9, -]{1,1000})>")
_PREFETCHED = re.compile(r"scalar_prefetch = (\d{1,4}) ")
_WINDOW = re.compile(
    r"transform_indices = @([\w.$-]{1,255}), window_bounds = array<i64: ([0-9, -]{1,1000})>"
)
_RETURN = re.compile(r"\s*+return (?:\{[^{}]{0,1000}\} )?([^:{}]{1,1000}):")
_NUMBER = re.compile(r" *-?\d{1,18} *", re.ASCII)
_GRID_PLACE = re.compile(r"%arg(\d{1,4})")


class Window(Struct, frozen=True):
    """How the grid walks over one operand or result."""

    block: tuple[int, ...]
    """Elements of each dimension in one step."""
    blocks: tuple[int | None, ...]
    """Number of blocks along each dimension of the grid; None if the text does not show it."""

    def covers(self, dimensions: Sequence[int | None]) -> bool:
        """Return whether an array of such dimensions can be walked over like that."""
        return len(dimensions) == len(self.block) and all(
            count is None or size is None or step <= 0 or -(-size // step) == count
            for size, step, count in zip(dimensions, self.block, self.blocks, strict=True)
        )


class MosaicKernel(Struct, frozen=True):
    """The content of a kernel's file."""

    name: str
    prefetched: int
    """How many operands come first that no window walks over."""
    windows: tuple[Window, ...]
    """Of the operands after these, then of the results."""


def read_mosaic(data: bytes) -> MosaicKernel | None:
    """Read a file of Mosaic's; None where it holds no kernel with a grid."""
    lines = [
        text for text in data.decode("utf-8", "replace").split("\n") if len(text) < _LONGEST_LINE
    ]
    for line in lines:
        grid, name = _GRID.search(line), _NAME.match(line)
        if grid and name:
            return _kernel(name[1], _parse_sizes(grid[1]), line, _returned(lines))
    return None


def _kernel(
    name: str, grid: tuple[int, ...], line: str, returned: Mapping[str, Sequence[str]]
) -> MosaicKernel:
    prefetched = _PREFETCHED.search(line)
    windows = [
        _window(_parse_sizes(block), grid, returned.get(function, ()))
        for function, block in _WINDOW.findall(line)[:_MOST_WINDOWS]
    ]
    return MosaicKernel(name, int(prefetched[1]) if prefetched else 0, tuple(windows))


def _window(block: tuple[int, ...], grid: tuple[int, ...], returned: Sequence[str]) -> Window:
    """Count the blocks: a place of the grid that is handed on plainly takes all its values."""
    places = [_GRID_PLACE.fullmatch(text.strip()) for text in returned]
    counts = [
        grid[int(place[1])] if place and int(place[1]) < len(grid) else None for place in places
    ]
    if len(counts) != len(block):
        counts = [None] * len(block)
    return Window(block, tuple(counts))


def _returned(lines: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the values that each function of the text returns, as written."""
    returned: dict[str, Sequence[str]] = {}
    function = ""
    for line in lines:
        begins, ends = _NAME.match(line), _RETURN.match(line)
        if begins:
            function = begins[1]
        elif ends and function:
            returned[function] = ends[1].split(",")
    return returned


def _parse_sizes(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if _NUMBER.fullmatch(part))
