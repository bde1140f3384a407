from collections.abc import Callable
from pathlib import Path

from tests.readers.parsers import Parser, with_path

from xlareport.readers.stablehlo import read_stablehlo

STABLEHLO = b"""module @m {
%0 = stablehlo.add %a, %a : tensor<f32> loc(#loc2)
}
#loc1 = loc("f.py":1:2 to :3)
#loc2 = loc("g"(#loc1))
#loc3 = loc(callsite(#loc1 at #loc3))
"""
PARSERS = (
    Parser(with_path(read_stablehlo), STABLEHLO, (b"#loc1 = loc(#loc1#loc2)\n",), says=False),
)
"""For `tests/properties/test_parsers.py`."""


TEXT = b"""#loc1 = loc("x")
module @jit_f {
  func.func public @main(%arg0: tensor<4xf32> loc("x")) -> tensor<4xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32> loc(#loc6)
    %1 = stablehlo.tanh %0 : tensor<4xf32> loc(#loc9)
    return %1 : tensor<4xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("/site-packages/jax/nn.py":3:4 to :9)
#loc3 = loc("/home/me/a \\"b\\" #loc1.py":12:11 to :25)
#loc4 = loc("relu #loc2"(#loc2))
#loc5 = loc(callsite(#loc4 at #loc3))
#loc6 = loc("jit(f)/add"(#loc5))
#loc9 = loc("round"(#loc9))
"""


def test_operations_with_the_stack_that_made_them() -> None:
    (add, tanh, back), problems = read_stablehlo(TEXT, "module.mlir")
    assert problems == []
    assert add.text == "%0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>"
    assert add.line == 4
    assert add.frames == (
        ("/site-packages/jax/nn.py", 3),
        ('/home/me/a \\"b\\" #loc1.py', 12),
    )
    assert tanh.frames == (), "a location that refers to itself ends"
    assert (back.text, back.frames) == ("return %1 : tensor<4xf32>", ())


def test_a_real_module(unpacked: Callable[[str], Path]) -> None:
    (path,) = unpacked("jax-cpu-train").glob("*jit_train_step/module.mlir")
    parsed, problems = read_stablehlo(path.read_bytes(), path.name)
    assert problems == []
    dots = [one for one in parsed if "stablehlo.dot_general" in one.text]
    assert dots
    assert all(dot.frames[0][0].endswith("jax_train.py") for dot in dots)
