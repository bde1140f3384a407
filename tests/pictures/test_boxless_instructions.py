"""Constants, broadcast scalars, inputs and elements of tuples need no box."""

from collections.abc import Callable

import pytest

from xlareport.hlo.model import HloModule
from xlareport.pictures.boxless_instructions import Folding, short_shape

MODULE = """
ENTRY main {
  x = f32[64,128]{1,0} parameter(0)
  w = f32[128,128]{1,0} parameter(1)
  n = s32[] parameter(2)
  unused = f32[8] parameter(3)
  zero = f32[] constant(0)
  zeros = f32[64,128] broadcast(zero), dimensions={}
  flat = f32[8192] reshape(zeros)
  table = f32[2,2] constant({{1, 2}, {3, 4}})
  hot = f32[64,128] multiply(x, x)
  dot = f32[64,128] dot(hot, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  again = f32[64,128] dot(dot, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  pair = (f32[64,128], s32[]) custom-call(again, zeros, n, table, flat), custom_call_target="f"
  first = f32[64,128] get-tuple-element(pair), index=0
  second = s32[] get-tuple-element(pair), index=1
  ROOT out = (f32[64,128], s32[], f32[64,128], f32[]) tuple(first, second, again, zero)
}
"""


@pytest.fixture
def module(module_of: Callable[[str], HloModule]) -> HloModule:
    return module_of(MODULE)


def folded(module: HloModule, *keep: str, inputs: bool = True) -> Folding:
    assert module.entry is not None
    return Folding(module.entry, keep, inputs=inputs)


def test_what_the_users_say(module: HloModule) -> None:
    assert folded(module).words == {
        "x": "parameter 0 f32[64,128]",
        "n": "parameter 2 s32[]",
        "unused": "parameter 3 f32[8]",
        "zero": "constant 0",
        "zeros": "constant 0",
        "flat": "constant 0",
        "table": "constant f32[2,2]",
    }


def test_an_input_that_several_use_has_a_box(module: HloModule) -> None:
    assert not folded(module).is_folded("w")
    assert folded(module, inputs=False).is_folded("w")


def test_elements_lead_to_their_tuple(module: HloModule) -> None:
    folding = folded(module)
    assert folding.elements == {"first": "pair#0", "second": "pair#1"}
    assert folding.is_folded("first")


def test_a_root_tuple_of_many_is_folded_and_its_elements_numbered(module: HloModule) -> None:
    folding = folded(module)
    assert folding.outputs == {"first": [0], "second": [1], "again": [2], "zero": [3]}
    assert folding.is_folded("out")


def test_what_is_kept_has_a_box(module: HloModule) -> None:
    folding = folded(module, "zero", "first", "out")
    assert not any(map(folding.is_folded, ("zero", "first", "out")))
    assert folding.outputs == {}
    assert not folding.is_folded("zeros")


@pytest.mark.parametrize(
    "keep", [(), ("zero",), ("zeros", "x"), ("first", "pair"), ("flat", "out", "nowhere")]
)
def test_what_is_kept_afterwards_is_as_if_it_had_been_kept_at_once(
    module: HloModule, keep: tuple[str, ...]
) -> None:
    plain = folded(module)
    former = dict(plain.words), dict(plain.elements), dict(plain.outputs)
    then, once = plain.keeping(keep), folded(module, *keep)
    assert (then.words, then.elements, then.outputs) == (once.words, once.elements, once.outputs)
    assert (plain.words, plain.elements, plain.outputs) == former


def test_a_small_root_tuple_is_a_box(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(
        "ENTRY e {\n  a = f32[2] parameter(0)\n  ROOT t = (f32[2], f32[2]) tuple(a, a)\n}"
    )
    assert not folded(module).is_folded("t")


def test_a_root_is_never_folded(module_of: Callable[[str], HloModule]) -> None:
    for line in ("c = f32[] constant(1)", "p = f32[2] parameter(0)"):
        module = module_of(f"ENTRY e {{\n  ROOT {line}\n}}")
        assert not folded(module).is_folded(line[0])


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ("f32[64,128]{1,0:T(8,128)S(1)}", "f32[64,128]"),
        ("(f32[2]{0}, s32[])", "(f32[2], s32[])"),
        ("(s32[], s32[], s32[], s32[], s32[])", "(s32[], s32[], s32[], … 5)"),
        ("f32[]", "f32[]"),
    ],
)
def test_shapes_are_told_without_layouts(
    shape: str, words: str, module_of: Callable[[str], HloModule]
) -> None:
    module = module_of(f"ENTRY e {{\n  ROOT p = {shape} parameter(0)\n}}")
    assert module.entry is not None
    assert short_shape(module.entry.instructions[0].shape, 26) == words
