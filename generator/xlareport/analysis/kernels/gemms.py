"""The matmuls of a GPU module: algorithm, tile, split-K, and the traffic of these."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, prod
from typing import Any

from msgspec import Struct

from xlareport.analysis.cost.site import parse_integers
from xlareport.analysis.cost.tiling import minor_to_major
from xlareport.analysis.findings.split_products import count_parts
from xlareport.hlo.backend_config import read_backend_config
from xlareport.hlo.graph import outside_fusions
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import Shape
from xlareport.program import ParsedModule

_MOST_MOVES = 16
_MERGING = frozenset({"concatenate", "reduce", "pad", "slice", "dynamic-slice"})
"""Opcodes whose operand has other dimensions, or other elements in them."""
_LIBRARIES = ("__cublas$", "__cublas$lt$", "__cudnn$")


class GemmRecord(Struct, frozen=True):
    """A dot as it is executed. Unknown figures are None."""

    computation: str
    instruction: str
    made_by: str
    """`Triton`, or the library function that is called."""
    algorithm: str
    """The number that the autotuner chose for a library; empty where none is written."""
    tile: tuple[int, ...]
    """Of the dot, by its dimensions; empty where it is not known."""
    warps: int | None
    stages: int | None
    result: tuple[int, ...]
    contracted: int | None
    """The number of products that are added up for one element of the result."""
    split_k: int | None
    """Number of parts of the contracted dimension whose products another kernel adds."""
    operand_bytes: int | None
    """Bytes of both operands of the dot, each once."""
    loaded_bytes: int | None
    """Total bytes that all tiles load of their rows and columns, before caching."""
    partial_bytes: int | None
    """Partial sums of split-K, written and read again."""


class ModuleGemms(Struct, frozen=True):
    """The matmuls of a module."""

    gemms: tuple[GemmRecord, ...]
    same_tile: tuple[int, ...]
    """Of all Triton GEMMs, where there are several and all have it; else empty."""


def read_gemms(module: ParsedModule) -> ModuleGemms | None:
    """Return the matmuls of the final snapshot; None where it has none."""
    if module.final is None:
        return None
    gemms = tuple(_gemms(module.final.hlo))
    if not gemms:
        return None
    tiles = [gemm.tile for gemm in gemms if gemm.made_by == "Triton"]
    same = tiles[0] if len(tiles) > 1 and len({_without_ones(tile) for tile in tiles}) == 1 else ()
    return ModuleGemms(gemms, _without_ones(same))


def _without_ones(tile: Sequence[int]) -> tuple[int, ...]:
    return tuple(size for size in tile if size > 1)


def _gemms(module: HloModule) -> Iterator[GemmRecord]:
    for computation, instruction in outside_fusions(module):
        gemm = _gemm(module, computation, instruction)
        if gemm is not None:
            yield gemm


def _gemm(
    module: HloModule, computation: Computation, instruction: Instruction
) -> GemmRecord | None:
    if instruction.opcode == "custom-call":
        return _library(computation, instruction)
    config = _nested_config(read_backend_config(instruction), "fusion_backend_config")
    if not config or "triton" not in str(config.get("kind", "")):
        return None
    called = module.callee(instruction)
    dot = next(
        (instruction for instruction in _instructions(called) if instruction.opcode == "dot"), None
    )
    if called is None or dot is None:
        return None
    block = _nested_config(config, "block_level_fusion_config") or _nested_config(
        config, "triton_gemm_config"
    )
    tile = _tile(block)
    if "output_tiles" in block:
        tile = tile_of_dot(called, dot, tile)
    parts = count_parts(module, computation, instruction)
    sizes = _sizes(dot)
    shapes = [*filter(None, called.operands(dot))]
    size = instruction.shape.byte_size
    return GemmRecord(
        computation=computation.name,
        instruction=instruction.name,
        made_by="Triton",
        algorithm="",
        tile=tile,
        warps=_setting_number(block, "num_warps"),
        stages=_setting_number(block, "num_stages"),
        result=sizes,
        contracted=_contracted(dot, shapes),
        split_k=parts or None,
        operand_bytes=_operand_bytes(shapes),
        loaded_bytes=_loaded(dot, shapes, sizes, tile),
        partial_bytes=2 * size if parts and size else None,
    )


def _library(computation: Computation, call: Instruction) -> GemmRecord | None:
    target = call.call_target
    config = _nested_config(read_backend_config(call), "gemm_backend_config")
    if not target.startswith(_LIBRARIES) or not config:
        return None
    shapes = [*filter(None, computation.operands(call))]
    return GemmRecord(
        computation=computation.name,
        instruction=call.name,
        made_by=target,
        algorithm=str(config.get("selected_algorithm", ""))[:100],
        tile=(),
        warps=None,
        stages=None,
        result=_sizes(call),
        contracted=None,
        split_k=None,
        operand_bytes=_operand_bytes(shapes[:2]),
        loaded_bytes=None,
        partial_bytes=None,
    )


def _instructions(computation: Computation | None) -> Sequence[Instruction]:
    return computation.instructions if computation else ()


def _nested_config(config: object, name: str) -> Mapping[str, Any]:
    part = config.get(name) if isinstance(config, dict) else None
    return part if isinstance(part, dict) else {}


def _setting_number(config: Mapping[str, Any], name: str) -> int | None:
    text = str(config.get(name, ""))
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else None


def _tile(block: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the tile of the result: `output_tiles`, or earlier `block_m` and `block_n`."""
    tiles = block.get("output_tiles")
    if isinstance(tiles, list) and tiles and isinstance(tiles[0], dict):
        sizes = tiles[0].get("sizes")
        texts = [str(size) for size in sizes] if isinstance(sizes, list) else []
        valid = all(text.isdecimal() and text.isascii() and 0 < len(text) < 10 for text in texts)
        return tuple(map(int, texts)) if valid else ()
    sizes = [_setting_number(block, name) for name in ("block_m", "block_n")]
    return tuple(size for size in sizes if size)


def _sizes(instruction: Instruction) -> tuple[int, ...]:
    shape = instruction.shape.first
    return tuple(size for size in shape.dimensions if size is not None)


def _operand_bytes(operands: Sequence[Instruction]) -> int | None:
    sizes = [operand.shape.byte_size for operand in operands]
    return None if None in sizes or not sizes else sum(size for size in sizes if size)


def _contracted(dot: Instruction, operands: Sequence[Instruction]) -> int | None:
    places = parse_integers(dot.attributes.get("lhs_contracting_dims", ""))
    if not operands:
        return None
    left = operands[0].shape.dimensions
    sizes = [left[place] if place < len(left) else None for place in places]
    return None if None in sizes else prod(size for size in sizes if size)


def _loaded(
    dot: Instruction, operands: Sequence[Instruction], result: Sequence[int], tile: Sequence[int]
) -> int | None:
    """Return the bytes that tiles load: each operand once for every tile across the other's sides.

    The result of a dot has the batch dimensions, then the left's sides, then the right's.
    """
    if len(operands) != 2 or len(tile) != len(result) or not all(tile):
        return None
    left, right = operands[0].shape, operands[1].shape
    if left.byte_size is None or right.byte_size is None:
        return None
    batches = len(parse_integers(dot.attributes.get("lhs_batch_dims", "")))
    summed = len(parse_integers(dot.attributes.get("lhs_contracting_dims", "")))
    first = batches + len(left.dimensions) - batches - summed
    counts = [ceil(size / step) for size, step in zip(result, tile, strict=True)]
    return left.byte_size * prod(counts[first:]) + right.byte_size * prod(counts[batches:first])


def tile_of_dot(computation: Computation, dot: Instruction, tile: Sequence[int]) -> tuple[int, ...]:
    """Return the tile by the dimensions of the dot; empty where that is not known.

    XLA writes tiles by the dimensions of the root, which may be a bitcast or transpose of the dot.
    """
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
