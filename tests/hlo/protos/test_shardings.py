"""Shardings and device groups of protos have the text that XLA prints."""

from typing import Any

import pytest

from xlareport.hlo.protos.schema import message_class
from xlareport.hlo.protos.shardings import device_groups, sharding_text

MESH = {"axes": [{"name": b"x", "size": 2}, {"name": b"y", "size": 4}]}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "{replicated}"),
        ({"type": 4}, "{manual}"),
        ({"type": 1, "tile_assignment_devices": [3]}, "{maximal device=3}"),
        (
            {"type": 3, "tile_assignment_dimensions": [2, 1], "tile_assignment_devices": [1, 0]},
            "{devices=[2,1]1,0}",
        ),
        (
            {
                "type": 3,
                "tile_assignment_dimensions": [2, 1, 4],
                "iota_reshape_dims": [2, 4],
                "iota_transpose_perm": [1, 0],
                "replicate_on_last_tile_dim": True,
            },
            "{devices=[2,1,4]<=[2,4]T(1,0) last_tile_dim_replicate}",
        ),
        (
            {
                "type": 3,
                "tile_assignment_dimensions": [2, 2],
                "iota_reshape_dims": [4],
                "iota_transpose_perm": [0],
                "last_tile_dims": [4, 0],
            },
            "{devices=[2,2]<=[4] last_tile_dims={manual, replicated}}",
        ),
        ({"type": 5, "is_shard_group": True, "shard_group_id": 7}, "{unknown shard_as 7}"),
        ({"type": 2, "tuple_shardings": [{}, {"type": 4}]}, "{{replicated}, {manual}}"),
        (
            {
                "named_sharding": {
                    "mesh": MESH,
                    "dim_shardings": [
                        {"axes": [{"mesh_axis_index": 1}], "is_closed": True},
                        {"is_closed": True},
                    ],
                }
            },
            "{mesh['x'=2,'y'=4], [{'y'}, {}]}",
        ),
    ],
)
def test_shardings(fields: dict[str, Any], text: str) -> None:
    assert sharding_text(message_class("OpSharding")(**fields)) == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"replica_groups": [{"replica_ids": [0, 1]}, {"replica_ids": [2]}]}, "{{0,1},{2}}"),
        (
            {
                "collective_device_list": {
                    "iota_replica_group_list": {
                        "num_replica_groups": 2,
                        "num_devices_per_group": 4,
                        "iota_reshape_dims": [4, 2],
                        "iota_transpose_perm": [1, 0],
                    }
                }
            },
            "[2,4]<=[4,2]T(1,0)",
        ),
        (
            {"mesh_axes_replica_group_list": {"mesh": MESH, "axes": [{"mesh_axis_index": 0}]}},
            "mesh['x'=2,'y'=4] {'x'}",
        ),
        ({}, "{}"),
    ],
)
def test_device_groups(fields: dict[str, Any], text: str) -> None:
    assert device_groups(message_class("HloInstructionProto")(**fields)) == text
