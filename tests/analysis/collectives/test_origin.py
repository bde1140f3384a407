"""Why collectives of real programs are there, checked against what the programs say."""

from collections.abc import Callable

import pytest

from xlareport.analysis.collectives.origin import CauseKind
from xlareport.analysis.collectives.rows import CollectiveRow

Rows = Callable[[str, str], dict[str, CollectiveRow]]
DUMPS = pytest.mark.parametrize("dump", ["sharded-cpu", "sharded-gpu", "sharded-tpu"])


@DUMPS
def test_what_the_user_wrote_is_the_users(dump: str, rows_of: Rows) -> None:
    for row in rows_of(dump, "jit_experts").values():
        assert row.origin.cause is CauseKind.USER
        assert row.sharding is None
        assert row.sharding_reason


@DUMPS
def test_a_convolution_needs_the_edge_of_its_neighbors(dump: str, rows_of: Rows) -> None:
    rows = rows_of(dump, "jit_blurred").values()
    assert len(rows) == 2
    for row in rows:
        assert row.origin.cause is CauseKind.HALO
        assert row.origin.grade == "exact"
        assert row.sharding is not None
        assert row.sharding.value == "image.0"


@DUMPS
def test_weights_are_gathered_along_data(dump: str, rows_of: Rows) -> None:
    gathers = [
        row
        for row in rows_of(dump, "jit_fsdp_step").values()
        if row.collective.kind == "all-gather"
    ]
    assert gathers
    for row in gathers:
        assert row.origin.cause is CauseKind.RESHARDING
        assert row.origin.grade == "exact"
        pair = row.sharding
        assert pair is not None
        assert (pair.from_, pair.to) in {
            ("{devices=[2,4]<=[8]}", f"{{devices=[1,4,2]{PAIRS} last_tile_dim_replicate}}"),
            (
                "{devices=[4,2]<=[2,4]T(1,0)}",
                f"{{devices=[4,1,2]{PAIRS} last_tile_dim_replicate}}",
            ),
        }


PAIRS = "0,4,1,5,2,6,3,7"
"""Devices that differ along `data`: 2 x 4, `data` first."""


@DUMPS
def test_a_product_of_shards_is_summed_up(dump: str, rows_of: Rows) -> None:
    rows = rows_of(dump, "jit_fsdp_step").values()
    (row,) = (
        one for one in rows if one.collective.kind == "all-reduce" and one.figures.group_size == 4
    )
    assert row.origin.cause is CauseKind.PARTIAL_SUM
    assert row.origin.grade == "exact"
    assert "sharded in 4" in row.origin.detail
    assert [operand.sharding for operand in row.origin.operands] == [
        "{devices=[2,4]<=[8]}",
        "{devices=[4,2]<=[2,4]T(1,0)}",
    ]
    assert row.sharding is not None
    assert row.sharding.to == "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"


@DUMPS
def test_the_loss_is_a_partial_reduction(dump: str, rows_of: Rows) -> None:
    rows = rows_of(dump, "jit_fsdp_step").values()
    causes = [row.origin.cause for row in rows]
    causes += [member.origin.cause for row in rows for member in row.members]
    assert CauseKind.PARTIAL_REDUCTION in causes


@DUMPS
def test_constraints_reshard(dump: str, rows_of: Rows) -> None:
    rows = list(rows_of(dump, "jit_turned").values())
    assert {row.origin.cause for row in rows} == {CauseKind.RESHARDING}
    pairs = {(row.sharding.from_, row.sharding.to) for row in rows if row.sharding}
    assert pairs == {
        ("{devices=[2,4]<=[8]}", "{devices=[4,2]<=[2,4]T(1,0)}"),
        ("{devices=[2,1,4]<=[8] last_tile_dim_replicate}", "{replicated}"),
    }


def test_halos_of_two_convolutions_of_one_name_in_two_dimensions(rows_of: Rows) -> None:
    rows = rows_of("overlapped-cpu", "jit_smoothed")
    assert len(rows) == 6
    for number, row in enumerate(rows.values()):
        op = "conv_general_dilated.0" if number < 4 else "conv_general_dilated.1"
        assert (row.origin.cause, row.origin.grade) == (CauseKind.HALO, "exact")
        assert row.origin.detail.startswith(f"`{op}` (convolution) needs the edge")
        assert row.sharding is not None
