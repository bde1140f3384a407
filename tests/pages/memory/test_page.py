"""The part of a module's page on memory."""

from msgspec.structs import replace
from tests.pages.cost_of_dumps import Unpack, worked_out

from xlareport.analysis.cost.donation import DonationRow
from xlareport.analysis.cost.memory import collect_memory_figures
from xlareport.analysis.cost.rematerialization import FRAMEWORK, Rematerialized
from xlareport.analysis.cost_report.memory_curves import PeakPlateau
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.pages.memory.page import _donation, _remat, memory_page
from xlareport.runtime import units


def test_the_figures_of_memory_in_order(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    page = memory_page(replace(view, frontend="jax"), cost)
    assert str(page.lead).startswith("Peak memory&#58; 2.7 KiB")
    assert [figure.label for figure in page.figures] == [
        "Peak memory",
        "Arguments",
        "Outputs",
        "Alias",
        "Temp",
        "Allocated",
    ]
    assert len(page.further) == 3
    assert "memory_analysis&#40;&#41;" in page.further[1]
    assert "live-range file" in page.further[2]
    assert len(memory_page(replace(view, frontend="tensorflow"), cost).further) == 2
    assert all(str(row[-1]).startswith("agrees") for row in page.spaces.rows)


def test_one_sentence_joins_the_peak_and_temp(unpacked: Unpack) -> None:
    """The figures of a page add up: what is held and what is in use of temp is the peak."""
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    memory = cost.memory
    (curve,) = memory.curves
    held, temp = sum(curve.held.values()), memory.figures.temp_bytes
    assert memory.occupied_peak_bytes is not None
    assert temp is not None
    used = memory.occupied_peak_bytes - held
    assert used <= temp
    larger = replace(memory, figures=replace(memory.figures, temp_bytes=2 * temp))
    sentence = memory_page(view, replace(cost, memory=larger)).further[0]
    assert f"{units.byte_size(held)} of arguments, outputs and constants" in sentence
    assert f"{units.byte_size(used)} of the {units.byte_size(2 * temp)} allocated for" in sentence
    assert sentence.startswith("Peak memory is the maximum of host RAM in use&#58; ")
    slot = memory.occupied_peak_bytes // 200
    nearly = replace(memory, figures=replace(memory.figures, temp_bytes=used + slot))
    sentence = memory_page(view, replace(cost, memory=nearly)).further[0]
    assert f"and {units.byte_size(used)} of temp&#46;" in sentence


def test_a_module_without_live_ranges_says_why_it_has_no_curve(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    bare = replace(cost.memory, curve=(), occupied_peak_bytes=None, estimate=None)
    lead = memory_page(view, replace(cost, memory=bare)).lead
    assert "No curve of memory in use&#58; the dump has no live ranges" in lead


def test_on_a_plateau_no_instruction_is_named_as_the_peak(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    memory = replace(cost.memory, plateau=None, peak_instruction="add.369")
    page = memory_page(view, replace(cost, memory=memory))
    assert "<code>&#37;add.369</code>" in page.lead
    assert "in use at peak: %add.369 (schedule position" in page.peak
    flat = replace(memory, plateau=PeakPlateau(2, 9, ("while.172",)))
    page = memory_page(view, replace(cost, memory=flat))
    assert "add.369" not in f"{page.lead}{page.peak}"
    assert "while.172" in page.lead
    assert "in use at peak, schedule position" in page.peak


def test_rematerialized_instructions_are_counted_beyond_the_table() -> None:
    memory = MemoryReport(figures=collect_memory_figures(None, None, ()))
    assert _remat(memory).startswith("No rematerialization")
    recomputed = Rematerialized("e", "r", FRAMEWORK, "", None)  # type: ignore[arg-type]
    counts = {FRAMEWORK: 1_199, "XLA": 1}
    words = _remat(replace(memory, rematerialized=(recomputed,), rematerialized_counts=counts))
    assert words.startswith("1,200 rematerialized instructions: 1 by XLA")
    assert ", 1,199 by jax.checkpoint" in words
    assert words.endswith("The table shows the first 1, by bytes accessed.")
    all_shown = replace(memory, rematerialized=(recomputed,), rematerialized_counts={"XLA": 1})
    assert "The table" not in _remat(all_shown)


def test_arguments_with_an_alias_are_counted_apart_from_donors() -> None:
    rows = [
        DonationRow(0, "w", 8 << 20, (0,), donated=True),
        DonationRow(1, "x", 1 << 20, None, donated=True),
        DonationRow(0, "w", 8 << 20, None, donated=True),
    ]
    memory = MemoryReport(figures=collect_memory_figures(None, None, ()), donations=tuple(rows))
    assert _donation(memory) == (
        "1 argument (8.0 MiB) aliased with outputs. 1 argument (1.0 MiB) donated without an alias."
    )


def test_fragmentation_is_the_last_action_where_it_is_a_share_of_the_peak(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    assert view.cost is not None
    fill = next(fill for fill in cost.memory.fills if fill.allocation.color == 0)
    memory = replace(cost.memory, fills=(replace(fill, used=fill.allocation.size - (1 << 20)),))

    def last_action(peak: int) -> str:
        held = replace(memory, occupied_peak_bytes=peak)
        return str(memory_page(view, replace(cost, memory=held)).actions[-1:])

    assert "1.0 MiB of the temp allocations is fragmentation" in last_action(8 << 20)
    assert "fragmentation" not in last_action(64 << 20)
