"""The parts of a module's page on what it costs."""

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from tests.pages.cost_of_dumps import Unpack, analysis_of, worked_out

from xlareport.analysis.cost.loops import TripCount
from xlareport.analysis.cost.rematerialization import RecomputedFlops
from xlareport.analysis.cost_report.work_report import LoopRow, Uncounted
from xlareport.analysis.findings.finding import Finding
from xlareport.knowledge.devices import devices
from xlareport.pages.cost.basis import describe_cycles, describe_on_chip
from xlareport.pages.cost.page import (
    _loops_words,
    _peaks,
    cost_page,
    cost_parts,
    per_device,
)
from xlareport.pages.cost.tables import tabulate_costs
from xlareport.pages.module.module_pages import module_tabs
from xlareport.pages.tabs import ShownModule


def test_a_module_has_three_parts_on_what_it_costs(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    tabs = module_tabs(ShownModule(view, analysis_of(view, cost)))
    made = [(tab, value) for tab, value in tabs if tab.name in cost_parts(view)]
    assert [tab.name for tab, _ in made] == ["cost", "memory", "source"] == [*cost_parts(view)]
    for tab, value in made:
        page = tab.page(view, value)
        for name, table in page.tables.items():
            width = len(table.columns)
            assert all(len(row) == width for row in table.rows), name


def test_figures_of_one_device_stand_beside_the_whole_and_are_never_a_saving(
    unpacked: Unpack,
) -> None:
    view, cost = worked_out(unpacked("gpu-h100x2-train"), "jit_train_step", "gpu")
    page = cost_page(view, analysis_of(view, cost), cost)
    assert "total work does not" in page.per_device
    flops = page.counts[0]
    assert int(flops.together.replace(",", "")) == 2 * int(flops.counted.replace(",", ""))
    assert per_device(1) == ""
    assert "Several devices" not in page.per_device
    repeated = replace(
        cost, findings=(Finding("", (), "", "", "matched", 0.0, rule="replicated-work"),)
    )
    page = cost_page(view, analysis_of(view, repeated), repeated)
    assert page.per_device.endswith("Several devices do the same here: see the findings.")


def test_bytes_of_the_tpu_compilers_own_analysis_are_said_to_differ(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    assert cost_page(view, analysis_of(view, cost), cost).count_rules == ""
    tpu = replace(view, backend="tpu")
    assert "cost_analysis()" in cost_page(tpu, analysis_of(tpu, cost), cost).count_rules


def test_the_lead_says_what_is_not_counted_and_what_counts_once(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    loop = LoopRow("e", "w", TripCount(None, "guessed", ""), 1, 1.0, None, "", "")
    unknown = Uncounted("e", "c", "custom-call", "not known")
    plain = replace(cost, uncounted=(), loops=())
    for shown, words in (
        (plain, "Not measured."),
        (replace(plain, loops=(loop,)), "A loop of unknown trip count counts once."),
        (replace(plain, uncounted=(unknown,)), "such as custom calls, are not included."),
    ):
        lead = cost_page(view, analysis_of(view, shown), shown).lead
        assert words in lead
        assert ("are not included" in lead) is bool(shown.uncounted)


def test_what_is_recomputed_beside_matmuls_is_about(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")

    def told(total: int, products: int) -> list[tuple[str, str]]:
        of = replace(cost, recomputed=RecomputedFlops(total, products))
        figures = cost_page(view, analysis_of(view, of), of).figures
        return [(one.value, one.note) for one in figures if one.label == "Recomputed"]

    assert told(0, 0) == []
    [(size, note)] = told(2000, 2000)
    assert "about" not in size + note
    [(size, note)] = told(2000, 1500)
    assert size.startswith("about 2")
    assert note.startswith("about ")
    assert "1.50 kFLOP in matmuls and convolutions, the rest an estimate" in note
    [(_, note)] = told(2000, 0)
    assert "none in matmuls and convolutions" in note


def test_the_count_of_instructions_says_what_it_leaves_out(unpacked: Unpack) -> None:
    _, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    tables = tabulate_costs(cost, "x.html#t=m/x/instructions")
    columns = {column.title: at for at, column in enumerate(tables["opcodes"].columns)}
    opcodes = {row[0]: row[columns["Instructions"]] for row in tables["opcodes"].rows}
    assert "parameter" not in opcodes
    assert opcodes["constant"]
    for name in ("opcodes", "computations", "scopes"):
        assert "without parameters" in tables[name].columns[columns["Instructions"]].help


def test_a_scope_leads_to_its_instructions(unpacked: Unpack) -> None:
    _, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    part = replace(cost.scopes[0], name="jit(f)/jvp(a b)/(several op_names)")
    unnamed = replace(part, name="")
    table = tabulate_costs(replace(cost, scopes=(part, unnamed)), "x.html#t=m/x/instructions")[
        "scopes"
    ]
    assert [row[0] for row in table.rows] == [
        [part.name, "x.html#t=m/x/instructions&q=jit%28f%29%20jvp%28a%20b%29"],
        ["(no op_name)", "x.html#t=m/x/instructions"],
    ]
    assert table.columns[0].kind == "link"


def test_loops_say_of_the_totals_what_the_rest_of_the_page_says() -> None:
    loop: Any = SimpleNamespace(trip_count=SimpleNamespace(count=None))
    about: Any = SimpleNamespace(bound="about")
    least: Any = SimpleNamespace(bound="at least")
    assert "Totals are neither lower nor upper bounds." in _loops_words([loop], about)
    assert "Totals are lower bounds." in _loops_words([loop], least)
    assert _loops_words([loop], least).endswith(
        "They are assumed to run more often only when choosing the main program."
    )


def test_heavy_instructions_have_the_bytes_that_they_access(unpacked: Unpack) -> None:
    _, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    table = tabulate_costs(cost, "")["heaviest"]
    place = [column.title for column in table.columns].index("Bytes accessed")
    assert place < 6
    accessed = [row[place] for row in table.rows]
    assert accessed == [
        row.cost.of_all_runs(row.cost.bytes_accessed) if row.bytes_read is not None else None
        for row in cost.heaviest
    ]
    assert "In device memory" not in [column.title for column in table.columns]


def test_cycles_of_the_compiler_are_a_column_and_the_basis_of_shares(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("tagged-tpu-conv"), "jit_train", "tpu")
    assert cost.cycles is not None
    assert cost.cycles.seconds is not None
    tables = tabulate_costs(cost, "")
    titles = [column.title for column in tables["heaviest"].columns]
    assert titles[:4] == ["Instruction", "Share", "Roofline µs", "Estimated cycles (compiler)"]
    for row, heavy in zip(tables["heaviest"].rows, cost.heaviest, strict=True):
        assert row[3] == heavy.cycles
        if heavy.cycles is not None and heavy.least.interconnect == 0:
            assert heavy.seconds == pytest.approx(heavy.cycles / 1.75e9)
            assert row[1] == pytest.approx(heavy.seconds / cost.cycles.seconds)
    assert [part.title for part in tables["scopes"].columns[1:2]] == ["Estimated µs"]
    page = cost_page(view, analysis_of(view, cost), cost)
    assert "matched by name, opcode, shape and operands" in page.cycles
    assert "at 1.75 GHz" in page.cycles
    notes = {figure.label: figure.note for figure in page.figures}
    assert notes["Operational intensity"] == "FLOPs per byte accessed in device memory"
    unclocked = replace(cost, cycles=replace(cost.cycles, clock=None, seconds=None))
    assert "Shares are of roofline time: the clock is not known" in describe_cycles(unclocked)
    assert describe_on_chip(replace(cost, on_chip_share=0.05)) == ""
    assert "leaves out 98% of the bytes" in describe_on_chip(replace(cost, on_chip_share=0.98))


def test_bytes_as_stored_stand_where_the_time_is_of_them(unpacked: Unpack) -> None:
    _, cost = worked_out(unpacked("tagged-tpu-conv"), "jit_train", "tpu")
    table = tabulate_costs(cost, "")["heaviest"]
    titles = [column.title for column in table.columns]
    place = titles.index("In device memory")
    assert titles[place - 1] == "Bytes accessed"
    assert place < 8
    for row, heavy in zip(table.rows, cost.heaviest, strict=True):
        if heavy.limit == "memory":
            assert row[place] == pytest.approx(heavy.roofline_seconds * cost.device.bandwidth)


@pytest.mark.parametrize(("key", "is_said"), [("nvidia-h100", True), ("tpu-v5e", False)])
def test_the_roofline_of_a_gpu_has_no_caches(key: str, *, is_said: bool) -> None:
    assert _peaks(devices()[key]).endswith(" L2 caches are not modeled.") is is_said
