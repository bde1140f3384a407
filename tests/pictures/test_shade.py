"""What is known of a box beside its opcode."""

from collections.abc import Callable

import pytest

from xlareport.hlo.model import HloModule
from xlareport.pictures.shade import (
    NO_COLOR_DATA,
    SEVERAL,
    ColorData,
    scopes_of,
    shade_of,
    shade_of_group,
    split_path,
    stem,
)

TEXT = """
ENTRY main {
  a = f32[64] parameter(0), sharding={replicated}
  b = f32[64] abs(a), sharding={devices=[2]<=[2]}, metadata={op_name="jit(f)/model/h_0/attn/abs"}
  c = f32[8] negate(b), sharding={devices=[2]<=[2]}, metadata={op_name="jit(f)/model/h_0/mlp/neg"}
  ROOT d = token[] after-all()
}
"""


def test_an_instruction(module_of: Callable[[str], HloModule]) -> None:
    [main] = module_of(TEXT).computations
    found = shade_of(main.by_name["b"], ColorData({"b": 0.25}, {"b": 0.5}))
    assert (found.cost, found.memory, found.sharding) == (0.25, 256, "{devices=[2]<=[2]}")
    assert found.scope == ("model", "h_0", "attn")
    assert found.time == 0.5
    found = shade_of(main.by_name["c"], NO_COLOR_DATA)
    assert (found.cost, found.time) == (None, None)


def test_a_group_is_the_sum_and_what_all_share(module_of: Callable[[str], HloModule]) -> None:
    [main] = module_of(TEXT).computations
    found = shade_of_group(main.instructions[1:3], ColorData({"b": 0.25, "c": 0.5}, {"c": 1.5}))
    assert (found.cost, found.time, found.memory) == (0.75, 1.5, 256 + 32)
    assert found.scope == ("model", "h_0")
    assert found.sharding == "{devices=[2]<=[2]}"
    assert shade_of_group(main.instructions, NO_COLOR_DATA).sharding == SEVERAL


def test_nothing_is_known_of_nothing() -> None:
    found = shade_of_group((), NO_COLOR_DATA)
    assert (found.cost, found.memory, found.sharding, found.scope) == (None, None, "", ())


@pytest.mark.parametrize(
    ("op_name", "scopes"),
    [
        ("jit(step)/jvp(GPT2)/h_4/LayerNorm_0/reshape", ("jvp(GPT2)", "h_4", "LayerNorm_0")),
        ("jit(step)/transpose(jvp(GPT2))/h_4/dot_general", ("transpose(jvp(GPT2))", "h_4")),
        ("jit(f)/jit(main)/add", ()),
        ("jit(f)/vmap(a/b)/mul", ("vmap(a/b)",)),
        ("dense/MatMul", ("dense",)),
        ("add", ()),
        ("", ()),
        ("/".join("abcdefghijklmnopqrstuvwxyz"), tuple("abcdefghijkl")),
    ],
)
def test_scope(
    op_name: str, scopes: tuple[str, ...], module_of: Callable[[str], HloModule]
) -> None:
    metadata = f'metadata={{op_name="{op_name}"}}'
    module = module_of(f"ENTRY e {{\n  ROOT p = f32[] parameter(0), {metadata}\n}}")
    assert module.entry is not None
    assert scopes_of(module.entry.instructions[0]) == scopes


def test_unbalanced_parentheses_do_not_swallow_the_path() -> None:
    assert split_path("a)/b/c") == ["a)", "b", "c"]
    assert split_path("a(/b/c") == ["a(/b/c"]


def test_a_stem_has_no_numbers() -> None:
    assert stem("h_4") == stem("h_11") == "h_#"
    assert stem("transpose(jvp(layer_3))") == "transpose(jvp(layer_#))"
