"""What sizes say against a pair where work is divided: no device's share is larger than the whole.

The SPMD partitioner divides each dimension by a number of devices, rounded up; it makes none
larger, and no share is smaller than the whole divided by all devices. Other passes of the same step
may pad a dimension to a multiple of eight.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple, Self

from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.site import parse_integers
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.shape import Shape
from xlareport.knowledge.opcodes import opcode_work

_ELEMENTWISE = opcode_work().by_element
_SIDES = ("lhs", "rhs")
_PADDING = 8
"""Sizes are padded to multiples of it: `cublas-pad-for-gemms` does so for tensor cores."""


def is_no_share(node: Node, other: Node, devices: int) -> bool:
    """Return whether the sizes of two nodes exclude that one is a share of the other.

    That is told of elementwise work of the same number of dimensions, those of size 1 left out; of
    what a dot sums over and of its two sides, and of what it was rewritten as; and of loops of
    which no carried array has a share in the other. A single device stands for a number that is
    not known.
    """
    line, now = node.instruction, other.instruction
    if line.opcode != now.opcode:
        return line.opcode == "dot" and _is_no_rewrite(node, other, devices)
    if line.opcode == "dot":
        return _multiplies_others(node, other, devices)
    if line.opcode == "while":
        return _carry_others(line.shape, now.shape, devices)
    return line.opcode in _ELEMENTWISE and _are_other_sizes(
        _sizes(line.shape), _sizes(now.shape), devices
    )


def _sizes(shape: Shape) -> tuple[int, ...]:
    """Return the sizes of an array, the largest first, without those of 1."""
    sizes = (size for size in shape.dimensions if size and size > 1)
    return tuple(sorted(sizes, reverse=True))


def _carry_others(whole: Shape, part: Shape, devices: int) -> bool:
    """Return whether no array of one tuple can have a share among those of another."""
    old, new = (
        {sizes for element in shape.elements if (sizes := _sizes(element))}
        for shape in (whole, part)
    )
    pairs = [(sizes, others) for sizes in old for others in new if len(sizes) == len(others)]
    return bool(pairs) and all(_are_other_sizes(*pair, devices) for pair in pairs)


def _are_other_sizes(whole: Sequence[int], part: Sequence[int], devices: int) -> bool:
    if len(whole) != len(part):
        return False
    grows = any(_padded(size) < share for size, share in zip(whole, part, strict=True))
    return grows or not _is_enough(prod(whole), prod(part), devices)


def count_others(node: Node, other: Node, devices: int) -> bool:
    """Return whether elementwise work computes more elements than before, or less than a share.

    Nothing computed twice, on repeated data or as a copy, is counted so: this is for guesses.
    """
    whole, part = node.instruction.shape.element_count, other.instruction.shape.element_count
    if node.instruction.opcode not in _ELEMENTWISE or not (whole and part):
        return False
    return part > whole or not _is_enough(whole, part, devices)


def _fits(whole: int, part: int, devices: int) -> bool:
    """Return whether a size may be a share of another one, which may be padded."""
    return part <= _padded(whole) and _is_enough(whole, part, devices)


def _padded(size: int) -> int:
    return -(-size // _PADDING) * _PADDING


def _is_enough(whole: int, part: int, devices: int) -> bool:
    """Return whether a size is no smaller than a share; an unknown number of devices allows any."""
    return devices == 1 or whole <= devices * part


def _multiplies_others(node: Node, other: Node, devices: int) -> bool:
    """Return whether a dot sums over other sizes than a share does, or gives too few results.

    Of dots that were merged one side is longer, but never both. One with further batch dimensions
    may sum in parts.
    """
    ours, theirs = _DotSizes.of(node), _DotSizes.of(other)
    if ours is None or theirs is None:
        return False
    if ours.batch_rank == theirs.batch_rank and not _fits(ours.summed, theirs.summed, devices):
        return True
    orders = ours.sides, ours.sides[::-1]
    return not any(_may_be_sides(sides, theirs.sides, devices) for sides in orders)


def _is_no_rewrite(node: Node, other: Node, devices: int) -> bool:
    """Return whether sizes exclude that a share of a dot was rewritten as a node of another opcode.

    A convolution has no larger result. A multiplication sums nothing, so that no device may have
    more than one element to sum over.
    """
    if other.instruction.opcode == "multiply":
        sizes = _DotSizes.of(node)
        return sizes is not None and 1 < devices < sizes.summed
    whole, part = node.instruction.shape, other.instruction.shape
    grows = prod(map(_padded, _sizes(whole))) < (part.element_count or 0)
    return other.instruction.opcode == "convolution" and grows


def _may_be_sides(whole: tuple[int, ...], part: tuple[int, ...], devices: int) -> bool:
    pairs = [*zip(whole, part, strict=True)]
    enough = all(_is_enough(*pair, devices) for pair in pairs)
    return enough and any(share <= _padded(size) for size, share in pairs)


class _DotSizes(NamedTuple):
    """How many elements a dot adds up, and how many rows of each operand it multiplies."""

    summed: int
    sides: tuple[int, ...]
    batch_rank: int

    @classmethod
    def of(cls, node: Node) -> Self | None:
        """Return the sizes of a dot; None where an operand is not known."""
        line, lines = node.instruction, node.frame.computation
        summed, sides, batch_rank = 1, list[int](), 0
        for number, side in enumerate(_SIDES):
            read = lines.operand(line, number)
            if read is None:
                return None
            sizes = [size or 1 for size in read.shape.dimensions]
            contracted, batch = (
                _numbers(line.attributes.get(f"{side}_{kind}_dims", ""))
                for kind in ("contracting", "batch")
            )
            if any(place >= len(sizes) for place in (*contracted, *batch)):
                return None
            summed, batch_rank = prod(sizes[place] for place in contracted), len(batch)
            taken = {*contracted, *batch}
            sides.append(prod(size for place, size in enumerate(sizes) if place not in taken))
        return cls(summed, tuple(sides), batch_rank)


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers in a text; none of a list that no dot can have."""
    try:
        return parse_integers(text)
    except UncountableError:
        return ()
