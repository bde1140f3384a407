"""What compute units hold equals LLVM's word; work-groups are whole ones on top of it.

`amd_occupancy.tsv` is a quarter of what `tests/data/programs/amd_kernels.py` asked llc 19.1.7.
"""

import csv
from pathlib import Path

import pytest

from xlareport.analysis.kernels.amd_occupancy import (
    amd_limits,
    most_vector_registers,
    scalar_warps,
    vector_warps,
)
from xlareport.analysis.kernels.occupancy import BlockNeeds, find_occupancy, registers_for
from xlareport.knowledge.compute_units import ComputeUnit, compute_units

CASES = 640
GROUPS = ("threads", "blocks", "shared memory")


def cases() -> list[tuple[ComputeUnit, dict[str, int]]]:
    with Path(__file__).with_name("amd_occupancy.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    result = []
    for row in rows:
        in_pairs = row["mode"].startswith("pair")
        unit = compute_units()[row["target"]].running(int(row["warp"]), in_pairs=in_pairs)
        result.append((unit, {k: int(v) for k, v in row.items() if k not in ("target", "mode")}))
    return result


def test_each_resource_is_as_llvm_counts_it() -> None:
    """LLVM takes the least of the wavefronts of a SIMD that each resource allows."""
    rows = cases()
    assert len(rows) == CASES
    for unit, row in rows:
        limits = amd_limits(row["threads"], row["vectors"], row["scalars"], row["shared"], unit)
        warps = -(-row["threads"] // unit.warp)
        groups = min(most for name, most in limits.items() if name in GROUPS)
        own = [-(-groups * warps // unit.partitions), vector_warps(row["vectors"], unit)]
        scalars = scalar_warps(row["scalars"], unit)
        assert min([*own, *([scalars] if scalars else [])]) == row["occupancy"], (unit, row)


def test_whole_work_groups_are_never_more() -> None:
    """A work-group is resident as a whole or not at all, which LLVM leaves aside."""
    fewer = 0
    for unit, row in cases():
        needs = BlockNeeds(row["threads"], row["vectors"], row["shared"], 1, row["scalars"])
        own = find_occupancy(needs, unit)
        of_simd = own.share * unit.warps_of_partition
        assert of_simd <= row["occupancy"]
        fewer += of_simd < row["occupancy"]
        if row["threads"] <= unit.warp and not row["shared"]:
            assert of_simd == row["occupancy"]
    assert fewer


@pytest.mark.parametrize("unit", compute_units().values(), ids=lambda unit: unit.capability)
def test_what_does_not_fit(unit: ComputeUnit) -> None:
    """Too many threads, registers or bytes leave room for no work-group."""
    assert find_occupancy(BlockNeeds(1025, 8, 0), unit).blocks == 0
    assert find_occupancy(BlockNeeds(64, unit.registers_of_thread + 1, 0), unit).blocks == 0
    assert find_occupancy(BlockNeeds(64, 8, unit.shared_of_block + 1), unit).blocks == 0
    assert find_occupancy(BlockNeeds(64, 1, 0), unit).share == 1
    most = most_vector_registers(1024, unit)
    assert find_occupancy(BlockNeeds(1024, most, 0), unit).blocks == 1
    assert most == unit.registers_of_thread or not (
        find_occupancy(BlockNeeds(1024, most + 1, 0), unit).blocks
    )


def test_what_fewer_registers_would_allow() -> None:
    """MI300X: 129 registers take 136 of 512, which 3 wavefronts have; with 128 there are 4."""
    unit = compute_units()["gfx942"]
    needs = BlockNeeds(256, 129, 0)
    assert find_occupancy(needs, unit).blocks == 3
    assert registers_for(needs, unit, 4) == 128
