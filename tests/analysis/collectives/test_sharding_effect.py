"""What gathers and permutes do to shardings, by hand on a mesh of 2 x 4."""

from xlareport.analysis.collectives.sharding_effect import (
    cuts_along,
    exchange,
    gather,
    permute_sharding,
    tiles_of,
)

ROWS = [(0, 4), (1, 5), (2, 6), (3, 7)]
ALL = [tuple(range(8))]


def test_a_gather_joins_neighboring_parts() -> None:
    assert gather("{devices=[2,4]<=[8]}", 2, 0, ROWS, 8) == (
        "{devices=[1,4,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}"
    )
    assert gather("{devices=[8,1]<=[8]}", 2, 0, ALL, 8) == "{replicated}"


def test_a_gather_that_does_not_fit_says_nothing() -> None:
    assert gather("{devices=[2,4]<=[8]}", 2, 1, ROWS, 8) == ""
    assert gather("{devices=[2,4]<=[8]}", 2, 0, [(0, 1), (2, 3), (4, 5), (6, 7)], 8) == ""
    assert gather("{manual}", 2, 0, ROWS, 8) == ""
    assert gather("unheard of", 2, 0, ROWS, 8) == ""
    assert gather("{devices=[2,4]<=[8]}", 3, 0, ROWS, 8) == ""


def test_a_permute_hands_parts_on() -> None:
    turned = [(device, (device + 1) % 8) for device in range(8)]
    assert permute_sharding("{devices=[8]<=[8]}", 1, turned, 8) == "{devices=[8]1,2,3,4,5,6,7,0}"
    assert permute_sharding("{devices=[8]<=[8]}", 1, turned[:3], 8) == ""


def test_an_exchange_joins_along_a_dimension_and_cuts_another() -> None:
    pairs = [(0, 1), (2, 3)]
    assert exchange("{devices=[2,2]<=[4]}", 1, 0, pairs, 4) == "{devices=[4,1]<=[4]}"
    assert exchange("{devices=[2,2]<=[4]}", 0, 1, [(0, 2), (1, 3)], 4) == "{devices=[1,4]0,2,1,3}"
    assert exchange("{devices=[2,2]<=[4]}", 1, 0, [(0, 2), (1, 3)], 4) == ""
    assert exchange("{devices=[2,2]<=[4]}", 1, 0, [(1, 0), (3, 2)], 4) == ""
    assert exchange("{devices=[2,2]<=[4]}", 1, 2, pairs, 4) == ""


def test_cuts_of_shapes() -> None:
    assert cuts_along("{devices=[2,4]<=[8]}", [0, 1]) == 8
    assert cuts_along("{replicated}", [0]) == 1
    assert tiles_of("{devices=[2,1,4]<=[8] last_tile_dim_replicate}") == (2, 1)
    assert tiles_of("{replicated}") is None
