from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlareport.hlo.shardings.device_groups import parse_groups, parse_pairs


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("{{0,1},{2,3}}", ((0, 1), (2, 3))),
        ("{{0,1,2},{3}}", ((0, 1, 2), (3,))),
        ("[2,4]<=[8]", ((0, 1, 2, 3), (4, 5, 6, 7))),
        ("[2,4]<=[4,2]T(1,0)", ((0, 2, 4, 6), (1, 3, 5, 7))),
        ("mesh['x'=2,'y'=2] {'y'}", ((0, 1), (2, 3))),
        ("mesh['x'=2,'y'=2] {'x'}", ((0, 2), (1, 3))),
        ("mesh['d'=2] {'d'}", ((0, 1),)),
        ("mesh['x'=2,'y'=2] {'x','y'}", ((0, 1, 2, 3),)),
        ("mesh['x'=2,'y'=2] {'y','x'}", ((0, 2, 1, 3),)),
        ("mesh['x'=8] {'x':(2)2}", ((0, 2), (1, 3), (4, 6), (5, 7))),
        ("mesh['x'=2,'y'=2], device_ids=(3,2,1,0) {'y'}", ((3, 2), (1, 0))),
        ("{{0,1}, {2,3}}", ((0, 1), (2, 3))),
    ],
)
def test_each_form(text: str, groups: tuple[tuple[int, ...], ...]) -> None:
    found = parse_groups(text)
    assert found is not None
    assert found.groups == groups
    assert (found.count, found.size) == (len(groups), max(map(len, groups)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[2,4]<=[9]",
        "[2,4]<=[4,2]T(1,1)",
        "mesh['x'=2] {'z'}",
        "mesh[] {}",
        "everyone",
        "{{0,1},x}",
        "{{0,1}",
    ],
)
def test_what_is_no_group_is_none(text: str) -> None:
    assert parse_groups(text) is None


def test_none_written_means_all_where_their_number_is_known() -> None:
    found = parse_groups("{}", everyone=3)
    assert found is not None
    assert found.groups == ((0, 1, 2),)


def test_groups_along_a_mesh_name_its_axes() -> None:
    groups = parse_groups("mesh['x'=2,'y'=4] {'y':(1)2}")
    assert groups is not None
    assert groups.mesh is not None
    assert groups.mesh.axes == (("x", 2), ("y", 4))
    assert [axis.text for axis in groups.axes] == ["y:(1)2"]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("{{0,1},{1,0}}", ((0, 1), (1, 0))),
        ("{{0,1}}", ((0, 1),)),
        ("{}", ()),
        ("", None),
        ("{{0,1,2}}", None),
        ("{{0,1},x}", None),
    ],
)
def test_pairs(text: str, pairs: tuple[tuple[int, int], ...] | None) -> None:
    assert parse_pairs(text) == pairs


def test_very_many_devices_are_counted_not_listed() -> None:
    found = parse_groups("[100000,1000]<=[100000000]")
    assert found is not None
    assert (found.count, found.size, found.groups) == (100_000, 1000, None)


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4).flatmap(
        lambda sizes: st.tuples(st.just(sizes), st.permutations(range(len(sizes))))
    )
)
def test_iota_groups_are_a_transposed_count(case: tuple[list[int], list[int]]) -> None:
    sizes, order = case
    places = product(*(range(sizes[axis]) for axis in order))
    strides = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    expected = [
        sum(step * strides[axis] for axis, step in zip(order, place, strict=True))
        for place in places
    ]
    written = ",".join(map(str, sizes))
    transposed = ",".join(map(str, order))
    found = parse_groups(f"[1,{prod(sizes)}]<=[{written}]T({transposed})")
    assert found is not None
    assert found.groups == (tuple(expected),)
