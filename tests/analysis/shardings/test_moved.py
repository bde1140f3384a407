"""What each device must receive at the least, against a count of every element."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlareport.analysis.shardings.moved import count_received
from xlareport.hlo.shardings.sharding import Sharding, ShardingKind, tiles_of_devices
from xlareport.hlo.shardings.written import parse_sharding


def parsed(text: str) -> Sharding:
    sharding = parse_sharding(text)
    assert sharding is not None
    return sharding


def elements(sharding: Sharding, sizes: tuple[int, ...], device: int) -> set[tuple[int, ...]]:
    """Return the places of an array that a device holds, one by one."""
    every = set(product(*map(range, sizes)))
    if sharding.kind == ShardingKind.REPLICATED:
        return every
    tile = (tiles_of_devices(sharding) or {})[device]
    each = [-(-size // count) for size, count in zip(sizes, sharding.tiles, strict=True)]
    return {
        place
        for place in every
        if all(at // step == number for at, step, number in zip(place, each, tile, strict=True))
    }


TEXTS = [
    "{replicated}",
    "{devices=[4,1]<=[4]}",
    "{devices=[1,4]<=[4]}",
    "{devices=[2,2]<=[4]}",
    "{devices=[2,2]<=[2,2]T(1,0)}",
    "{devices=[4,1]3,2,1,0}",
    "{devices=[2,1,2]<=[4] last_tile_dim_replicate}",
    "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
]


@given(
    st.sampled_from(TEXTS),
    st.sampled_from(TEXTS),
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
)
def test_as_counted_element_by_element(before: str, after: str, sizes: tuple[int, int]) -> None:
    old, new = parsed(before), parsed(after)
    missing = [
        len(elements(new, sizes, device) - elements(old, sizes, device)) for device in range(4)
    ]
    assert count_received(old, new, sizes, 4) == (max(missing), sum(missing))


def test_from_one_device_all_others_receive() -> None:
    assert count_received(parsed("{maximal device=1}"), parsed("{replicated}"), (6,), 3) == (6, 12)


@pytest.mark.parametrize(
    "text", ["{manual}", "{unknown}", "{devices=[2,2]<=[4] last_tile_dims={unreduced}}"]
)
def test_what_cannot_be_told(text: str) -> None:
    assert count_received(parsed(text), parsed("{replicated}"), (4,), 4) is None
    assert count_received(parsed("{devices=[2]<=[2]}"), parsed("{replicated}"), (4,), 4) is None
