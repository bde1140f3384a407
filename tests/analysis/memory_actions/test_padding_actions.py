from collections.abc import Collection

from msgspec.structs import replace

from xlareport.analysis.cost.memory import collect_memory_figures
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.padded_values import PaddedValue
from xlareport.analysis.cost_report.value_row import ValueRow
from xlareport.analysis.findings import tile_padding
from xlareport.analysis.memory_actions.actions import list_actions

EMPTY = MemoryReport(figures=collect_memory_figures(None, None, ()))


def list_sentences(memory: MemoryReport, titles: Collection[str] = ()) -> list[str]:
    """Return the sentences of the actions, the most bytes first."""
    return [action.sentence for action in list_actions(memory, titles)]


def padded(name: str, size: int, data: int) -> PaddedValue:
    value = ValueRow(name, (0,), size, "", "copy-start", "temp", 0, 0, None, None, "", "")
    return PaddedValue(value, data)


def test_the_padding_of_buffers_at_the_peak_is_one_suggestion() -> None:
    single = replace(EMPTY, padded_at_peak=(padded("copy-start.3", 3 << 19, 3 << 18),))
    (words,) = list_sentences(single)
    assert words.startswith(
        "768 KiB at most: so much is padding of tiles in `%copy-start.3{0}` (1.5 MiB for 768 KiB "
        "of data). Make the two"
    )
    both = replace(single, padded_at_peak=(*single.padded_at_peak, padded("b", 8192, 64)))
    (words,) = list_sentences(both)
    assert (
        "`%copy-start.3{0}` (1.5 MiB for 768 KiB of data), `%b{0}` (8.0 KiB for 64 B of data)."
        in words
    )


def test_a_finding_on_the_padding_stands_for_the_suggestion() -> None:
    single = replace(EMPTY, padded_at_peak=(padded("copy-start.3", 3 << 19, 3 << 18),))
    assert list_sentences(single, {tile_padding.TITLE}) == []
