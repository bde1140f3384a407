"""Entry signatures: arguments with the framework's names, donated ones, what comes back."""

from tests.modules import parse_module

from xlareport.analysis.modules.signature import read_signature
from xlareport.hlo.model import HloModule

STEP = """HloModule jit_step, input_output_alias={ {0}: (0, {}, may-alias) }, num_partitions=4

ENTRY %main (w: f32[8,4], x: bf16[2,8]) -> (f32[8,4], f32[]) {
  %w = f32[8,4]{1,0} parameter(0), sharding={replicated}, metadata={op_name="params[\\'w\\']"}
  %x = bf16[2,8]{1,0} parameter(1)
  %c = f32[] constant(1)
  ROOT %t = (f32[8,4]{1,0}, f32[]) tuple(%w, %c)
}
"""


def test_arguments_bear_the_frameworks_names_and_sizes() -> None:
    parsed = read_signature(parse_module(STEP))
    weight, batch = parsed.arguments
    assert (weight.label, weight.shape, weight.bytes) == ("params['w']", "f32[8,4]", 128)
    assert (weight.donated, weight.sharding) == (True, "{replicated}")
    assert (batch.label, batch.shape, batch.bytes, batch.donated) == ("x", "bf16[2,8]", 32, False)
    assert (parsed.argument_bytes, parsed.partitions) == (160, 4)


def test_a_donor_is_no_alias() -> None:
    donor = STEP.replace("may-alias) }", "may-alias) }, buffer_donor={ (1, {}) }")
    weight, batch = read_signature(parse_module(donor)).arguments
    assert (weight.donated, weight.aliased) == (True, True)
    assert (batch.donated, batch.aliased) == (True, False)


def test_results_that_come_back_in_the_shape_of_an_argument_are_counted_once_each() -> None:
    parsed = read_signature(parse_module(STEP))
    assert [one.shape for one in parsed.results] == ["f32[8,4]", "f32[]"]
    assert parsed.returned_arguments == 1
    assert parsed.result_bytes == 132


def test_a_module_without_computations_has_an_empty_signature() -> None:
    parsed = read_signature(HloModule("m", "", ()))
    assert (parsed.arguments, parsed.results, parsed.partitions) == ((), (), 1)


def test_an_alias_may_be_with_an_output_of_another_shape() -> None:
    assert read_signature(parse_module(STEP)).reshaped_aliases == 0
    reshaped = STEP.replace("f32[8,4]{1,0} parameter(0)", "f32[32]{0} parameter(0)")
    assert read_signature(parse_module(reshaped)).reshaped_aliases == 1
