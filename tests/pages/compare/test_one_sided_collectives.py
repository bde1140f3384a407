"""The table of collectives that only one of two dumps has."""

from msgspec.structs import replace

from xlareport.analysis.compare.collective_members import CombinedMember
from xlareport.analysis.compare.placed_collectives import CollectiveChange, PlacedCollective
from xlareport.analysis.source.scopes import Phase
from xlareport.pages.compare.one_sided_collectives import collectives_table


def test_a_row_names_a_collective_and_leads_to_its_module() -> None:
    gather = PlacedCollective(
        "all-gather", Phase.FORWARD, "mlp/add", "bf16[16]", "g.1", 2e-6, 96, 4
    )
    (row,) = collectives_table(
        [CollectiveChange(in_head=True, collective=gather)], "m/f.html#step=end"
    ).rows
    assert row[0] == ["%g.1", "m/f.html#step=end"]
    place = "bf16[16]", "mlp/add", "forward"
    assert row[1:] == [96, "the head", 2.0, *place, 4, None, "all-gather"]
    members = (CombinedMember(gather.phase, gather.path, 8, 16),) * 3
    change = CollectiveChange(
        in_head=False, collective=replace(gather, members=members), only_here=2
    )
    (row,) = collectives_table([change], "m/f.html").rows
    assert row[8] == "2 of 3"
