"""What values are at the peak: what the instruction there works on, what is recomputed, others."""

from tests.analysis.cost.small_occupancy import LIVE, TEXT

from xlareport.analysis.cost.activations import Activation
from xlareport.analysis.cost.occupancy import measure_occupancy
from xlareport.analysis.cost.peak_roles import PeakRole, PeakRoles
from xlareport.analysis.cost.stacked import StackedBuffer
from xlareport.analysis.cost.value_sources import ValueSources
from xlareport.hlo.text import TextReader
from xlareport.readers.buffer_assignment import read_buffer_assignment

HLO = b"""HloModule m

cut {
  p = f32[8] parameter(0)
  ROOT part = f32[4] slice(p), slice={[0:4]}
}

ENTRY e {
  x = f32[16] parameter(0)
  y = f32[8] tanh(x), metadata={op_name="jit(f)/transpose(jvp(a))/rematted_computation/tanh"}
  z = f32[8] cosine(x), metadata={op_name="jit(f)/jvp(a)/cos"}
  same = f32[8] bitcast(z)
  gathered = ((f32[8], f32[8]), (f32[16], f32[16])) all-gather-start(y, z), dimensions={0}
  moved = f32[4] fusion(z), kind=kLoop, calls=cut, metadata={op_name="jit(f)/jvp(a)/slice"}
  ROOT w = f32[16] concatenate(y, same), metadata={op_name="jit(f)/jvp(a)/concatenate"}
}
"""


def roles(at: str, *stacked: StackedBuffer) -> PeakRoles:
    module = TextReader().read(HLO, "m.txt")
    occupancy = measure_occupancy(read_buffer_assignment(TEXT, "b.txt")[0], LIVE)
    assert module is not None
    assert occupancy is not None
    return PeakRoles(ValueSources(module), occupancy, at, stacked)


def test_operands_and_results_of_the_instruction_at_the_peak() -> None:
    known = roles("w")
    assert [known.role((name, ()), ()) for name in ("w", "y", "z")] == [PeakRole.WORKING] * 3
    assert known.role(("v", ()), ()) is PeakRole.OTHER


def test_recomputed_values_and_activations() -> None:
    known = roles("z")
    assert known.role(("y", ()), ()) is PeakRole.RECOMPUTED
    assert known.role(("w", ()), [Activation(("w", ()), 64, "a")]) is PeakRole.ACTIVATION
    assert known.op_name(("same", ())) == "jit(f)/jvp(a)/cos"


def test_a_value_has_the_op_that_its_cost_counts_to() -> None:
    known = roles("z")
    assert known.op_name(("moved", ())) == "jit(f)/jvp(a)/slice"
    assert known.op_name(("absent", ())) == ""


def test_a_result_of_a_combined_collective_has_the_op_of_its_member() -> None:
    known = roles("z")
    assert known.op_name(("gathered", (1, 1))) == "jit(f)/jvp(a)/cos"
    assert known.op_name(("gathered", (1, 0))).endswith("/rematted_computation/tanh")


def test_values_of_one_place_are_one() -> None:
    occupancy = measure_occupancy(read_buffer_assignment(TEXT, "b.txt")[0], LIVE)
    assert occupancy is not None
    z, same, y = ("z", ()), ("same", ()), ("y", ())
    assert occupancy.share_place(z, same, 1)
    assert not occupancy.share_place(z, y, 1)
    assert not occupancy.share_place(z, same, 4)


def test_a_loops_buffer_elsewhere_is_not_this_one() -> None:
    stack = StackedBuffer("e", "y", 0, "s", "f32[8]", 32, 4, 8, "", "backward")
    assert roles("z", stack).find_stack(("w", ())) is None
