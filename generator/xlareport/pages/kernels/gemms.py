"""The tables of matmuls, and of the autotuner's measurements."""

from collections.abc import Sequence
from urllib.parse import quote

from xlareport.analysis.kernels.gemms import ModuleGemms
from xlareport.pages import navigation
from xlareport.pages.tables import Cell, Column, Table
from xlareport.readers.autotune_results import TuningResult
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units

_MOST_RESULTS = 1_000
_LONGEST = 300


def gemm_words(gemms: ModuleGemms, tuning: Sequence[TuningResult] | None) -> str:
    """Return sentences: the number of GEMMs, the tile all Triton ones share, the tuning results."""
    parts = [f"{units.plural(len(gemms.gemms), 'GEMM')}."]
    if gemms.same_tile:
        tile = "x".join(map(str, gemms.same_tile))
        parts.append(f"Every Triton GEMM has the same tile, {tile}, for all sizes.")
    if tuning is not None and not tuning:
        parts.append(
            "autotune_results has no results: nothing was measured, and tiles and algorithms are "
            "defaults, as when compiling without a device."
        )
    elif tuning is not None:
        parts.append(f"autotune_results holds {units.plural(len(tuning), 'result')}.")
    return " ".join(parts)


def gemms_table(record: ModuleRecord, gemms: ModuleGemms) -> Table:
    """Return the matmuls, with the cost of tiles and split-K."""
    columns = (
        Column("Instruction", "link", "its code", of="instruction"),
        Column("Made by", "code", "Triton, or the library function that is called"),
        Column("Result", "text", "batch and sides"),
        Column("K", "int", "multiply-adds for each element"),
        Column("Tile", "text", "of the result"),
        Column("Split-K", "int", "parts that another kernel adds up"),
        Column("Operand bytes", "bytes", "of both operands, once"),
        Column(
            "Loaded by tiles",
            "bytes",
            "rows and columns that the tiles load, before caches",
        ),
        Column("Partial sums", "bytes", "of split-K, written and read again"),
        Column("Algorithm", "text", "number that the autotuner chose for a library"),
        Column("Warps", "int", "of a block"),
        Column("Stages", "int", "of the software pipeline"),
    )
    page = navigation.address(navigation.module_page(record.slug, "code"))
    rows: list[list[Cell]] = [
        [
            [gemm.instruction, f"{page}#unit={quote(gemm.instruction)}"],
            gemm.made_by,
            _sizes(gemm.result),
            gemm.contracted,
            _sizes(gemm.tile) or None,
            gemm.split_k,
            gemm.operand_bytes,
            gemm.loaded_bytes,
            gemm.partial_bytes,
            gemm.algorithm or None,
            gemm.warps,
            gemm.stages,
        ]
        for gemm in gemms.gemms
    ]
    return Table(columns, rows, (7, "desc"))


def _sizes(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))


def tuning_table(tuning: Sequence[TuningResult]) -> Table:
    """Return the autotuner's measurements in file order, which have no instruction names."""
    columns = (
        Column("Made by", "code", "Triton, or the library that was chosen"),
        Column("µs", "float", "as the autotuner measured it"),
        Column("Chosen", "text", "settings of what was chosen"),
        Column("HLO", "code", "the instruction that was tuned"),
        Column("Device", "text", "on which it was measured"),
    )
    rows: list[list[Cell]] = [
        [
            result.made_by or None,
            None if result.nanoseconds is None else result.nanoseconds / 1000,
            ", ".join(f"{name} {value}" for name, value in result.settings.items()) or None,
            result.hlo[:_LONGEST] or None,
            result.device or None,
        ]
        for result in tuning[:_MOST_RESULTS]
    ]
    return Table(columns, rows, (1, "desc"))
