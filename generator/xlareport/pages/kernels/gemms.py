"""The tables of matmuls, and of the autotuner's measurements."""

from collections.abc import Sequence
from urllib.parse import quote

from xlareport.analysis.kernels.gemms import ModuleGemms
from xlareport.pages import navigation
from xlareport.pages.tables import Column, Table, tabulate
from xlareport.readers.autotune_results import TuningResult
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units

_MOST_RESULTS = 1_000
_LONGEST = 300


def describe_gemm(gemms: ModuleGemms, tuning: Sequence[TuningResult] | None) -> str:
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


def tabulate_gemms(record: ModuleRecord, gemms: ModuleGemms) -> Table:
    """Return the matmuls, with the cost of tiles and split-K."""
    page = navigation.module_address(record.slug, "code")
    return tabulate(
        gemms.gemms,
        {
            Column("Instruction", "link", "its code", of="instruction"): lambda row: [
                row.instruction,
                f"{page}#unit={quote(row.instruction)}",
            ],
            Column(
                "Made by", "code", "Triton, or the library function that is called"
            ): lambda row: row.made_by,
            Column("Result", "text", "batch and sides"): lambda row: _sizes(row.result),
            Column("K", "int", "multiply-adds for each element"): lambda row: row.contracted,
            Column("Tile", "text", "of the result"): lambda row: _sizes(row.tile) or None,
            Column("Split-K", "int", "parts that another kernel adds up"): lambda row: row.split_k,
            Column("Operand bytes", "bytes", "of both operands, once"): lambda row: (
                row.operand_bytes
            ),
            Column(
                "Loaded by tiles", "bytes", "rows and columns that the tiles load, before caches"
            ): lambda row: row.loaded_bytes,
            Column("Partial sums", "bytes", "of split-K, written and read again"): lambda row: (
                row.partial_bytes
            ),
            Column(
                "Algorithm", "text", "number that the autotuner chose for a library"
            ): lambda row: row.algorithm or None,
            Column("Warps", "int", "of a block"): lambda row: row.warps,
            Column("Stages", "int", "of the software pipeline"): lambda row: row.stages,
        },
        (7, "desc"),
    )


def _sizes(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))


def tabulate_tuning(tuning: Sequence[TuningResult]) -> Table:
    """Return the autotuner's measurements in file order, which have no instruction names."""
    return tabulate(
        tuning[:_MOST_RESULTS],
        {
            Column("Made by", "code", "Triton, or the library that was chosen"): lambda row: (
                row.made_by or None
            ),
            Column("µs", "float", "as the autotuner measured it"): lambda row: (
                None if row.nanoseconds is None else row.nanoseconds / 1000
            ),
            Column("Chosen", "text", "settings of what was chosen"): lambda row: (
                ", ".join(f"{name} {value}" for name, value in row.settings.items()) or None
            ),
            Column("HLO", "code", "the instruction that was tuned"): lambda row: (
                row.hlo[:_LONGEST] or None
            ),
            Column("Device", "text", "on which it was measured"): lambda row: row.device or None,
        },
        (1, "desc"),
    )
