from tests.modules import parse_module

from xlareport.analysis.source.argument_names import name_arguments


def test_op_names_of_single_parameters_are_their_names() -> None:
    module = parse_module("""HloModule m

ENTRY e {
  a = f32[2] parameter(0), metadata={op_name="params['emb']"}
  b = f32[2] parameter(1), metadata={op_name="xla__device_data"}
  c = f32[2] parameter(2), metadata={op_name="xla__device_data"}
  d = f32[2] parameter(3), metadata={op_name="jit(f)/add"}
  f = f32[2] parameter(4)
  ROOT r = f32[2] add(a, b), metadata={op_name="jit(f)/add"}
}""")
    assert name_arguments(module) == {"a": "params['emb']"}
