"""Scatters that add to a buffer of zeros, alone and in a fusion."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost.zero_scatters import ZeroScatter, find_zero_scatter

SCATTER = """scatter(zeros, i, u), update_window_dims={1}, inserted_window_dims={0}, \
scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"""
TEXT = f"""HloModule m

add {{
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}}

fill {{
  z = f32[] constant(0)
  ROOT b = f32[64,8] broadcast(z), dimensions={{}}
}}

adding {{
  zeros = f32[64,8] parameter(0)
  i = s32[4,1] parameter(1)
  u = f32[4,8] parameter(2)
  ROOT s = f32[64,8] {SCATTER}
}}

ENTRY e {{
  i = s32[4,1] parameter(0)
  u = f32[4,8] parameter(1)
  zeros = f32[64,8] fusion(), kind=kLoop, calls=fill
  ROOT s = f32[64,8] {SCATTER}
}}
"""
FUSION = "fusion(zeros, i, u), kind=kInput, calls=adding"


def found(text: str) -> ZeroScatter | None:
    module = parse_module(text)
    assert module.entry is not None
    assert module.entry.root is not None
    return find_zero_scatter(module, module.entry, module.entry.root)


@pytest.mark.parametrize("is_fused", [False, True])
def test_a_scatter_with_its_zeros_and_updates(*, is_fused: bool) -> None:
    head, _, entry = TEXT.partition("ENTRY")
    scatter = found(f"{head}ENTRY{entry.replace(SCATTER, FUSION)}" if is_fused else TEXT)
    assert scatter is not None
    assert (scatter.zeros.name, scatter.root.opcode) == ("zeros", "scatter")
    assert scatter.updates == 4 * 4 * 8
    assert not scatter.is_of_elements


def test_another_value_than_zero_is_no_buffer_of_zeros() -> None:
    assert found(TEXT.replace("constant(0)", "constant(2)")) is None


def test_a_buffer_that_the_first_parameter_fills_is_not_taken_for_zeros() -> None:
    """The number of a parameter is no value."""
    assert found(TEXT.replace("z = f32[] constant(0)", "z = f32[] parameter(0)")) is None


@pytest.mark.parametrize(("rows", "is_each"), [(64, True), (16, False), (8, False)])
def test_one_element_of_each_row(rows: int, *, is_each: bool) -> None:
    """As the gradient of jnp.take_along_axis adds; one of each column is none, nor a pool's."""
    text = TEXT.replace("s32[4,1]", f"s32[{rows},2]").replace("f32[4,8]", f"f32[{rows}]")
    text = text.replace(
        "update_window_dims={1}, inserted_window_dims={0}", "inserted_window_dims={0,1}"
    )
    scatter = found(
        text.replace("scatter_dims_to_operand_dims={0}", "scatter_dims_to_operand_dims={0,1}")
    )
    assert scatter is not None
    assert scatter.is_of_elements is is_each
