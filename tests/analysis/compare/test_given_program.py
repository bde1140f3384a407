"""The program that the compiler was given, as comparisons need it."""

from tests.modules import parse_module

from xlareport.analysis.compare.given_program import NO_PROGRAM, read_program

_SHORT = {
    "SDY": 'frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\\"x\\"}, {}]>"}',
    "DIMS": "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "AGAIN": "transpose(jvp(f))/checkpoint/rematted_computation",
}
TEXT = """HloModule m, num_partitions=2, replica_count=3

ENTRY e {
  x = bf16[8,4] parameter(0), SDY, metadata={op_name="x"}
  w = f32[4,4] parameter(1), sharding={replicated}, metadata={op_name="w"}
  c = f32[8,4] convert(x), metadata={op_name="jit(f)/convert"}
  d = f32[8,4] dot(c, w), DIMS, metadata={op_name="jit(f)/dot"}
  b = f32[8,4] opt-barrier(d)
  again = f32[8,4] tanh(b), metadata={op_name="jit(f)/AGAIN/tanh"}
  ROOT t = (f32[8,4]) tuple(again)
}
"""
for short, whole in _SHORT.items():
    TEXT = TEXT.replace(short, whole)
PROGRAM = read_program(parse_module(TEXT))


def test_arguments_have_the_sharding_of_the_framework() -> None:
    first, second = PROGRAM.arguments
    assert (first.type, first.dimensions, first.bytes) == ("bf16", (8, 4), 64)
    assert first.sharding == "P('x', None)"
    assert second.sharding == "{replicated}"


def test_the_final_module_says_what_is_on_one_device() -> None:
    final = TEXT.replace("bf16[8,4] parameter", "bf16[4,4] parameter")
    program = read_program(parse_module(TEXT), parse_module(final))
    assert [argument.bytes for argument in program.arguments] == [32, 64]
    other = "HloModule m\n\nENTRY e {\n  ROOT x = f32[] parameter(0)\n}\n"
    program = read_program(parse_module(TEXT), parse_module(other))
    assert [argument.bytes for argument in program.arguments] == [64, 64]


def test_products_count_by_the_type_of_their_operand() -> None:
    assert PROGRAM.products == (("f32", 1),)
    assert PROGRAM.main_type == "f32"
    without = read_program(parse_module(TEXT.replace("f32[8,4] dot(c, w)", "f32[8,4] add(c, c)")))
    assert without.products == ()
    assert without.main_type == "f32"  # of most results
    assert NO_PROGRAM.main_type == ""


def test_recomputed_work_and_barriers_are_counted() -> None:
    assert (PROGRAM.recomputed, PROGRAM.barriers) == (1, 1)
    assert (PROGRAM.partitions, PROGRAM.replicas) == (2, 3)


def test_what_runs_nothing_is_no_operation() -> None:
    opcodes = {opcode for operation in PROGRAM.operations for opcode, _ in operation.opcodes}
    assert opcodes == {"convert", "dot", "opt-barrier", "tanh"}
