"""Shardings in HLO are read as XLA reads them: data/expanded.tsv is what jaxlib makes of each."""

from itertools import product
from math import prod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlareport.hlo.shardings.sharding import (
    Sharding,
    ShardingKind,
    Tile,
    place_alike,
    tiles_of_devices,
)
from xlareport.hlo.shardings.written import local_dimensions, parse_sharding

EXPANDED = (Path(__file__).parent / "data/expanded.tsv").read_text().splitlines()


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",") if word]


def held(tiles: list[int], devices: list[int]) -> dict[int, Tile]:
    """Expand tiles in the plainest way: each takes the next devices of the list."""
    each = len(devices) // prod(tiles)
    places = [place for place in product(*map(range, tiles)) for _ in range(each)]
    return dict(zip(devices, places, strict=True))


def parsed(text: str) -> Sharding:
    sharding = parse_sharding(text)
    assert sharding is not None, text
    return sharding


def test_the_table_is_what_it_says() -> None:
    kinds = {row.split("\t")[1] for row in EXPANDED}
    assert len(EXPANDED) > 200
    assert kinds == {"tiled", "replicated", "manual", "unreduced"}


def test_each_device_holds_the_tile_that_xla_gives_it() -> None:
    for row in EXPANDED:
        text, kind, sizes, kinds, devices = row.split("\t")
        sharding = parsed(text)
        named = kinds.split(",") if kinds else []
        tiles = numbers(sizes)[: len(numbers(sizes)) - len(named)]
        sub = dict(zip(named, numbers(sizes)[len(tiles) :], strict=True))
        groups = {name: size for name, size in sub.items() if size > 1}
        if kind == "tiled" and prod(tiles) == 1 and len(groups) == 1:
            # XLA keeps a subgroup of one device, which says nothing.
            kind = next(iter(groups))
        assert sharding.kind == kind, text
        if kind == "tiled":
            assert sharding.tiles == tuple(tiles), text
            assert dict(sharding.subgroups) == groups
            assert tiles_of_devices(sharding) == held(tiles, numbers(devices)), text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{replicated}", ShardingKind.REPLICATED),
        ("{manual}", ShardingKind.MANUAL),
        ("{unknown}", ShardingKind.UNKNOWN),
        ("{unreduced}", ShardingKind.UNREDUCED),
        ("{maximal device=3}", ShardingKind.MAXIMAL),
        ("{maximal_mesh[device_id=3]}", ShardingKind.MAXIMAL),
        ("{mesh['x'=2], replicated}", ShardingKind.REPLICATED),
        ("{mesh['x'=2], manual}", ShardingKind.MANUAL),
        ("{mesh['x'=2], unreduced}", ShardingKind.UNREDUCED),
        ("{mesh[], [{}]}", ShardingKind.REPLICATED),
        ("{mesh[x=2,y=2], [{x}, {y}]}", ShardingKind.TILED),
        ("{devices=[1,1,8]<=[8] last_tile_dim_replicate}", ShardingKind.REPLICATED),
        ("{devices=[2,1]0,1 shard_as 7}", ShardingKind.TILED),
        ('{devices=[2,1]0,1 metadata={op_name="a[b, {c}]"}}', ShardingKind.TILED),
        ("{mesh['x'=2], [{'x'}], metadata={{op_name=\"a\"}}}", ShardingKind.TILED),
        ('{replicated metadata={op_name="a"}}', ShardingKind.REPLICATED),
        ("{}", ShardingKind.TUPLE),
        ("{{replicated}, /*index=5*/{devices=[2]<=[2]}}", ShardingKind.TUPLE),
        ("{{{replicated}}, {manual}}", ShardingKind.TUPLE),
    ],
)
def test_kinds(text: str, kind: ShardingKind) -> None:
    assert parsed(text).kind == kind


def test_the_device_of_a_maximal_one() -> None:
    devices = parsed("{maximal device=3}").devices
    assert devices is not None
    assert devices.devices() == (3,)


def test_members_of_a_tuple() -> None:
    sharding = parsed("{{devices=[2]<=[2]}, {replicated}}")
    assert [element.kind for element in sharding.elements] == ["tiled", "replicated"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "replicated",
        "{replicate}",
        "{devices=[2,2]<=[5]}",
        "{devices=[2,2]0,1,2}",
        "{devices=[2,2]<=[2,2]T(0,0)}",
        "{devices=[2]<=[2] last_tile_dims={manual, manual}}",
        "{devices=[2,2]<=[4] last_tile_dims={whatever}}",
        "{mesh['x'=2], [{'y'}]}",
        "{mesh['x'=2], [{'x'}, {'x'}]}",
        "{mesh['x'=4], [{'x':(1)3}]}",
        "{mesh['x'=8], [{'x':(1)4}, {'x':(2)4}]}",
        "{mesh['x'=2,'x'=2], [{'x'}]}",
        "{mesh['x'=2], [{'x'}], other={'x'}}",
        "{mesh['x'=2], device_ids=(0,1,2), [{'x'}]}",
        "{{replicated}, nothing}",
        "{" * 500 + "}" * 500,
        "{devices=[99999999999]<=[99999999999]}",
    ],
)
def test_what_is_no_sharding_is_none(text: str) -> None:
    assert parse_sharding(text) is None


def test_very_many_devices_are_counted_not_listed() -> None:
    sharding = parsed("{devices=[1000,1000]<=[1000000]}")
    assert sharding.device_count == 1_000_000
    assert tiles_of_devices(sharding) is None
    assert place_alike(sharding, sharding) is None


@given(st.text("{}[]<=,'x:()0123 devicsmhT", max_size=60))
def test_any_text_has_an_answer(text: str) -> None:
    parse_sharding(text)
    parse_sharding("{devices=[2]" + text)
    parse_sharding("{mesh['x'=2]" + text)


def test_parts_of_shapes() -> None:
    assert local_dimensions("{devices=[2,4]<=[8]}", (64, 10)) == (32, 3)
    assert local_dimensions("{replicated}", (64,)) == (64,)
    assert local_dimensions("{devices=[2,4]<=[8]}", (64,)) is None
    assert local_dimensions("{devices=[2]<=[2]}", (None,)) is None
