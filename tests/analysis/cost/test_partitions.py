"""Whether the work of a snapshot is that of one device."""

from tests.modules import parse_module

from xlareport.analysis.cost.partitions import computes_per_device, has_local_shapes

PROGRAM = """HloModule m, num_partitions=8

%BODY (p: f32[4,8], q: f32[8,8]) -> f32[4,8] {
  %p = f32[4,8] parameter(0)
  %q = f32[8,8] parameter(1)
  ROOT %dot.1 = f32[4,8] dot(%p, %q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

ENTRY %main.5 (x: f32[4,8], w: f32[8,8]) -> f32[4,8] {
  %x = f32[4,8] parameter(0)
  %w = f32[8,8] parameter(1)
  %call.1 = f32[4,8] call(%x, %w), to_apply=%BODY
  ROOT %out = f32[4,8] negate(%call.1)
}
"""


def test_the_work_of_a_shard_map_is_that_of_one_device() -> None:
    module = parse_module(PROGRAM.replace("BODY", "xla.sdy.manual_computation_body.3"))
    assert not has_local_shapes(module)
    assert computes_per_device(module)


def test_the_work_of_other_calls_is_that_of_all_devices() -> None:
    assert not computes_per_device(parse_module(PROGRAM.replace("BODY", "relu.3")))


def test_with_a_matmul_outside_the_work_is_not_that_of_one_device() -> None:
    text = PROGRAM.replace("BODY", "xla.sdy.manual_computation_body.3")
    dot = "dot(%call.1, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    assert not computes_per_device(parse_module(text.replace("negate(%call.1)", dot)))


def test_one_partition_is_all_devices() -> None:
    text = PROGRAM.replace("BODY", "xla.sdy.manual_computation_body.3")
    assert not computes_per_device(
        parse_module(text.replace("num_partitions=8", "num_partitions=1"))
    )
