"""The table of collectives that only one of two dumps has."""

from xlareport.analysis.compare.placed_collectives import CollectiveChange, PlacedCollective
from xlareport.analysis.source.scopes import Phase
from xlareport.pages.compare.collectives import collectives_table


def test_a_row_names_a_collective_and_leads_to_its_module() -> None:
    gather = PlacedCollective("all-gather", Phase.FORWARD, "mlp/add", "bf16[16]", "g.1", 2e-6)
    (row,) = collectives_table(
        [CollectiveChange(in_head=True, collective=gather)], "m/f.html#step=end"
    ).rows
    assert row[0] == ["%g.1", "m/f.html#step=end"]
    assert row[1:] == ["the head", "all-gather", "bf16[16]", "mlp/add", "forward", 2.0]
