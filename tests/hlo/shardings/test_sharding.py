"""What two shardings have in common, whatever notation they are in."""

import pytest

from xlareport.hlo.shardings.sharding import Sharding, place_alike, tiles_of_devices
from xlareport.hlo.shardings.written import parse_sharding


def parsed(text: str) -> Sharding:
    sharding = parse_sharding(text)
    assert sharding is not None
    return sharding


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ("{devices=[2,2]<=[4]}", "{devices=[2,2]0,1,2,3}", True),
        ("{devices=[2,2]<=[4]}", "{mesh['x'=2,'y'=2], [{'x'}, {'y'}]}", True),
        ("{devices=[2,2]<=[4]}", "{mesh['x'=2,'y'=2], [{'y'}, {'x'}]}", False),
        ("{replicated}", "{mesh['x'=2,'y'=2], [{}, {}]}", True),
        ("{replicated}", "{devices=[1,1,4]<=[4] last_tile_dim_replicate}", True),
        ("{devices=[2,2]<=[4] last_tile_dim_replicate}", "{devices=[2,2]<=[4]}", False),
        (
            "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}",
            "{devices=[2,2]1,0,3,2 last_tile_dim_replicate}",
            True,
        ),
        ("{maximal device=0}", "{maximal device=1}", False),
        ("{manual}", "{manual}", True),
        ("{manual}", "{replicated}", False),
        ("{{replicated}, {manual}}", "{{replicated}, {manual}}", True),
        ("{{replicated}, {manual}}", "{{replicated}, {replicated}}", False),
        ("{{replicated}}", "{{replicated}, {replicated}}", False),
        (
            "{devices=[2,2]<=[4] last_tile_dims={manual}}",
            "{devices=[2,2]<=[4] last_tile_dim_replicate}",
            False,
        ),
    ],
)
def test_shardings_are_compared_by_what_each_device_holds(
    first: str, second: str, *, alike: bool
) -> None:
    assert place_alike(parsed(first), parsed(second)) is alike


def test_which_tile_a_device_holds() -> None:
    held = tiles_of_devices(parsed("{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}"))
    assert held == {0: (0, 0), 2: (0, 0), 1: (1, 0), 3: (1, 0)}


@pytest.mark.parametrize("text", ["{replicated}", "{manual}", "{maximal device=1}", "{}"])
def test_what_is_not_cut_has_no_tiles(text: str) -> None:
    assert tiles_of_devices(parsed(text)) is None


def test_counts() -> None:
    sharding = parsed("{devices=[2,2,2]<=[8] last_tile_dim_replicate}")
    assert (sharding.device_count, sharding.cuts) == (8, 4)
    assert parsed("{replicated}").device_count is None
    assert parsed("{mesh['x'=4], replicated}").device_count == 4
