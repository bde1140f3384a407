"""Where a value changes its sharding."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.modules import parse_module

from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.analysis.shardings.sharding_changes import (
    ShardingChange,
    find_changes,
    find_cut_parameters,
    split_tuple,
)
from xlareport.analysis.shardings.sharding_report import report_shardings
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.hlo.model import HloModule
from xlareport.program import read_snapshots


def read(body: str) -> HloModule:
    text = f"HloModule m, num_partitions=4\n\nENTRY e {{\n{body}\n}}\n"
    return parse_module(text)


ROWS, COLUMNS = "sharding={devices=[4,1]<=[4]}", "sharding={devices=[1,4]<=[4]}"


def changes(*lines: str) -> tuple[ShardingChange, ...]:
    module = read("\n".join(lines))
    return find_changes(Partitioning(module, read("  ROOT a = f32[8] parameter(0)")), 4)


def test_an_operand_of_another_sharding() -> None:
    (change,) = changes(
        f"  a = f32[8,8] parameter(0), {ROWS}",
        f"  b = f32[8,8] parameter(1), {ROWS}",
        f'  ROOT c = f32[8,8] add(a, b), {COLUMNS}, metadata={{op_name="f/add" '
        'source_file="/x/train.py" source_line=7}',
    )
    assert (change.instruction, change.operands) == ("c", ("a", "b"))
    assert (change.bytes, change.received_bytes, change.received_by_all) == (256, 48, 192)
    assert (change.op_name, change.source) == ("f/add", "train.py:7")


@pytest.mark.parametrize("opcode", ["sine", "tanh", "exponential", "convert", "copy"])
def test_opcodes_that_read_where_they_write(opcode: str) -> None:
    assert changes(
        f"  a = f32[8,8] parameter(0), {ROWS}", f"  ROOT b = f32[8,8] {opcode}(a), {COLUMNS}"
    )


def test_without_a_sharding_an_op_is_replicated() -> None:
    (change,) = changes(f"  a = f32[8,8] parameter(0), {ROWS}", "  ROOT b = f32[8,8] negate(a)")
    assert (change.to_sharding, change.received_bytes) == ("{replicated}", 192)


def test_members_of_a_tuple() -> None:
    (change,) = changes(
        f"  a = f32[8,8] parameter(0), {ROWS}",
        "  b = f32[8,8] parameter(1), sharding={replicated}",
        "  ROOT t = (f32[8,8], f32[8,8]) tuple(a, b), "
        "sharding={{devices=[1,4]<=[4]}, {replicated}}",
    )
    assert change.operands == ("a",)


@pytest.mark.parametrize(
    "lines",
    [
        (f"  a = f32[8,8] parameter(0), {ROWS}", f"  ROOT b = f32[8,8] negate(a), {ROWS}"),
        (
            "  a = f32[8,8] parameter(0), sharding={devices=[4,1]0,1,2,3}",
            f"  ROOT b = f32[8,8] negate(a), {ROWS}",
        ),
        ("  a = f32[8,8] iota(), iota_dimension=0", f"  ROOT b = f32[8,8] negate(a), {ROWS}"),
        (
            f"  a = f32[8,8] parameter(0), {ROWS}",
            f"  ROOT b = f32[8,8] transpose(a), dimensions={{1,0}}, {COLUMNS}",
        ),
        (
            "  a = f32[8,8] parameter(0), sharding={whatever}",
            f"  ROOT b = f32[8,8] negate(a), {ROWS}",
        ),
    ],
)
def test_what_is_no_change(lines: tuple[str, ...]) -> None:
    assert changes(*lines) == ()


def test_shardings_of_members() -> None:
    assert split_tuple("{{replicated}, /*index=1*/{manual}}") == ("{replicated}", "{manual}")
    assert split_tuple("{replicated}") == ()


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("rematerialized", [2]),
        ("adjusted", [1, 2]),
        ("replicated", [2]),
        ("weights_gathered", [1, 2]),
    ],
)
def test_of_compiled_programs_with_their_collectives(
    unpacked: Callable[[str], Path], name: str, counts: list[int]
) -> None:
    with open_source(unpacked("resharded") / name) as source:
        (module,) = group(name_files(source)).modules
        report = report_shardings([snapshot.hlo for snapshot in read_snapshots(module)])
    assert report is not None
    assert report.changes
    assert all(change.received_bytes for change in report.changes)
    assert all(change.source.startswith("resharded.py:") for change in report.changes)
    assert any(len(change.collectives) in counts for change in report.changes)


CUT = "sharding={devices=[4,1]<=[4]}"
TEXT = f"""HloModule m, num_partitions=4

ENTRY e {{
  a = f32[8,8] parameter(0), sharding={{replicated}}
  b = f32[8,8] copy(a), {CUT}
  c = f32[8,8] negate(a), {CUT}
  ROOT d = f32[8,8] add(b, c), {CUT}
}}
"""


def cut(text: str) -> list[tuple[int, int]]:
    module = parse_module(text)
    return [*find_cut_parameters(module, find_changes(Partitioning(module, module), 4))]


def test_each_use_takes_the_same_part() -> None:
    assert cut(TEXT) == [(0, 4)]


@pytest.mark.parametrize(
    ("former", "latter"),
    [
        (f"copy(a), {CUT}", "copy(a), sharding={replicated}"),
        (f"copy(a), {CUT}", "copy(a), sharding={devices=[1,4]<=[4]}"),
        ("parameter(0), sharding={replicated}", f"parameter(0), {CUT}"),
        ("parameter(0), sharding={replicated}", "parameter(0), sharding={devices=[1,4]<=[4]}"),
        ("ROOT d = f32[8,8] add(b, c)", "ROOT d = f32[8,8] dot(b, a)"),
    ],
)
def test_other_uses_need_more_than_a_part(former: str, latter: str) -> None:
    assert former in TEXT
    assert cut(TEXT.replace(former, latter)) == []
