"""The tile of a dot in a Triton fusion: its `output_tiles` are those of the fusion's root.

XLA writes tiles by the dimensions of the root, which may be a bitcast or transpose of the dot.
"""

from collections.abc import Sequence

from xlareport.analysis.cost.site import parse_integers
from xlareport.analysis.cost.tiling import minor_to_major
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.shape import Shape

_MOST_MOVES = 16
_MERGING = frozenset({"concatenate", "reduce", "pad", "slice", "dynamic-slice"})
"""Opcodes whose operand has other dimensions, or other elements in them."""


def tile_of_dot(computation: Computation, dot: Instruction, tile: Sequence[int]) -> tuple[int, ...]:
    """Return the tile by the dimensions of the dot; empty where that is not known."""
    leading = _leads_from(computation, dot)
    line, sizes = computation.root, tuple(tile)
    if line is not None and line.opcode == "tuple" and line.operand_names:
        line = computation.operand(line)
    for _ in range(_MOST_MOVES):
        if line is None or len(sizes) != len(line.shape.dimensions):
            return ()
        if line is dot:
            return sizes
        operand = next((name for name in line.operand_names if name in leading), "")
        source = computation.by_name.get(operand)
        sizes = _of_operand(line, source, sizes) if source is not None else ()
        line = source
    return ()


def _leads_from(computation: Computation, dot: Instruction) -> frozenset[str]:
    """Return the names of the dot and of what depends on it."""
    names = {dot.name}
    for instruction in computation.instructions:
        if not names.isdisjoint(instruction.operand_names):
            names.add(instruction.name)
    return frozenset(names)


def _of_operand(line: Instruction, source: Instruction, tile: tuple[int, ...]) -> tuple[int, ...]:
    """Return the tile by the dimensions of an operand; empty where these have no counterpart."""
    before, after = source.shape, line.shape
    match line.opcode:
        case "bitcast":
            return _renamed(_major_to_minor(before), _major_to_minor(after), before, after, tile)
        case "reshape":
            orders = range(len(before.dimensions)), range(len(after.dimensions))
            return _renamed(*orders, before, after, tile)
        case "transpose":
            permutation = parse_integers(line.attributes.get("dimensions", ""))
            if sorted(permutation) != list(range(len(tile))):
                return ()
            return tuple(tile[permutation.index(place)] for place in range(len(tile)))
    same = before.dimensions == after.dimensions and line.opcode not in _MERGING
    return tile if same else ()


def _major_to_minor(shape: Shape) -> Sequence[int]:
    return minor_to_major(shape)[::-1]


def _renamed(
    before: Sequence[int], after: Sequence[int], source: Shape, result: Shape, tile: Sequence[int]
) -> tuple[int, ...]:
    """Return the tile of the same elements in the same order; dimensions of size 1 come and go."""
    if len(before) != len(source.dimensions) or len(after) != len(result.dimensions):
        return ()
    old = [place for place in before if source.dimensions[place] != 1]
    new = [place for place in after if result.dimensions[place] != 1]
    if [source.dimensions[place] for place in old] != [result.dimensions[place] for place in new]:
        return ()
    sizes = {place: tile[other] for place, other in zip(old, new, strict=True)}
    return tuple(sizes.get(place, 1) for place in range(len(source.dimensions)))
