"""The part of a module's page on memory."""

from dataclasses import replace

from tests.pages.cost_of_dumps import Unpack, worked_out

from xlareport.pages.memory.page import memory_page


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
    assert len(page.further) == 2
    assert "memory_analysis&#40;&#41;" in page.further[0]
    assert "live-range file" in page.further[1]
    assert len(memory_page(replace(view, frontend="tensorflow"), cost).further) == 1
    assert all(str(row[-1]).startswith("agrees") for row in page.spaces.rows)


def test_a_module_without_live_ranges_says_why_it_has_no_curve(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    bare = replace(cost.memory, curve=(), occupied_peak_bytes=None, estimate=None)
    lead = memory_page(view, replace(cost, memory=bare)).lead
    assert "No curve of memory in use&#58; the dump has no live ranges" in lead
