"""Shardings along mesh axes as tiles."""

from xlareport.hlo.shardings.device_order import DeviceOrder
from xlareport.hlo.shardings.mesh import AxisPart, Mesh
from xlareport.hlo.shardings.named import AxisWords, make_named
from xlareport.hlo.shardings.sharding import DimensionAxes, ShardingKind, tiles_of_devices

MESH = Mesh((("x", 2), ("y", 3)), DeviceOrder.of(range(6)))
X, Y = AxisPart("x"), AxisPart("y")


def test_a_dimension_is_cut_along_its_axes_and_the_rest_repeats() -> None:
    sharding = make_named(MESH, [DimensionAxes((Y,)), DimensionAxes(())], AxisWords())
    assert sharding is not None
    assert sharding.tiles == (3, 1)
    tiles = tiles_of_devices(sharding)
    assert tiles is not None
    assert [tiles[device] for device in range(6)] == [(0, 0), (1, 0), (2, 0)] * 2


def test_manual_axes_are_a_group_of_their_own() -> None:
    sharding = make_named(MESH, [DimensionAxes((X,))], AxisWords(manual=(Y,)))
    assert sharding is not None
    assert sharding.tiles == (2,)
    assert (ShardingKind.MANUAL, 3) in sharding.subgroups


def test_an_axis_that_the_mesh_lacks_makes_no_sharding() -> None:
    assert make_named(MESH, [DimensionAxes((AxisPart("z"),))], AxisWords()) is None
    assert make_named(MESH, [DimensionAxes((X,))], AxisWords(replicated=(AxisPart("z"),))) is None
    assert make_named(MESH, [DimensionAxes((X,))], None) is None


def test_an_axis_cuts_only_once() -> None:
    assert make_named(MESH, [DimensionAxes((X,)), DimensionAxes((X,))], AxisWords()) is None


def test_words_behind_the_dimensions_are_known_ones() -> None:
    assert AxisWords.of({"replicated": (X,), "manual": (Y,)}) == AxisWords((X,), (), (Y,))
    assert AxisWords.of({"replicated": None}) is None
    assert AxisWords.of({"partial": (X,)}) is None
