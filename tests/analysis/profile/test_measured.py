"""Measured time joined with instructions."""

import pytest
from msgspec.structs import replace
from tests.modules import parse_module

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.measured_module import find_creations
from xlareport.analysis.profile.instruction_times import sum_times
from xlareport.analysis.profile.measured import PartialTrace, _scope, find_cut, join_profile
from xlareport.knowledge.grades import Grade
from xlareport.readers.op_events import OpEvent

GIVEN = """HloModule m

ENTRY main {
  a = f32[8,8] parameter(0)
  d = f32[8,8] dot(a, a), metadata={op_name="jit(f)/dot"}
  ROOT t = f32[8,8] tanh(d), metadata={op_name="jit(f)/tanh"}
}
"""


LEFT = """HloModule m

ENTRY main {
  a = f32[8,8] parameter(0)
  d = f32[8,8] dot(a, a), metadata={op_name="jit(f)/dot"}
  s = f32[8,8] custom-call(d), custom_call_target="tanh", metadata={op_name="jit(f)/tanh"}
  ROOT c = f32[8,8] copy(s)
}
"""


def test_the_slowest_say_where_they_were_made() -> None:
    given, left = parse_module(GIVEN), parse_module(LEFT)
    events = [OpEvent("m", name, "1", (0,), at, 5) for at, name in ((0, "d"), (10, "s"), (20, "c"))]
    found = join_profile(sum_times(events)["m"], left, {})
    made = {
        maker.instruction: maker
        for maker in find_creations(SnapshotSequence([given, given, left]), found.rows)
    }
    assert (made["d"].number, made["d"].grade) == (0, Grade.EXACT)
    assert made["s"].number == 2
    assert made["c"].number == 2


def test_a_trace_of_a_part_of_the_iterations_is_cut() -> None:
    events = [OpEvent("m", "d", "1", (0,), at, 5) for at in range(0, 4550, 10)]
    joined = join_profile(sum_times(events)["m"], parse_module(GIVEN), {})
    measured = replace(joined, entered=1)
    assert find_cut(measured, {("main", "d"): 455}) is None
    assert find_cut(measured, {("main", "d"): None}) is None, "how often it runs is not known"
    assert find_cut(measured, {("main", "d"): 20_000}) == PartialTrace("d", 455, 20_000)


@pytest.mark.parametrize(
    ("op_name", "scope"),
    [
        ("", "(no op_name)"),
        ("jit(f)/jvp(jit(log_softmax))/reduce_max", "(no scope) forward"),
        ("jit(f)/transpose(jvp(layer_1))/dot_general", "layer_1"),
        ("jit(f)/add", "(no scope)"),
    ],
)
def test_an_op_name_without_scopes_is_no_missing_op_name(op_name: str, scope: str) -> None:
    assert _scope(op_name) == scope
