"""The matrix products of a GPU module: algorithm, tile, split-K, and the traffic of these."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, prod
from typing import Any

from msgspec import Struct

from xlareport.analysis.cost.custom_calls import name_target
from xlareport.analysis.cost.site import parse_integers
from xlareport.analysis.findings.split_products import count_parts
from xlareport.analysis.kernels.output_tiles import tile_of_dot
from xlareport.hlo.backend_config import read_backend_config
from xlareport.hlo.graph import find_fused_computations
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.program import ParsedModule

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
    """The matrix products of a module."""

    gemms: tuple[GemmRecord, ...]
    same_tile: tuple[int, ...]
    """Of all Triton GEMMs, where there are several and all have it; else empty."""


def read_gemms(module: ParsedModule) -> ModuleGemms | None:
    """Return the matrix products of the final snapshot; None where it has none."""
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
    fused = find_fused_computations(module)
    for computation in module.computations:
        if computation.name not in fused:
            for instruction in computation.instructions:
                gemm = _gemm(module, computation, instruction)
                if gemm is not None:
                    yield gemm


def _gemm(
    module: HloModule, computation: Computation, instruction: Instruction
) -> GemmRecord | None:
    if instruction.opcode == "custom-call":
        return _library(computation, instruction)
    config = _part(read_backend_config(instruction), "fusion_backend_config")
    if not config or "triton" not in str(config.get("kind", "")):
        return None
    called = module.by_name.get(instruction.called[0][1]) if instruction.called else None
    dot = next(
        (instruction for instruction in _instructions(called) if instruction.opcode == "dot"), None
    )
    if called is None or dot is None:
        return None
    block = _part(config, "block_level_fusion_config") or _part(config, "triton_gemm_config")
    tile = _tile(block)
    if "output_tiles" in block:
        tile = tile_of_dot(called, dot, tile)
    parts = count_parts(module, computation, instruction)
    result = _sizes(dot)
    shapes = [called.by_name[name] for name in dot.operand_names if name in called.by_name]
    size = instruction.shape.byte_size
    return GemmRecord(
        computation=computation.name,
        instruction=instruction.name,
        made_by="Triton",
        algorithm="",
        tile=tile,
        warps=_number(block, "num_warps"),
        stages=_number(block, "num_stages"),
        result=result,
        contracted=_contracted(dot, shapes),
        split_k=parts or None,
        operand_bytes=_operand_bytes(shapes),
        loaded_bytes=_loaded(dot, shapes, result, tile),
        partial_bytes=2 * size if parts and size else None,
    )


def _library(computation: Computation, call: Instruction) -> GemmRecord | None:
    target = name_target(call)
    config = _part(read_backend_config(call), "gemm_backend_config")
    if not target.startswith(_LIBRARIES) or not config:
        return None
    shapes = [
        computation.by_name[name] for name in call.operand_names if name in computation.by_name
    ]
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


def _part(config: object, name: str) -> Mapping[str, Any]:
    part = config.get(name) if isinstance(config, dict) else None
    return part if isinstance(part, dict) else {}


def _number(config: Mapping[str, Any], name: str) -> int | None:
    text = str(config.get(name, ""))
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else None


def _tile(block: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the tile of the result: `output_tiles`, or earlier `block_m` and `block_n`."""
    tiles = block.get("output_tiles")
    if isinstance(tiles, list) and tiles and isinstance(tiles[0], dict):
        sizes = tiles[0].get("sizes")
        texts = [str(size) for size in sizes] if isinstance(sizes, list) else []
        known = all(text.isdecimal() and text.isascii() and 0 < len(text) < 10 for text in texts)
        return tuple(map(int, texts)) if known else ()
    sizes = [_number(block, name) for name in ("block_m", "block_n")]
    return tuple(size for size in sizes if size)


def _sizes(instruction: Instruction) -> tuple[int, ...]:
    shape = instruction.shape.elements[0] if instruction.shape.elements else instruction.shape
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
