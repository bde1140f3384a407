import pytest
from msgspec.structs import replace

from xlareport.analysis.cost.memory import MemoryFigures, SpaceFigures
from xlareport.analysis.cost.residency import ArgumentGroup
from xlareport.analysis.cost.saving import Saving
from xlareport.analysis.cost_report.memory_curves import LiveSum, PeakPlateau, SpaceCurve
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.pages.memory.peak_words import (
    describe_live_range,
    describe_marked,
    describe_saving,
    peak_place,
)

MIB = 1 << 20
HBM, VMEM = SpaceFigures(0, 8 * MIB, 0), SpaceFigures(1, 8 * MIB, 0)
FIGURES = MemoryFigures(None, 3 * MIB, None, (HBM,), {})
MEMORY = MemoryReport(FIGURES, peak_position=824, peak_instruction="dot.1", marked_position=825)


def test_a_plateau_names_its_positions_and_loops() -> None:
    assert peak_place(MEMORY) == " at `%dot.1`"
    flat = replace(MEMORY, plateau=PeakPlateau(99, 1301, ("while.1", "while.2")))
    assert peak_place(flat) == (
        ", within 1% of it from schedule position 99 to 1,301, in `%while.1` and `%while.2`"
    )
    assert peak_place(replace(MEMORY, plateau=PeakPlateau(1, 2, ()))).endswith("1 to 2")
    apart = replace(MEMORY, plateau=PeakPlateau(1, 2, (), 2))
    assert peak_place(apart).endswith("1 to 2, and at 2 other positions")


def test_the_live_range_file_has_spaces_only_where_there_are_several() -> None:
    assert describe_live_range(MEMORY) == (
        "XLA's live-range file: peak 3.0 MiB at position 825, logical sizes, shared memory counted "
        "for each value."
    )
    several = replace(MEMORY, figures=replace(FIGURES, spaces=(HBM, VMEM)))
    assert "logical sizes in all memory spaces" in describe_live_range(several)
    assert not describe_live_range(replace(MEMORY, figures=replace(FIGURES, live_peak_bytes=None)))


def test_a_position_with_more_than_the_marked_one_is_named() -> None:
    larger = replace(MEMORY, live_sum=LiveSum(824, 4 * MIB))
    assert describe_live_range(larger).endswith("add up to 4.0 MiB at position 824.")
    assert describe_marked(larger) == (
        " The live-range file marks position 825 with 3.0 MiB, a sum of logical sizes."
    )
    assert "most" not in describe_live_range(replace(MEMORY, live_sum=LiveSum(825, 3 * MIB)))
    assert not describe_marked(replace(MEMORY, peak_position=825))


def test_what_remains_is_named_where_reducing_temp_does_not_suffice() -> None:
    curve = SpaceCurve(0, (), {"parameter": 135 * MIB, "output": 320}, 0, "")
    groups = (
        ArgumentGroup("params", 52, 111 * MIB, "params['emb']", 31 * MIB),
        ArgumentGroup("lens", 1, 128, "lens", 128),
    )
    memory = replace(
        MEMORY,
        occupied_peak_bytes=160 * MIB,
        curves=(curve,),
        argument_groups=groups,
        saving=Saving(160 * MIB, 128 * MIB, 135 * MIB, ()),
    )
    assert describe_saving(memory) == (
        "Not reachable by reducing temp: 135 MiB would remain, with 135 MiB of arguments "
        "(params 111 MiB)."
    )


@pytest.mark.parametrize(
    ("reached", "words"), [(128 * 1024 + 32, "Size: 256 KiB. "), (256 * 1024, ", more than")]
)
def test_a_size_is_more_than_the_saving_only_where_both_read_so(reached: int, words: str) -> None:
    saving = Saving(384 * 1024, 300 * 1024, reached, ((("v", ()), 256 * 1024),))
    assert words in describe_saving(replace(MEMORY, saving=saving))
