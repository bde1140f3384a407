"""Temp and peak against `compiled.memory_analysis()` of the same compilation.

`data/memory_stats.tsv` is what jax 0.10.2 said of some of `tests/data/programs/memory_stats.py`,
ahead of time for H100, TPU v4, v5e and v5p (libtpu 0.0.42.1, or the one behind the hyphen); beside
it lie the dumps of then, as far as needed.
"""

import csv
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import zstandard
from tests.fixtures.dumps import FILTER

from xlareport.analysis.cost.memory_stats import MemoryStats, find_memory_stats, measure_chip_memory
from xlareport.analysis.cost.occupancy import measure_occupancy
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.hlo.model import HloModule
from xlareport.program import ParsedModule, read_module
from xlareport.readers.buffer_assignment import BufferValue
from xlareport.readers.live_range import LiveRange, LiveRanges

DATA = Path(__file__).parent / "data"
UNKNOWN = {("v42x2x2", "kmeans_fit"), ("v5e2x4", "kmeans_fit"), ("v5e2x4-0.0.52", "kmeans_fit")}
"""The peak, which here depends on four values that are concatenated where they lie."""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], ParsedModule]:
    """Return the modules by target and program."""
    folder = tmp_path_factory.mktemp("memory_stats")
    packed = (DATA / "memory_stats.tar.zst").read_bytes()
    with zstandard.ZstdDecompressor().stream_reader(packed) as stream:
        plain = io.BytesIO(stream.read())
    with tarfile.open(fileobj=plain) as archive:
        archive.extraction_filter = FILTER
        archive.extractall(folder)  # noqa: S202 - our own
    result = {}
    for target in folder.iterdir():
        with open_source(target) as source:
            for files in group(name_files(source)).modules:
                result[target.name, files.name.removeprefix("jit_")] = read_module(files)
    return result


def recorded() -> list[dict[str, str]]:
    return list(
        csv.DictReader((DATA / "memory_stats.tsv").read_text().splitlines(), delimiter="\t")
    )


def stats_of(row: dict[str, str], modules: dict[tuple[str, str], ParsedModule]) -> MemoryStats:
    module = modules[row["target"], row["program"]]
    assert module.final is not None
    backend = "gpu" if row["target"] == "h100" else "tpu"
    stats = find_memory_stats(module.memory, module.final.hlo, backend)
    assert stats is not None
    return stats


@pytest.mark.parametrize("row", recorded(), ids=lambda row: f"{row['target']}-{row['program']}")
def test_temp_and_peak_are_those_of_memory_analysis(
    row: dict[str, str], modules: dict[tuple[str, str], ParsedModule]
) -> None:
    stats = stats_of(row, modules)
    assert stats.is_exact is (row["target"] == "h100")
    assert stats.peak_bytes == (
        None if (row["target"], row["program"]) in UNKNOWN else int(row["peak"])
    )
    assert stats.temp_bytes == int(row["temp"])


def test_the_peak_tells_which_memory_space_it_counts(
    modules: dict[tuple[str, str], ParsedModule],
) -> None:
    spaces = set()
    for row in recorded():
        stats, module = stats_of(row, modules), modules[row["target"], row["program"]]
        if stats.peak_bytes is None or not stats.peak_space_bytes:
            continue
        assert stats.peak_space is not None
        occupancy = measure_occupancy(module.memory.assignment, module.memory.live)
        assert occupancy is not None
        occupied = max(occupancy.curves[stats.peak_space])
        if stats.peak_space == 0:
            assert stats.peak_space_bytes <= occupied
        else:
            assert stats.peak_space_bytes >= occupied
        spaces.add((row["target"][:3], stats.peak_space))
    assert spaces >= {("h10", 0), ("v5e", 1)}


def test_without_live_ranges_the_peak_of_shared_memory_is_not_known(
    modules: dict[tuple[str, str], ParsedModule],
) -> None:
    module = modules["h100", "sinkhorn"]
    assert module.final is not None
    files = module.memory.__class__(module.memory.assignment, None, ())
    stats = find_memory_stats(files, module.final.hlo, "gpu")
    assert stats is not None
    assert stats.peak_bytes is None
    assert stats.temp_bytes


@pytest.mark.parametrize(
    ("build", "temp"),
    [
        ("cl_933746096", 391_168),
        ("cl_994787025", 391_168),  # 0.0.50; this one and the next two as these builds say
        ("cl_1004524046", 391_168),  # 0.0.50.1
        ("cl_1003875606", 327_680),  # 0.0.51
        ("cl_1014260217", 327_680),
        ("cl_1000038190", None),
        ("cl_", None),
        (None, None),
    ],
)
def test_the_temp_of_a_tpu_is_known_where_the_rule_of_its_build_is(
    build: str | None, temp: int | None, modules: dict[tuple[str, str], ParsedModule]
) -> None:
    module = modules["v5e2x4", "top_ranked"]
    assert module.final is not None
    files = msgspec.structs.replace(module.memory, build=build)
    stats = find_memory_stats(files, module.final.hlo, "tpu")
    assert stats is not None
    assert stats.temp_bytes == temp


def test_without_a_buffer_assignment_nothing_is_known(
    modules: dict[tuple[str, str], ParsedModule],
) -> None:
    module = modules["h100", "sinkhorn"]
    assert module.final is not None
    files = module.memory.__class__(None, module.memory.live, ())
    assert find_memory_stats(files, module.final.hlo, "gpu") is None


TEXT = """ENTRY e {
  x = f32[64] parameter(0)
  a = f32[64] negate(x)
  b = (f32[64], f32[64]) fusion(a), kind=kLoop, calls=f
  ROOT w = f32[64] while(b), body=f, condition=f
}"""
Row = tuple[str, tuple[int, ...], int, int, int, int]


@pytest.fixture
def use(module_of: Callable[[str], HloModule]) -> Callable[..., int | None]:
    """Return what counts of values, each as name, index, offset, bytes, start and end."""
    module = module_of(TEXT)

    def measured(*rows: Row) -> int | None:
        values = [
            BufferValue(number, name, index, offset, size, "f32[64]")
            for number, (name, index, offset, size, *_) in enumerate(rows)
        ]
        lives = [LiveRange(name, index, *span) for name, index, _, _, *span in rows]
        return measure_chip_memory(values, LiveRanges(ranges=lives), module)

    return measured


def test_a_result_counts_beside_the_operand_whose_place_it_takes(
    use: Callable[..., int | None],
) -> None:
    assert use(("a", (), 0, 256, 1, 3), ("b", (0,), 0, 256, 3, 5)) == 512
    assert use(("a", (), 0, 256, 1, 2), ("b", (0,), 0, 256, 3, 5)) == 256


def test_what_a_loop_carries_is_no_new_value(use: Callable[..., int | None]) -> None:
    carried = ("a", (), 0, 256, 1, 3), ("x", (), 0, 256, 3, 5), ("w", (), 0, 256, 5, 5)
    assert use(*carried) == 256


def test_two_results_at_one_place_count_once(use: Callable[..., int | None]) -> None:
    assert use(("b", (0,), 0, 256, 3, 5), ("b", (1,), 0, 256, 3, 5)) == 256


def test_a_value_over_a_part_of_another_is_not_known(use: Callable[..., int | None]) -> None:
    parts = ("a", (), 0, 128, 1, 3), ("b", (0,), 128, 128, 1, 3)
    assert use(*parts, ("b", (1,), 0, 256, 3, 5)) is None
    assert use(*parts, ("b", (1,), 0, 256, 3, 5), ("w", (), 512, 1024, 7, 9)) == 1024


def test_a_heap_of_tables_and_scalars_is_none_whatever_the_build(
    modules: dict[tuple[str, str], ParsedModule],
) -> None:
    """Also of libtpu 0.0.52: ten of ten small programs for v5e and v6e had a temp of 0."""
    empty = [row for row in recorded() if row["temp"] == "0" and row["target"] != "h100"]
    assert empty
    for row in empty:
        module = modules[row["target"], row["program"]]
        assert module.final is not None
        files = msgspec.structs.replace(module.memory, build="cl_1014260217")
        stats = find_memory_stats(files, module.final.hlo, "tpu")
        assert stats is not None
        assert stats.temp_bytes == 0
