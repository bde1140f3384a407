"""What is done about a value depends on what it is."""

import pytest
from msgspec.structs import replace

from xlareport.analysis.cost.memory import collect_memory_figures
from xlareport.analysis.cost.peak_roles import PeakRole
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.value_purposes import CopiedArgument, ValuePurposes
from xlareport.analysis.cost_report.value_row import ValueRow
from xlareport.analysis.memory_actions.treatments import (
    TREATMENTS,
    name_rows,
    treatment_of,
    warn_of_order,
)

EMPTY = MemoryReport(figures=collect_memory_figures(None, None, ()))
ROW = ValueRow("v", (), 1 << 20, "f32[8]{0}", "fusion", "temp", 0, 0, None, None, "", "")


@pytest.mark.parametrize(
    ("row", "treatment"),
    [
        (ROW, "computed"),
        (replace(ROW, opcode="all-gather-start"), "sent"),
        (replace(ROW, opcode="while"), "carried"),
        (replace(ROW, role=PeakRole.WORKING), PeakRole.WORKING),
        (replace(ROW, instruction="parts", role=PeakRole.WORKING), "parts"),
    ],
)
def test_the_treatment_of_a_value(row: ValueRow, treatment: str) -> None:
    memory = replace(EMPTY, purposes=ValuePurposes(partial_sums={"parts": 8}))
    assert treatment_of(row, memory) == treatment


def test_several_values_are_named_with_their_sizes() -> None:
    assert name_rows([ROW]) == "`%v` (f32[8])"
    assert name_rows([ROW, ROW]) == "`%v` (1.0 MiB, f32[8]), `%v` (1.0 MiB, f32[8])"


def test_a_narrower_type_is_no_plain_advice_for_values_that_are_put_in_order() -> None:
    assert warn_of_order(EMPTY, [ROW]) == ""
    memory = replace(EMPTY, purposes=ValuePurposes(ranked_values=frozenset({"v"})))
    assert warn_of_order(memory, [ROW]) == (
        " `%v` is put in order (sort, top-k or argmax): a narrower type can change the order."
    )
    assert "`%v`, `%v` are put in order" in warn_of_order(memory, [ROW, ROW])


def test_what_calls_a_collective_is_called_its_result() -> None:
    results = {"v": "all-gather", "w": "all-reduce"}
    memory = replace(EMPTY, purposes=ValuePurposes(collective_results=results))
    called = replace(ROW, opcode="custom-call")
    assert treatment_of(called, memory) == "sent"
    words = TREATMENTS["sent"](memory, [called])
    assert words.startswith("shrink `%v` (f32[8]), the result of an all-gather (rematerialized, it")
    both = TREATMENTS["sent"](memory, [called, replace(ROW, instruction="w")])
    assert ", results of all-gathers and all-reduces (rematerialized, they are sent" in both


def test_each_remedy_says_how() -> None:
    for treatment in ("computed", "sent", "carried"):
        assert ": " in TREATMENTS[treatment](EMPTY, [ROW])


@pytest.mark.parametrize(
    ("data_bytes", "remedy"),
    [
        (1 << 20, ": pass the array with its dimensions in the order of this layout, or"),
        (1 << 19, ", which pads 512 KiB to 1.0 MiB: make its most minor dimension a multiple of"),
        (None, ": pass the array with its dimensions in the order of this layout, or"),
    ],
)
def test_a_copied_argument_is_to_be_read_as_it_is(data_bytes: int | None, remedy: str) -> None:
    copied = {"v": CopiedArgument("p['tables']", data_bytes)}
    memory = replace(EMPTY, purposes=ValuePurposes(copied_arguments=copied))
    words = TREATMENTS[treatment_of(ROW, memory)](memory, [ROW])
    what = "`%v` is a copy of the argument `p['tables']` in another layout, `f32[8]{0}`"
    assert words.startswith(f"{what}{remedy}")


def test_what_reads_a_repeated_array_is_to_use_the_smaller_one() -> None:
    memory = replace(EMPTY, purposes=ValuePurposes(repeated_values={"v": "small"}))
    words = TREATMENTS[treatment_of(ROW, memory)](memory, [ROW])
    assert words.startswith("`%v` repeats `%small` along a new dimension: let what reads it use ")
