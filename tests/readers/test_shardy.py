"""Shardy's texts: every mesh, every value with a sharding, and what cannot be read."""

from tests.readers.parsers import Parser, with_path

from xlareport.readers.shardy import read_shardy

SHARDY = b"""  sdy.mesh @m = <["x"=2]>
  func.func @main(%a: tensor<2xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<2xf32> {
    %0 = sdy.sharding_constraint %a <@m, [{}]> : tensor<2xf32>
    %1 = a.b %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<2xf32>
"""
PARSERS = (
    Parser(
        with_path(read_shardy),
        SHARDY,
        (b"sdy.sharding = #sdy.sharding", b"%0 = "),
        says=False,
    ),
)
"""For `tests/properties/test_parsers.py`."""


PATH = "shardy/module_0000.jit_f/02.after_propagation.mlir"
TEXT = """module @jit_f attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data"}]}}
  func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, \
%arg1: tensor<4xi32>, %arg2: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]\
>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}>}) -> (tensor<f32>, \
tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data"}, {}]>] out_shardings=\
[<@mesh, [{"data"}, {}]>] manual_axes={"data"} (%arg3: tensor<4x16xf32>) {
      sdy.return %arg3 : tensor<4x16xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %1 = stablehlo.dot %0, %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>\
]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8}>} : \
(tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"model", ?}]> : tensor<8x8xf32>
    %3:2 = "stablehlo.reduce_window"(%2, %2) ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{"data"}, {}]>]>} : \
(tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    %4 = sdy.reshard %2 <@mesh, [{"data"}, {"model"}]> : tensor<8x8xf32>
    return %arg1, %4 : tensor<f32>, tensor<8x8xf32>
  }
}
"""


def test_meshes_and_values() -> None:
    text, problems = read_shardy(TEXT.encode(), PATH)
    assert problems == []
    assert text.meshes == (("mesh", '<["data"=2, "model"=4]>'),)
    assert text.manual_axes == ('"data"',)
    inside = '[<@mesh, [{"data"}, {}]>]'
    two = '#sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{"data"}, {}]>]>'
    assert [(each.name, each.operation, each.type, each.sharding) for each in text.values] == [
        ("%arg0", "argument", "tensor<8x16xf32>", '#sdy.sharding<@mesh, [{"data"}, {}]>'),
        ("%arg2", "argument", "tensor<16x8xf32>", '#sdy.sharding<@mesh, [{}, {"model"}]>'),
        ("result 1", "result", "tensor<8x8xf32>", '#sdy.sharding<@mesh, [{"data"}, {"model"}]>'),
        ("%0", "sdy.manual_computation in", "", inside),
        ("%0", "sdy.manual_computation out", "", inside),
        ("%1", "stablehlo.dot", "tensor<8x8xf32>", f"#sdy.sharding_per_value<{inside}>"),
        ("%2", "sdy.sharding_constraint", "tensor<8x8xf32>", '<@mesh, [{}, {"model", ?}]>'),
        ("%3", "stablehlo.reduce_window", "tensor<8x8xf32>", two),
        ("%4", "sdy.reshard", "tensor<8x8xf32>", '<@mesh, [{"data"}, {"model"}]>'),
    ]
    assert [each.line for each in text.values][-2:] == [12, 13]


def test_what_does_not_end_is_a_problem() -> None:
    broken = TEXT.replace('[{"data"}, {"model"}]> : tensor', '[{"data"}, {"model"').encode()
    text, problems = read_shardy(broken.replace(b"4]> {stable", b"4 {stable"), PATH)
    assert text.meshes == ()
    assert [problem.line for problem in problems] == [2, 13]
