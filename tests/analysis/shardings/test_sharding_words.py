"""Shardings in words, along the axes of a mesh where it explains the devices."""

import pytest

from xlareport.analysis.shardings.sharding_words import axes_of, describe_sharding, words_of
from xlareport.hlo.shardings.mesh import Mesh, make_mesh
from xlareport.hlo.shardings.written import parse_sharding


def mesh(axes: str = "'x'=4,'y'=2", ids: str | None = None) -> Mesh:
    result = make_mesh(axes, ids)
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{replicated}", "replicated: whole on each device"),
        ("{maximal device=3}", "whole on device 3 only"),
        ("{manual}", "manual: the shape is that of one device's part (shard_map)"),
        ("{devices=[4,2]<=[8]}", "dimension 0 in 4 parts along x, dimension 1 in 2 parts along y"),
        (
            "{devices=[2,1,4]<=[4,2]T(1,0)}",
            ("dimension 0 in 2 parts along y, dimension 2 in 4 parts along x"),
        ),
        ("{devices=[1,8]<=[8]}", "dimension 1 in 8 parts along x, y"),
        ("{devices=[1,8]<=[4,2]T(1,0)}", "dimension 1 in 8 parts along y, x"),
        (
            "{devices=[4,1,2]<=[8] last_tile_dim_replicate}",
            ("dimension 0 in 4 parts along x, each part on 2 devices"),
        ),
        (
            "{devices=[2,2,2]<=[8] last_tile_dim_replicate}",
            ("dimension 0 in 2 parts, dimension 1 in 2 parts, each part on 2 devices"),
        ),
        ("{devices=[1,8]0,2,1,3,4,5,6,7}", "dimension 1 in 8 parts"),
        (
            "{devices=[4,2]<=[8] last_tile_dims={manual}}",
            ("dimension 0 in 4 parts along x, manual over 2 devices"),
        ),
        (
            "{mesh['a'=2,'b'=4], [{'b'}, {'a'}]}",
            ("dimension 0 in 4 parts along b, dimension 1 in 2 parts along a"),
        ),
        (
            "{mesh['a'=8], [{'a':(1)2}]}",
            "dimension 0 in 2 parts along a:(1)2, each part on 4 devices",
        ),
        (
            "{{replicated}, {manual}}",
            (
                "replicated: whole on each device; manual: the shape is that "
                "of one device's part (shard_map)"
            ),
        ),
        ("{}", "empty tuple"),
        ("{mesh['a'=2,'b'=4], [{?}, {?}]}", "open: left to propagation"),
        (
            "{mesh['a'=2,'b'=4], [{}, {?}, {?}]}",
            "not cut, open to propagation: dimensions 1, 2",
        ),
        (
            "{mesh['a'=8], [{'a', ?}, {}]}",
            "dimension 0 in 8 parts along a, open to propagation: dimension 0",
        ),
    ],
)
def test_words(text: str, words: str) -> None:
    sharding = parse_sharding(text)
    assert sharding is not None
    assert describe_sharding(sharding, mesh()) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{replicated}", "replicated"),
        ("{{replicated}, {manual}}", "replicated; manual"),
        ("{mesh['a'=2], [{?}, {?}]}", "open"),
        ("{mesh['a'=2,'b'=4], [{}, {?}, {?}]}", "not cut, open to propagation"),
        ("{devices=[1,4]...}", "dimension 1 in 4 parts"),
    ],
)
def test_words_without_explanation(text: str, words: str) -> None:
    assert words_of(text, explained=False) == words


def test_parts_without_their_devices() -> None:
    assert words_of("{devices=[1,4]...}", None) == "dimension 1 in 4 parts"
    assert words_of("{devices=[1,4,2]}", None) == "not read"


def test_many_members_are_counted() -> None:
    sharding = parse_sharding("{" + ", ".join(["{replicated}"] * 10) + "}")
    assert sharding is not None
    assert describe_sharding(sharding).endswith("; 2 more")


def test_devices_of_the_mesh_count_not_their_numbers() -> None:
    sharding = parse_sharding("{devices=[4,2]7,6,5,4,3,2,1,0}")
    assert sharding is not None
    assert axes_of(sharding, mesh(ids="7,6,5,4,3,2,1,0")) == (("x",), ("y",))
    assert axes_of(sharding, mesh()) is None
    assert axes_of(sharding, mesh("'x'=4")) is None
    assert axes_of(sharding, None) is None
