"""Shardy's attributes mean what the same sharding means in HLO."""

import pytest

from xlareport.hlo.shardings.mesh import Mesh
from xlareport.hlo.shardings.sharding import place_alike
from xlareport.hlo.shardings.shardy_attributes import (
    parse_sdy_mesh,
    parse_sdy_sharding,
    parse_sdy_shardings,
)
from xlareport.hlo.shardings.written import parse_sharding


def mesh(text: str) -> Mesh:
    result = parse_sdy_mesh(text)
    assert result is not None
    return result


MESHES = {
    "mesh": mesh('<["x"=2, "y"=4]>'),
    "turned": mesh('#sdy.mesh<["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>'),
    "empty_mesh": mesh("<[]>"),
    "maximal_mesh_3": mesh("<[], device_ids=[3]>"),
    "odd name": mesh('mesh<["a.b"=2]>'),
}


@pytest.mark.parametrize(
    ("text", "hlo"),
    [
        ('#sdy.sharding<@mesh, [{"x"}, {"y"}]>', "{devices=[2,4]<=[8]}"),
        ('<@mesh, [{"y"}, {}]>', "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"),
        ('<@mesh, [{"x", ?}p1, {?}p0]>', "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"),
        ('<@mesh, [{"y":(2)2}]>', "{mesh['x'=2,'y'=4], [{'y':(2)2}]}"),
        ('<@turned, [{"x"}, {"y"}]>', "{devices=[2,4]7,6,5,4,3,2,1,0}"),
        ('<@mesh, [{"y"}], unreduced={"x"}>', "{mesh['x'=2,'y'=4], [{'y'}], unreduced={'x'}}"),
        ('<@mesh, [{"y"}], replicated={"x"}>', "{mesh['x'=2,'y'=4], [{'y'}]}"),
        ("<@mesh, []>", "{replicated}"),
        ("<@empty_mesh, [{}]>", "{replicated}"),
        ("<@maximal_mesh_3, []>", "{maximal device=3}"),
        ('<@"odd name", [{"a.b"}]>', "{devices=[2]<=[2]}"),
        ('<mesh<["x"=2]>, [{"x"}]>', "{devices=[2]<=[2]}"),
        ("<@missing, [{}, {}]>", "{replicated}"),
        ('"#sdy.sharding<@mesh, [{\\"x\\"}, {\\22y\\22}]>"', "{devices=[2,4]<=[8]}"),
    ],
)
def test_shardings(text: str, hlo: str) -> None:
    sharding, other = parse_sdy_sharding(text, MESHES), parse_sharding(hlo)
    assert sharding is not None
    assert other is not None
    assert place_alike(sharding, other) is True


@pytest.mark.parametrize(
    "text",
    ["", "<@mesh>", '<@missing, [{"x"}]>', '<@mesh, [{"z"}]>', '<@mesh, [{"x"}], other={"y"}>'],
)
def test_what_is_no_sharding_is_none(text: str) -> None:
    assert parse_sdy_sharding(text, MESHES) is None


def test_one_for_each_result() -> None:
    text = '#sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{"q"}]>, <@mesh, []>]>'
    first, unknown, last = parse_sdy_shardings(text, MESHES)
    assert first is not None
    assert first.tiles == (2, 1)
    assert unknown is None
    assert last is not None
    assert last.kind == "replicated"
    assert parse_sdy_shardings("nothing", MESHES) == ()


@pytest.mark.parametrize("text", ["", "<>", '<["x"=0]>', '<["x"=2], device_ids=[1]>'])
def test_what_is_no_mesh_is_none(text: str) -> None:
    assert parse_sdy_mesh(text) is None
