"""Rows of values in memory say why they live."""

import pytest
from msgspec.structs import replace

from xlareport.analysis.cost.lifetimes import End, Follower, Lifetime
from xlareport.analysis.cost.memory import collect_memory_figures
from xlareport.analysis.cost.occupancy import Fill
from xlareport.analysis.cost.saving import Saving
from xlareport.analysis.cost.stacked import StackedBuffer
from xlareport.analysis.cost_report.memory_curves import LivingValue
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.value_row import ValueRow
from xlareport.pages.memory.tables import tabulate_fills, tabulate_memory, why
from xlareport.readers.buffer_assignment import BufferValue, read_buffer_assignment

READ = Follower("while.1", (3,), 7, End.USE, "while.2", 0)
HELD = Follower("while.1", (3,), 7, End.USE, "p", None)
RETURNED = Follower("while.1", (3,), 9, End.RESULT, "", None)


@pytest.mark.parametrize(
    ("life", "words"),
    [
        (None, ""),
        (Lifetime(0, 9, 9, End.ARGUMENT, "", None, None), "entry parameter"),
        (Lifetime(0, 9, 9, End.RESULT, "", None, None), "output"),
        (Lifetime(0, 3, 9, End.USE, "dot.1", None, None), "last use %dot.1"),
        (
            Lifetime(0, 3, 9, End.USE, "while.1", None, 2, ("tuple.5", 3)),
            (
                "last use %tuple.5 (operand 3, last of 2 by XLA's count); "
                "its memory is in use until %while.1"
            ),
        ),
        (
            Lifetime(0, 3, 9, End.USE, "while.1", None, 0),
            "no use; its memory is in use until %while.1",
        ),
        (
            Lifetime(0, 3, 9, End.USE, "dot.1", 2, 4),
            "last use %dot.1 (operand 2, last of 4 by XLA's count)",
        ),
        (
            Lifetime(0, 3, 9, End.USE, "while.1", None, 1, ("tuple.5", 3), READ),
            "as %while.1{3} until %while.2 (position 7); last own use %tuple.5",
        ),
        (
            Lifetime(0, 3, 9, End.USE, "while.1", 0, 1, None, HELD),
            "as %while.1{3} until %p (position 7); last own use %while.1",
        ),
        (
            Lifetime(0, 3, 9, End.USE, "while.1", None, 0, None, READ),
            "as %while.1{3} until %while.2 (position 7); no own use",
        ),
        (
            Lifetime(0, 3, 9, End.USE, "while.1", 0, 1, None, RETURNED),
            "output as %while.1{3}; last own use %while.1",
        ),
    ],
)
def test_why_a_value_lives_so_long(life: Lifetime | None, words: str) -> None:
    assert words in why(life)


def test_wasted_bytes_have_their_memory_space_by_its_short_name() -> None:
    text = b"BufferAssignment:\nallocation 1: size 64, color 1, preallocated-temp:\n"
    assignment, _ = read_buffer_assignment(text, "b.txt")
    fill = Fill(assignment.allocations[0], 32, 0)
    figures = collect_memory_figures(None, None, ())
    (row,) = tabulate_fills("tpu", MemoryReport(figures=figures, fills=(fill,))).rows
    assert row[:4] == [1, "VMEM", "temp", 64]


def test_arguments_have_their_names_in_a_column_of_their_own() -> None:
    figures = collect_memory_figures(None, None, ())
    rows = tuple(
        ValueRow(name, (), 8, "f32[2]", "parameter", "", None, None, None, None, argument, "")
        for name, argument in (("param.3", "params['emb']"), ("dot.1", ""))
    )
    named = replace(rows[0], argument="params['emb']"), rows[1]
    table = tabulate_memory(None, MemoryReport(figures, values=named))["values"]
    assert [column.title for column in table.columns][:3] == ["HLO value", "Size", "Argument"]
    assert [list(row[:3]) for row in table.rows] == [
        ["param.3", 8, "params['emb']"],
        ["dot.1", 8, None],
    ]
    plain = tabulate_memory(None, MemoryReport(figures, values=rows))["values"]
    assert "Argument" not in [column.title for column in plain.columns]


def test_the_shape_is_among_the_columns_that_are_shown_at_first() -> None:
    """Pages show seven columns at first; with names of arguments there is one more."""
    figures = collect_memory_figures(None, None, ())
    row = ValueRow("dot.1", (), 8, "f32[2]", "temp", "", None, None, None, None, "", "")
    table = tabulate_memory(None, MemoryReport(figures, values=(row,)))["values"]
    assert [column.title for column in table.columns][:4] == [
        "HLO value",
        "Size",
        "Shape",
        "Live until",
    ]


def test_values_at_a_position_have_the_names_of_arguments() -> None:
    living = LivingValue("param.3", 8, "parameter", 0, 9, "params['emb']")
    figures = collect_memory_figures(None, None, ())
    (row,) = tabulate_memory(None, MemoryReport(figures, living=(living,)))["living"].rows
    assert list(row) == ["param.3", 8, "parameter", 0, 9, "params['emb']"]


def test_a_stacked_buffer_names_the_value_that_is_stored() -> None:
    stored = "jit(f)/jvp()/while/body/closed_call/space/exp"
    stack = StackedBuffer("e", "while.2", 1, "dus", "f32[2]", 8, 4, 2, "jvp()/dus", stored=stored)
    figures = collect_memory_figures(None, None, ())
    table = tabulate_memory("gpu", MemoryReport(figures=figures, stacked=(stack,)))["stacked"]
    assert table.rows[0][-1] == "space/exp"


def test_a_target_out_of_reach_has_no_table() -> None:
    row = ValueRow("dot.1", (), 8, "f32[2]", "dot", "", None, None, None, None, "", "")
    figures = collect_memory_figures(None, None, ())
    memory = MemoryReport(figures, saving=Saving(10, 8, 9, ()), saving_values=(row,))
    assert "saving" not in tabulate_memory(None, memory)
    assert "saving" in tabulate_memory(None, replace(memory, saving=Saving(10, 8, 8, ())))


def test_held_memory_names_the_value_that_is_in_it_at_the_peak() -> None:
    life = Lifetime(0, 22, 194, End.ARGUMENT, "", None, None)
    row = ValueRow("param.8", (), 8, "f32[2]", "parameter", "parameter", 1, 0, None, life, "", "")
    row = replace(row, occupant=BufferValue(5, "scatter", (1,), 8, 0, "f32[2]"))
    figures = collect_memory_figures(None, None, ())
    (cells,) = tabulate_memory(None, MemoryReport(figures, at_peak=(row,)))["peak"].rows
    assert cells[3] == "entry parameter; its memory holds %scatter{1} at the peak"
