from xlareport.analysis.cost.fullest_position import find_fullest_position
from xlareport.readers.live_range import LiveRanges


def test_there_is_no_fullest_moment_where_nothing_lives() -> None:
    live = LiveRanges(schedule=("a",), peak_position=0, peak_bytes=0)
    assert find_fullest_position(live, {}, (), 0) is None
    assert find_fullest_position(live, {}, (0, 0), 0) is None
