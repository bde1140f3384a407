from xlareport.analysis.tpu.control import Action
from xlareport.analysis.tpu.tpu_program import find_loops
from xlareport.readers.llo.regions import LoopBounds


def compare(limit: int) -> Action:
    return Action("scmp.ge.s32.totalorder", "p0", ("s1", limit), "", negated=False)


def branch(target: int) -> Action:
    return Action("sbr.rel", "", (), "p0", negated=True, branch=target)


ACTIONS = {
    4: (compare(8),),
    5: (branch(3),),
    9: (compare(66),),
    10: (branch(2),),
    12: (branch(20),),
}


def test_loops_with_their_bounds() -> None:
    bounds = [LoopBounds(0, 1, 66), LoopBounds(0, 2, 8), LoopBounds(0, 1, 5)]
    outer, inner, unplaced = find_loops(ACTIONS, bounds, 1, [1] * 20, [4, 7])
    assert (outer.begin, outer.end, outer.depth, outer.limit) == (2, 12, 1, 66)
    assert (inner.begin, inner.end, inner.depth, inner.limit, inner.step) == (3, 7, 2, 8, 2)
    assert (outer.dma_waits, inner.dma_waits) == (2, 1)
    assert (outer.runs, unplaced.runs, unplaced.begin, unplaced.limit) == (1, None, None, 5)


def test_loops_of_which_nothing_is_stated() -> None:
    loops = find_loops(ACTIONS, [], 1, None, [])
    assert [(loop.limit, loop.start, loop.runs) for loop in loops] == [
        (66, None, None),
        (8, None, None),
    ]
