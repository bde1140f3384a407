from xlareport.readers.llo.regions import LoopBounds, read_regions

TEXT = b"""$region0: #{fusion.1}
  #allocation1 [shape = 's32[1]{0}', space=sflag, size = 0x4, scoped, tag = 'scoped memory']
  #allocation2_spill [shape = 'u32[8,128]', space=vmem, size = 0x1000, scoped, tag = 'spilled']
  #allocation3_spill [shape = 'u32[1]{0}', space=smem, size = 0x4, scoped, tag = 'spilled']
    loop: start=0, step=1, limit=66
    loop: start=0, step=1, limit=%s12
"""


def test_loops_and_spill_slots() -> None:
    regions, problems = read_regions(TEXT, "r.txt")
    assert problems == []
    assert regions.loops == (LoopBounds(0, 1, 66), LoopBounds(0, 1, None))
    assert regions.spill_slots == 1


def test_what_has_no_regions() -> None:
    regions, problems = read_regions(b"\x00" * 50, "r.txt")
    assert regions.loops == ()
    assert [problem.message for problem in problems] == ["It has no regions."]
