"""Occupancy equals what NVIDIA and LLVM calculate, for kernels of dumps and at edges of limits."""

import csv
import importlib.util
import random
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.fixtures.dumps import Unpack
from tests.ptxas_listing import listed_kernels

from xlareport.analysis.kernels.kernel_occupancy import (
    BlockNeeds,
    amd_limits,
    find_occupancy,
    most_vector_registers,
    registers_for,
    scalar_warps,
    vector_warps,
)
from xlareport.knowledge.compute_units import ComputeUnit, compute_units
from xlareport.knowledge.multiprocessors import Multiprocessor, capability_of, multiprocessors

CASES = 640
GROUPS = ("threads", "blocks", "shared memory")
FACTORS = {"threads": 1, "registers": 2, "shared memory": 4, "blocks": 8, "barriers": 16}
KERNELS = 326
Case = tuple[Multiprocessor, BlockNeeds, int]
"""With the part of the shared memory that is dynamic."""


def header() -> Path | None:
    """Return the folder of NVIDIA's header: of its pip package, else of an installed toolkit."""
    spec = importlib.util.find_spec("nvidia")
    roots = (
        [Path(folder) for folder in (spec.submodule_search_locations or ()) if spec] if spec else []
    )
    places = [*(place for root in roots for place in sorted(root.glob("*/include")))]
    places += sorted(Path("/usr/local").glob("cuda*/include"))
    return next((place for place in places if (place / "cuda_occupancy.h").is_file()), None)


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile NVIDIA's calculation; skipped where its header or a compiler is not here."""
    include, compiler = header(), shutil.which("g++")
    if include is None or compiler is None:
        pytest.skip("needs g++ and cuda_occupancy.h: pip install nvidia-cuda-runtime-cu12")
    program = tmp_path_factory.mktemp("oracle") / "oracle"
    source = Path(__file__).with_name("occupancy_oracle.cpp")
    subprocess.run([compiler, "-I", str(include), "-o", str(program), str(source)], check=True)
    return program


def ask(oracle: Path, cases: Sequence[Case]) -> list[tuple[int, int]]:
    """Return blocks and limiting factors by NVIDIA's word."""
    lines = "".join(line(case) for case in cases)
    done = subprocess.run([oracle], input=lines, capture_output=True, text=True, check=True)
    answers = [tuple(map(int, answer.split())) for answer in done.stdout.splitlines()]
    assert len(answers) == len(cases)
    assert not any(error for error, *_ in answers)
    return [(blocks, barriers_alone(factors)) for _, blocks, factors in answers]


def barriers_alone(factors: int) -> int:
    """Drop what the header says beside barriers: it asks for other limits before it counts them."""
    return factors & FACTORS["barriers"] or factors


def differences(oracle: Path, cases: Sequence[Case]) -> list[tuple[Case, object]]:
    """Return the cases in which ours is not NVIDIA's."""
    answers = zip(cases, ask(oracle, cases), strict=True)
    return [(case, answer) for case, answer in answers if ours(case) != answer]


def line(case: Case) -> str:
    sm, needs, dynamic = case
    major, minor = sm.capability.split(".")
    limits = (sm.threads, sm.registers, sm.shared, sm.shared_of_block, sm.shared_with_opt_in)
    kernel = (needs.threads, needs.registers, needs.shared_bytes - dynamic, dynamic, needs.barriers)
    return " ".join(map(str, (major, minor, *limits, sm.shared_reserved, *kernel))) + "\n"


def ours(case: Case) -> tuple[int, int]:
    occupancy = find_occupancy(case[1], case[0])
    return occupancy.blocks, barriers_alone(sum(FACTORS[name] for name in occupancy.limited_by))


def real_kernels(folder: Path) -> Iterator[Case]:
    """Yield the kernels that `ptxas -v` describes beside the dumps of four SM versions."""
    for path in sorted(folder.glob("ptxas/sm_*.txt")):
        for kernel in listed_kernels(path):
            sm = multiprocessors()[capability_of(kernel.target)]
            for threads in (64, 128, 256, 1024):
                needs = BlockNeeds(
                    threads, kernel.registers or 0, kernel.shared_bytes, kernel.barriers
                )
                yield sm, needs, 0
                dynamic = 768 * (threads // 32)
                more = BlockNeeds(threads, needs.registers, needs.shared_bytes + dynamic)
                yield sm, more, dynamic


def test_real_kernels(oracle: Path, unpacked: Unpack) -> None:
    """Kernels of the dumps of four SM versions, with blocks of four sizes."""
    cases = list(real_kernels(unpacked("gpu-kernels")))
    assert len({sm.capability for sm, *_ in cases}) == 4
    assert len(cases) == KERNELS * 8
    assert differences(oracle, cases) == []


def test_edges_of_every_version(oracle: Path) -> None:
    """Every compute capability of the table, at and around each limit."""
    chance = random.Random(25)  # noqa: S311 - cases, no secrets
    cases: list[Case] = []
    for sm in multiprocessors().values():
        cases += [
            (sm, BlockNeeds(chance.choice((32, 96, 160, 256, 1000)), registers, 0), 0)
            for registers in range(256)
        ]
        for _ in range(2_000):
            threads = chance.choice((1, 31, 32, 33, 64, 96, 128, 192, 256, 384, 512, 768, 1024))
            dynamic = chance.choice((0, 0, 1, 127, 128, 768, 40_000, sm.shared_with_opt_in))
            room = sm.shared_with_opt_in - dynamic
            fixed = min(room, chance.choice((0, 0, 16, 1024, 8448, 48 * 1024)))
            needs = BlockNeeds(
                threads, chance.randrange(256), fixed + dynamic, chance.randrange(17)
            )
            cases.append((sm, needs, dynamic))
    assert differences(oracle, cases) == []


def test_limits_and_shares() -> None:
    """One kernel, by hand: 128 threads of 64 registers on an H100."""
    occupancy = find_occupancy(BlockNeeds(128, 64, 0), multiprocessors()["9.0"])
    assert (occupancy.blocks, occupancy.warps, occupancy.share) == (8, 32, 0.5)
    assert occupancy.limited_by == ("registers",)


def test_registers_for_another_block() -> None:
    """Nine blocks of four warps need 56 registers: 65,536 / 4 / (56 * 32) is 9 warps."""
    needs, sm = BlockNeeds(128, 64, 0), multiprocessors()["9.0"]
    assert registers_for(needs, sm, 9) == 56
    assert find_occupancy(BlockNeeds(128, 56, 0), sm).blocks == 9


@pytest.mark.parametrize("threads", [1025, 4096])
def test_a_block_that_does_not_fit(threads: int) -> None:
    """Nothing is resident of a block that is too large."""
    occupancy = find_occupancy(BlockNeeds(threads, 32, 0), multiprocessors()["9.0"])
    assert (occupancy.blocks, occupancy.share) == (0, 0.0)
    assert "threads" in occupancy.limited_by


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
