from dataclasses import replace

from xlareport.analysis.cost.memory import collect_memory_figures
from xlareport.analysis.cost.saving import Saving
from xlareport.analysis.cost_report.memory_report import DonationRow, MemoryReport
from xlareport.pages.memory.actions import list_actions

EMPTY = MemoryReport(figures=collect_memory_figures(None, None, ()))
COULD = DonationRow(2, "w", 3 << 20, (0,), donated=False)


def test_the_most_bytes_come_first() -> None:
    saving = Saving(8 << 20, 6 << 20, 6 << 20, ((("fusion.1", ()), 2 << 20),))
    first, second = list_actions(replace(EMPTY, donations=(COULD,), saving=saving))
    assert first.startswith("3.0 MiB: donate 1 argument (2) with donate_argnums")
    assert second == "2.0 MiB of the peak: shrink or rematerialize `%fusion.1`."


def test_nothing_to_do_says_nothing() -> None:
    donated = replace(COULD, donated=True)
    assert list_actions(replace(EMPTY, donations=(donated,))) == []
