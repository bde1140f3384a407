"""Scatters that make fewer updates after partitioning."""

from tests.modules import parse_module

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.search.pairing import Place

WHOLE = """HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY main {
  a = f32[128,16] parameter(0)
  i = s32[64,1] parameter(1)
  u = f32[64,16] parameter(2)
  s = f32[128,16] scatter(a, i, u), update_window_dims={1}, inserted_window_dims={0}, \
scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  ROOT o = f32[128,16] exponential(s)
}"""
DIVIDED = WHOLE.replace("[64,1]", "[32,1]").replace("[64,16]", "[32,16]")


def test_a_scatter_tells_how_many_updates_it_makes() -> None:
    """Its result has the shape of what it updates."""
    snapshots = SnapshotSequence([parse_module(WHOLE), parse_module(DIVIDED)])
    events = history(snapshots, 0, Place("main", "s"))
    told = [(event.event, event.why) for event in events[1:-1]]
    assert told == [(Event.CHANGED, "makes 64 → 32 updates")]


def test_a_scatter_without_known_indices_tells_nothing() -> None:
    unknown = DIVIDED.replace("index_vector_dim=1", "index_vector_dim=one")
    other = WHOLE.replace("index_vector_dim=1", "index_vector_dim=one")
    snapshots = SnapshotSequence([parse_module(other), parse_module(unknown)])
    assert len(history(snapshots, 0, Place("main", "s"))) == 2
