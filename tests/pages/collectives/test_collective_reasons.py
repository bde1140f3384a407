"""Why collectives are there, in the words of the program."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.pages.collectives.test_page import report_of

from xlareport.analysis.collectives.collective_rows import CollectiveMember, CollectiveRow
from xlareport.pages.collectives.collective_reasons import (
    cause_words,
    describe_coded_reason,
    describe_reason,
)
from xlareport.records.shardings import AxisRecord, MeshRecord


@pytest.fixture(scope="module")
def row(unpacked: Callable[[str], Path]) -> CollectiveRow:
    return report_of(unpacked("sharded-gpu"), "jit_fsdp_step").rows[0]


@pytest.mark.parametrize(
    ("op_name", "axes", "place"),
    [
        ("jit(f)/while/body/closed_call/jvp(loss)/block0/dot", (), "Forward loss/block0/dot. "),
        ("jit(f)/jvp()/reduce_sum", ("tp",), "Forward reduce_sum, along mesh axis tp. "),
        (
            "jit(f)/transpose(jvp(l))/rematted_computation/up/dot",
            ("data", "tp"),
            "Recomputed l/up/dot, along mesh axes data, tp. ",
        ),
        ("jit(f)/embed/gather", (), "embed/gather. "),
        ("jit(f)/(transpose(jvp(a))/mul:transpose(jvp(b))/dot)", (), ""),
        ("", ("tp",), "Along mesh axis tp. "),
        ("", (), ""),
    ],
)
def test_the_scope_the_phase_and_the_axes_stand_first(
    row: CollectiveRow, op_name: str, axes: tuple[str, ...], place: str
) -> None:
    assert row.origin.detail
    origin = replace(row.origin, detail="Reshards `x` for `dot.1` (dot).")
    words = describe_reason(replace(row, op_name=op_name, members=(), origin=origin), axes)
    assert words == f"{place}Reshards x for dot.1 (dot)."


def test_shardings_are_in_words_along_the_mesh(row: CollectiveRow) -> None:
    assert row.sharding is not None
    pair = replace(row.sharding, from_="{devices=[1,8]<=[8]}", to="{replicated}")
    detail = f"Reshards `x` from `{pair.from_}` to `{pair.to}`."
    mesh = MeshRecord((AxisRecord("tp", 8),), tuple(range(8)), "", named=True)
    said = cause_words(replace(row.origin, detail=detail), pair, mesh)
    assert said == "Reshards x from dimension 1 in 8 parts along tp to replicated."


def test_a_combined_collective_names_its_largest_ops(row: CollectiveRow) -> None:
    member = replace(_member(row), data_bytes=4)
    names = ("jvp(gat_0)/psum", "transpose(jvp(gat_1))/psum", "transpose(jvp(gat_2))/psum")
    members = tuple(
        replace(member, op_name=f"jit(f)/{name}", data_bytes=size)
        for size, name in enumerate(names, 1)
    )
    several = replace(row, members=members)
    assert describe_reason(several, ()).startswith("Backward gat_2/psum, gat_1/psum and 1 more. ")
    assert describe_reason(replace(row, members=members[:2]), ()).startswith(
        "Backward gat_1/psum, forward gat_0/psum. "
    )


def _member(row: CollectiveRow) -> CollectiveMember:
    return CollectiveMember(
        instruction="a",
        stage=None,
        kind="all-reduce",
        shape="f32[]",
        data_bytes=4,
        op_name="",
        source="",
        origin=row.origin,
        sharding=None,
        sharding_reason="",
    )


@pytest.mark.parametrize(
    ("op_name", "words"),
    [
        ("jit(f)/transpose(jvp(l))/dot", "The gradient updates `a`, `b`, `c` and 1 more."),
        ("jit(f)/mean", "What it reduces updates `a`, `b`, `c` and 1 more."),
    ],
)
def test_a_reduction_names_the_arguments_that_it_updates(
    row: CollectiveRow, op_name: str, words: str
) -> None:
    reduction = replace(row, op_name=op_name, members=(), updates=tuple("abcd"))
    assert describe_coded_reason(reduction, ()).endswith(f". {words}")
    assert describe_reason(reduction, ()).endswith(words.replace("`", ""))
    assert "updates" not in describe_reason(replace(reduction, updates=()), ())
