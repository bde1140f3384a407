from xlareport.analysis.cost.peak_plateau import PeakPlateau, find_plateau
from xlareport.hlo.text import TextReader

MODULE = TextReader().read(
    b"""HloModule m, is_scheduled=true

body {
  state = s32[] parameter(0)
  ROOT next = s32[] negate(state)
}

condition {
  tested = s32[] parameter(0)
  ROOT less = pred[] constant(false)
}

ENTRY e {
  a = s32[] constant(0)
  loop = s32[] while(a), condition=condition, body=body
  ROOT r = s32[] negate(loop)
}
""",
    "m.txt",
)
SCHEDULE = ("a", "tested", "less", "state", "next", "loop", "r")


def plateau(*curve: int) -> PeakPlateau | None:
    assert MODULE is not None
    return find_plateau(curve, curve.index(max(curve)), MODULE, SCHEDULE)


def test_an_instruction_that_raises_memory_is_the_cause() -> None:
    assert plateau(0, 500, 500, 1000, 1000, 500, 0) is None
    assert plateau(1) is None


def test_positions_close_to_the_peak_with_the_loop_that_runs_there() -> None:
    assert plateau(0, 995, 995, 1000, 995, 995, 0) == PeakPlateau(1, 5, ("loop",))
    assert plateau(0, 995, 995, 1000, 500, 995, 0) == PeakPlateau(1, 3, ("loop",))


def test_memory_that_is_held_throughout_has_no_instruction() -> None:
    assert plateau(1000, 1000) == PeakPlateau(0, 1, ())


def test_two_positions_of_a_long_schedule_are_no_plateau() -> None:
    assert plateau(*[0] * 200, 995, 1000, *[0] * 200) is None
    assert plateau(*[0] * 200, *[1000] * 20, *[0] * 200) is None
    assert plateau(*[0] * 200, *[995] * 20, 1000, *[0] * 200) == PeakPlateau(200, 220, ())


def test_no_loop_is_named_that_runs_elsewhere() -> None:
    assert plateau(0, 0, 0, 0, 0, 995, 1000) == PeakPlateau(5, 6, ())
