"""The part of a module's page on memory."""

from tests.pages.cost_of_dumps import Unpack, worked_out

from xlareport.pages.memory.page import memory_page


def test_the_figures_of_memory_in_order(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    page = memory_page(view, cost)
    assert "Device memory" in page.lead
    assert [figure.label for figure in page.figures] == [
        "Device memory",
        "Arguments",
        "Outputs",
        "Alias",
        "Temp",
        "Peak use",
        "Allocated",
        "Peak live bytes",
    ]
    assert all(str(row[-1]).startswith("agrees") for row in page.spaces.rows)
