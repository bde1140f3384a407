"""Involuntary full rematerializations: where XLA warned of them, and nowhere else."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.modules import parse_module

from xlareport.analysis.shardings.partitioning import Partitioning, find_partitioning
from xlareport.analysis.shardings.rematerializations import (
    Rematerialization,
    count_tiles,
    find_rematerializations,
)
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.program import read_snapshots

Unpack = Callable[[str], Path]
WARNED = re.compile(r"Involuntary full.* from sharding (\S+) to (\S+) .*\(%param, %param\)")


def found_in(folder: Path, *, without_passes: bool = False) -> tuple[Rematerialization, ...] | None:
    with open_source(folder) as source:
        (module,) = group(name_files(source)).modules
        snapshots = read_snapshots(module)
        modules = [
            snapshot.hlo
            for snapshot in snapshots
            if not without_passes or snapshot.stage.name != "pass"
        ]
        partitioning = find_partitioning(modules)
        assert partitioning is not None
        return find_rematerializations(partitioning)


@pytest.mark.parametrize("name", ["rematerialized", "rematerialized-gspmd"])
def test_the_program_of_xla_15207_with_shardy_and_gspmd(unpacked: Unpack, name: str) -> None:
    folder = unpacked("resharded") / name
    warned = WARNED.search((folder / "stderr.log").read_text())
    assert warned is not None
    (result,) = found_in(folder) or ()
    assert (result.from_sharding, result.to_sharding) == warned.groups()
    assert (result.from_tiles, result.to_tiles) == ((2, 1, 4), (1, 8, 1))
    assert result.shape == "f32[16,16,16]"
    assert (result.bytes, result.part_bytes) == (16384, 2048)
    assert result.gathers == ("all-gather", "all-gather.1")
    assert (result.op_name, result.grade) == ("jit(rematerialized)/add", "exact")


@pytest.mark.parametrize(
    "name",
    [
        "adjusted",
        "adjusted-gspmd",
        "weights_gathered",
        "replicated",
        "replicated_between",
        "gathered_by_hand",
    ],
)
def test_what_the_program_asks_for_is_none(unpacked: Unpack, name: str) -> None:
    folder = unpacked("resharded") / name
    assert "Involuntary" not in (folder / "stderr.log").read_text()
    assert found_in(folder) == ()


SHARDED = 'sharding={devices=[4,1]<=[4]}, metadata={op_name="jit(f)/add"}'


BEFORE = f"""HloModule m, num_partitions=4

ENTRY main {{
  a = f32[8,8] parameter(0), sharding={{devices=[4,1]<=[4]}}
  ROOT b = f32[8,8] add(a, a), {SHARDED}
}}
"""


def text(gather: str, begin: str, size: str = "8,2", header: str = "") -> Partitioning:
    """Return a partitioner's step: a value of 8x8, in rows on four devices, cut in columns."""
    after = f"""HloModule m, num_partitions=4{header}

ENTRY main_spmd {{
  a = f32[2,8] parameter(0), sharding={{devices=[4,1]<=[4]}}
  b = f32[2,8] add(a, a)
  zero = s32[] constant(0)
  four = s32[] constant(4)
  id = u32[] partition-id()
  mine = s32[] convert(id)
{gather}
  ROOT c = f32[{size}] dynamic-slice(g, zero, {begin}), dynamic_slice_sizes={{{size}}}
}}
"""
    return Partitioning(parse_module(BEFORE), parse_module(after))


def all_gather(operand: str = "b", name: str = "g", op_name: str = "jit(f)/add") -> str:
    return (
        f"  {name} = f32[8,8] all-gather({operand}), channel_id=1, replica_groups=[1,4]<=[4], "
        f'dimensions={{0}}, use_global_device_ids=true, metadata={{op_name="{op_name}"}}'
    )


def test_gathered_whole_and_cut_otherwise() -> None:
    (result,) = find_rematerializations(text(all_gather(), "mine")) or ()
    assert (result.value, result.slice, result.grade) == ("b", "c", "exact")
    assert (result.from_tiles, result.to_tiles) == ((4, 1), (1, 4))
    assert result.from_sharding == "{devices=[4,1]<=[4]}"
    assert result.to_sharding == ""


def test_a_start_and_its_done_are_one_gather() -> None:
    started = (
        all_gather(name="s")
        .replace("all-gather(", "all-gather-start(")
        .replace("f32[8,8]", "(f32[2,8], f32[8,8])")
    )
    done = "\n  g = f32[8,8] all-gather-done(s)"
    assert len(find_rematerializations(text(started + done, "mine")) or ()) == 1


def test_a_gather_of_another_shape_before_it_is_not_part_of_it() -> None:
    part = "  part = f32[4,1] broadcast(zero), dimensions={}\n"
    inner = all_gather("part", "inner").replace("f32[8,8]", "f32[4,4]").replace("{0}", "{1}")
    reshaped = "\n  r = f32[2,8] reshape(inner)\n"
    (result,) = (
        find_rematerializations(text(part + inner + reshaped + all_gather("r"), "mine")) or ()
    )
    assert (result.value, result.gathers) == ("r", ("g",))
    assert (result.from_tiles, result.to_tiles) == ((4, 1), (1, 4))


COPIED = all_gather(name="whole") + "\n  g = f32[8,8] copy(whole)"
TURNED = all_gather(name="whole") + "\n  g = f32[4,16] reshape(whole)"
PADDED = all_gather(name="whole") + "\n  g = f32[8,12] pad(whole, zero), padding=0_0x0_4"


@pytest.mark.parametrize(
    "partitioning",
    [
        pytest.param(text(all_gather(), "four"), id="one part for all devices"),
        pytest.param(text("  g = f32[8,8] broadcast(zero)", "mine"), id="nothing gathered"),
        pytest.param(text(COPIED, "mine"), id="the program has the whole"),
        pytest.param(text(all_gather(), "mine", size="2,8"), id="cut as before"),
        pytest.param(text(all_gather(), "mine", size="8,8"), id="not cut"),
        pytest.param(text(PADDED, "mine", size="8,9"), id="windows that overlap"),
        pytest.param(text(TURNED, "mine", size="4,4"), id="another array in between"),
    ],
)
def test_what_is_no_rematerialization(partitioning: Partitioning) -> None:
    assert find_rematerializations(partitioning) == ()


SCHEDULED = ", is_scheduled=true"


@pytest.mark.parametrize("name", ["rematerialized", "rematerialized-gspmd"])
def test_the_final_module_tells_it_too(unpacked: Unpack, name: str) -> None:
    (result,) = found_in(unpacked("resharded") / name, without_passes=True) or ()
    assert (result.from_tiles, result.to_tiles) == ((2, 1, 4), (1, 8, 1))
    assert (result.shape, result.bytes) == ("f32[16,16,16]", 16384)
    assert (result.op_name, result.grade) == ("jit(rematerialized)/add", "matched")
    assert not result.is_fresh


@pytest.mark.parametrize(
    "name", ["adjusted", "adjusted-gspmd", "weights_gathered", "replicated", "replicated_between"]
)
def test_the_final_module_tells_what_the_program_asks_for(unpacked: Unpack, name: str) -> None:
    assert found_in(unpacked("resharded") / name, without_passes=True) == ()


def test_a_later_copy_may_be_that_of_a_layout() -> None:
    (result,) = find_rematerializations(text(COPIED, "mine", header=SCHEDULED)) or ()
    assert (result.grade, result.is_fresh) == ("matched", False)


def test_later_the_parts_that_the_program_asks_for_are_none() -> None:
    step = text(COPIED, "mine", header=SCHEDULED)
    asked = (
        '  c = f32[8,8] custom-call(b), custom_call_target="Sharding", sharding={replicated}\n'
        "  ROOT d = f32[8,8] add(c, c)\n}"
    )
    before = BEFORE.replace("ROOT b", "b").replace("\n}", "\n" + asked)
    assert find_rematerializations(Partitioning(parse_module(before), step.after)) == ()


def test_without_the_program_nothing_is_told() -> None:
    assert find_rematerializations(None) is None


@pytest.mark.parametrize(
    ("whole", "part", "tiles"),
    [((8, 8), (2, 8), (4, 1)), ((8,), (3,), None), ((8,), (8, 1), None), ((8,), (None,), None)],
)
def test_tiles(
    whole: tuple[int, ...], part: tuple[int | None, ...], tiles: tuple[int, ...] | None
) -> None:
    assert count_tiles(whole, part) == tiles
