"""Bytes read and written by single instructions, by the rules of XLA's HloCostAnalysis.

Each rule gets a function for the size of shapes. With XLA's sizes, the sum is its `bytes accessed`;
with the report's sizes, it is the data without padding and pointer tables. XLA's sizes are those of
the CPU client of jaxlib 0.12.
"""

from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from xlareport.analysis.cost.shape_sizes import KEPT_SHAPES, iterate_leaves, measure_data
from xlareport.analysis.cost.site import Site
from xlareport.analysis.cost.tiling import (
    main_memory_part,
    main_memory_size,
    minor_to_major,
    padded_size,
)
from xlareport.hlo.shape import Shape
from xlareport.knowledge.opcodes import opcode_work

POINTER_BYTES = 4
"""Bytes of an entry of a tuple's pointer table; determined by experiment."""
DYNAMIC_SIZE_BYTES = 4
"""Bytes of each dynamic dimension of an array, in addition to its data."""


@lru_cache(maxsize=KEPT_SHAPES)
def operand_size(shape: Shape) -> int:
    """Return the bytes of an operand: tiles padded, a tuple as its table of pointers only."""
    if shape.element_type == "tuple":
        return POINTER_BYTES * len(shape.elements)
    if shape.element_type == "opaque":
        return POINTER_BYTES
    dynamic = DYNAMIC_SIZE_BYTES * len(shape.dimensions) if "<=" in shape.text else 0
    return sum(map(padded_size, iterate_leaves(shape))) + dynamic


def result_size(shape: Shape) -> int:
    """Return the bytes of a result: of a tuple, those of its arrays."""
    if shape.element_type != "tuple":
        return operand_size(shape)
    return sum(map(operand_size, iterate_leaves(shape)))


class Sizes(Struct, frozen=True):
    """A way to size shapes, in bytes."""

    operand: Callable[[Shape], int]
    result: Callable[[Shape], int]
    part: Callable[[Shape, Shape], int]
    """Function for the bytes read or written of a part of an array."""


DATA = Sizes(measure_data, measure_data, lambda part, _: measure_data(part))
MAIN_MEMORY = Sizes(main_memory_size, main_memory_size, main_memory_part)
XLA = Sizes(operand_size, result_size, lambda part, _: operand_size(part))


class Traffic(Struct, frozen=True):
    """Bytes that an instruction reads and writes in memory."""

    read: int = 0
    written: int = 0

    @property
    def total(self) -> int:
        """Bytes read and written together."""
        return self.read + self.written


NO_TRAFFIC = Traffic()


def count_xla_traffic(site: Site) -> Traffic:
    """Return XLA's count for an instruction without callees. Raises UncountableError."""
    if site.instruction.opcode in opcode_work().free or is_bitcast_transpose(site):
        return NO_TRAFFIC
    rule = _RULES.get(site.instruction.opcode, _everything)
    return rule(site, XLA)


def count_data_traffic(site: Site, sizes: Sizes = DATA) -> Traffic:
    """Return the data traffic of an instruction without callees. Raises UncountableError."""
    opcode, table = site.instruction.opcode, opcode_work()
    if opcode in table.free or opcode in table.bookkeeping or is_bitcast_transpose(site):
        return NO_TRAFFIC
    rule = _STARTS.get(opcode) or _RULES.get(opcode, _everything)
    return rule(site, sizes)


def is_bitcast_transpose(site: Site) -> bool:
    """Return whether a transpose only renames dimensions: the layouts make it a bitcast."""
    if site.instruction.opcode != "transpose":
        return False
    before, after = site.operand(0), site.shape
    permutation = site.numbers("dimensions")
    order = [
        permutation[number] if number < len(permutation) else -1 for number in minor_to_major(after)
    ]
    return order == minor_to_major(before)


def _everything(site: Site, sizes: Sizes) -> Traffic:
    return Traffic(sum(map(sizes.operand, site.operands)), sizes.result(site.shape))


def _slice(site: Site, sizes: Sizes) -> Traffic:
    return Traffic(sizes.part(site.shape, site.operand(0)), sizes.result(site.shape))


def _picked(site: Site, sizes: Sizes) -> Traffic:
    """Return the traffic of an indexed read: the result and the indices."""
    picked = sizes.part(site.shape, site.operand(0))
    return Traffic(picked + sizes.operand(site.operand(1)), sizes.result(site.shape))


def _dynamic_update_slice(site: Site, sizes: Sizes) -> Traffic:
    update = site.operand(1)
    read = sizes.operand(update) + sizes.operand(site.operand(2))
    return Traffic(read, sizes.part(update, site.shape))


def _scatter(site: Site, sizes: Sizes) -> Traffic:
    operands = site.operands
    count = len(operands) // 2
    updates = operands[count + 1 :]
    changed = sum(sizes.part(*pair) for pair in zip(updates, operands[:count], strict=False))
    read = sum(map(sizes.operand, updates)) + changed + sizes.operand(operands[count])
    return Traffic(read, changed)


def _tuple(site: Site, sizes: Sizes) -> Traffic:
    return Traffic(0, sizes.operand(site.shape))


def _all_reduce(site: Site, sizes: Sizes) -> Traffic:
    return Traffic(
        sum(map(sizes.operand, site.operands)), sum(map(sizes.operand, iterate_leaves(site.shape)))
    )


def _infeed(site: Site, sizes: Sizes) -> Traffic:
    return Traffic(0, sum(map(sizes.operand, iterate_leaves(site.shape))))


def _outfeed(site: Site, sizes: Sizes) -> Traffic:
    return Traffic(
        sum(sizes.operand(leaf) for operand in site.operands for leaf in iterate_leaves(operand)), 0
    )


def _triangular_solve(site: Site, sizes: Sizes) -> Traffic:
    """Half of the matrix is read."""
    return Traffic(
        sizes.operand(site.operand(0)) // 2 + sizes.operand(site.operand(1)),
        sizes.result(site.shape),
    )


def _cholesky(site: Site, sizes: Sizes) -> Traffic:
    """Half of the matrix is read, and half is written."""
    matrix = sizes.operand(site.operand(0))
    return Traffic(matrix - matrix // 2, matrix // 2)


def _start(result: int) -> Callable[[Site, Sizes], Traffic]:
    """Return the rule of an asynchronous start whose tuple holds the result at one place."""

    def rule(site: Site, sizes: Sizes) -> Traffic:
        parts = site.shape.elements
        written = sizes.result(parts[result]) if result < len(parts) else sizes.result(site.shape)
        return Traffic(sum(map(sizes.operand, site.operands)), written)

    return rule


def _send(site: Site, sizes: Sizes) -> Traffic:
    return Traffic(sizes.operand(site.operand(0)), 0)


def _receive(site: Site, sizes: Sizes) -> Traffic:
    return Traffic(0, sizes.result(site.shape.elements[0]) if site.shape.elements else 0)


_RULES: dict[str, Callable[[Site, Sizes], Traffic]] = {
    "slice": _slice,
    "dynamic-slice": _picked,
    "dynamic-update-slice": _dynamic_update_slice,
    "gather": _picked,
    "scatter": _scatter,
    "tuple": _tuple,
    "all-reduce": _all_reduce,
    "all-reduce-start": _all_reduce,
    "infeed": _infeed,
    "outfeed": _outfeed,
    "triangular-solve": _triangular_solve,
    "cholesky": _cholesky,
}
_STARTS: dict[str, Callable[[Site, Sizes], Traffic]] = {
    "copy-start": _start(0),
    "all-gather-start": _start(1),
    "collective-permute-start": _start(1),
    "send": _send,
    "recv": _receive,
}
