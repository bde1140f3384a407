"""Which part of a value each device holds, by the shardings before the partitioner."""

import pytest
from tests.modules import parse_module
from tests.replay.programs import entry

from xlareport.hlo.model import HloModule
from xlareport.replay.parameter_shards import find_placement
from xlareport.replay.runnable_program import NotRunnableError

PARTS = ", num_partitions=2"


def whole(sharding: str = ", sharding={devices=[2,1]<=[2]}") -> HloModule:
    lines = f"%a = f32[4,3] parameter(0){sharding}\nROOT %b = f32[4,3] negate(%a){sharding}"
    return parse_module(entry(lines, header=PARTS))


def part(rows: int = 2) -> HloModule:
    lines = f"%a = f32[{rows},3] parameter(0)\nROOT %b = f32[{rows},3] negate(%a)"
    return parse_module(entry(lines, header=PARTS).replace("%main", "%main_spmd"))


def test_a_program_of_whole_arrays_runs_on_one_device() -> None:
    assert find_placement([whole(), part()], whole()) is None


def test_parts_are_where_the_sharding_says() -> None:
    placement = find_placement([whole(), part()], part())
    assert placement is not None
    assert placement.devices == 2
    (value,) = placement.parameters
    assert value.dimensions == (4, 3)
    assert value.boxes == (((0, 2), (0, 3)), ((2, 4), (0, 3)))
    assert placement.results == placement.parameters


def test_replicas_are_stacked() -> None:
    text = entry(
        "%a = f32[3] parameter(0)\nROOT %b = f32[3] negate(%a)", header=", replica_count=2"
    )
    placement = find_placement([], parse_module(text))
    assert placement is not None
    assert placement.parameters[0].dimensions == (2, 3)
    assert placement.parameters[0].boxes == (((0, 1), (0, 3)), ((1, 2), (0, 3)))


@pytest.mark.parametrize(
    ("modules", "module", "reason"),
    [
        ([part()], part(), "no snapshot from before"),
        ([whole(""), part()], part(), "does not say how parameter 0 is sharded"),
        ([whole(), part(3)], part(3), "not sharded as before"),
        ([whole(", sharding={manual}"), part()], part(), "shards of parameter 0 are not known"),
    ],
)
def test_what_the_dump_does_not_say_is_refused(
    modules: list[HloModule], module: HloModule, reason: str
) -> None:
    with pytest.raises(NotRunnableError, match=reason):
        find_placement(modules, module)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (", num_partitions=65", "65 devices; 64 are the most"),
        (", num_partitions=2, replica_count=2", "2 replicas of 2 partitions"),
    ],
)
def test_too_many_devices_are_refused(header: str, reason: str) -> None:
    module = parse_module(entry("ROOT %a = f32[] parameter(0)", header=header))
    with pytest.raises(NotRunnableError, match=reason):
        find_placement([module], module)
