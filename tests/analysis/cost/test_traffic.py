"""Bytes of single instructions: of the data, and as XLA counts them."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.site import Site, shapes_of
from xlareport.analysis.cost.traffic import (
    DYNAMIC_SIZE_BYTES,
    NO_TRAFFIC,
    POINTER_BYTES,
    Traffic,
    count_data_traffic,
    count_xla_traffic,
    is_bitcast_transpose,
    operand_size,
    result_size,
)
from xlareport.hlo.model import HloModule
from xlareport.hlo.shape import parse_shape

ReadModule: TypeAlias = Callable[[str], HloModule]

PARAMETERS = """  m = f32[8,8] parameter(0)
  row = f32[1,8] parameter(1)
  i = s32[] parameter(2)
  indices = s32[2,1] parameter(3)
  updates = f32[2,8] parameter(4)
"""
MATRIX, ROW, INDEX = 8 * 8 * 4, 8 * 4, 4


@pytest.fixture
def site_of(module_of: ReadModule) -> Callable[[str], Site]:
    def read(line: str) -> Site:
        entry = module_of(f"ENTRY e {{\n{PARAMETERS}  ROOT r = {line}\n}}").entry
        assert entry is not None
        assert entry.root is not None
        return Site(entry.root, shapes_of(entry))

    return read


@pytest.mark.parametrize(
    ("line", "traffic"),
    [
        ("f32[8,8] add(m, m)", Traffic(2 * MATRIX, MATRIX)),
        ("f32[1,8] slice(m), slice={[0:1], [0:8]}", Traffic(ROW, ROW)),
        (
            "f32[1,8] dynamic-slice(m, i, i), dynamic_slice_sizes={1,8}",
            Traffic(ROW + INDEX, ROW),
        ),
        ("f32[8,8] dynamic-update-slice(m, row, i, i)", Traffic(ROW + INDEX, ROW)),
        (
            "f32[8,8] scatter(m, indices, updates), to_apply=sum",
            Traffic(2 * ROW + 2 * ROW + 2 * INDEX, 2 * ROW),
        ),
        ("f32[8,8] cholesky(m)", Traffic(MATRIX // 2, MATRIX // 2)),
        ("(f32[8,8], f32[8,8]) all-gather-start(m), dimensions={0}", Traffic(MATRIX, MATRIX)),
        ("(f32[8,8], f32[8,8], u32[]) copy-start(m)", Traffic(MATRIX, MATRIX)),
        ("(f32[8,8], s32[]) tuple(m, i)", NO_TRAFFIC),
    ],
)
def test_a_part_of_an_array_is_all_that_is_read_of_it(
    site_of: Callable[[str], Site], line: str, traffic: Traffic
) -> None:
    assert count_data_traffic(site_of(line)) == traffic


def test_xla_counts_the_pointers_of_a_tuple(site_of: Callable[[str], Site]) -> None:
    line = "(f32[8,8], s32[]) tuple(m, i)"
    assert count_xla_traffic(site_of(line)) == Traffic(0, 2 * POINTER_BYTES)


def test_sizes_of_operands_and_results_differ_for_tuples_alone() -> None:
    pair = parse_shape("(f32[8,8]{1,0}, s32[])")
    assert (operand_size(pair), result_size(pair)) == (2 * POINTER_BYTES, MATRIX + INDEX)
    array = parse_shape("f32[8,8]{1,0}")
    assert operand_size(array) == result_size(array) == MATRIX
    assert operand_size(parse_shape("f32[<=8,8]{1,0}")) == MATRIX + 2 * DYNAMIC_SIZE_BYTES


def test_a_transpose_that_only_renames_dimensions_moves_nothing(
    site_of: Callable[[str], Site],
) -> None:
    renamed = site_of("f32[8,8]{0,1} transpose(m), dimensions={1,0}")
    moved = site_of("f32[8,8]{1,0} transpose(m), dimensions={1,0}")
    assert [is_bitcast_transpose(site) for site in (renamed, moved)] == [True, False]
    assert count_data_traffic(renamed) == NO_TRAFFIC
    assert count_data_traffic(moved) == Traffic(MATRIX, MATRIX)


def test_an_operand_that_is_missing_cannot_be_counted(site_of: Callable[[str], Site]) -> None:
    with pytest.raises(UncountableError, match="operand 1 is missing"):
        count_data_traffic(site_of("f32[8,8] dynamic-update-slice(m)"))
