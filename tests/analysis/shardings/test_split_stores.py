"""What a loop stores, and which axes of the mesh split its products alone."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.shardings.split_stores import SplitStore, list_split_stores
from xlareport.hlo.shardings.mesh import make_mesh

STORE = "{devices=[1,2,1,4]<=[8] last_tile_dim_replicate}"
PRODUCT = "{devices=[2,4]<=[8]}"
TEXT = f"""HloModule m, num_partitions=8

ENTRY e {{
  s = bf16[32,16,64] parameter(0)
  x = bf16[1,16,64] parameter(1)
  w = bf16[16,64] parameter(2)
  v = bf16[64,64] parameter(3)
  i = s32[] parameter(4)
  z = s32[] constant(0)
  d = bf16[16,64] dot(w, v), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, \
sharding={PRODUCT}
  ROOT u = bf16[32,16,64] dynamic-update-slice(s, x, i, z, z), sharding={STORE}, \
metadata={{op_name="jvp()/while/body/dynamic_update_slice"}}
}}
"""
NAME = "jvp()/while/body/dynamic_update_slice"
MESH = make_mesh("'fsdp'=2,'tensor'=4", None)


@pytest.mark.parametrize(
    ("old", "new", "part", "axes"),
    [
        ("", "", "bf16[32,8,64]", (("tensor", 4),)),
        (STORE, "{replicated}", "bf16[32,16,64]", (("fsdp", 2), ("tensor", 4))),
        (STORE, "{devices=[1,2,4]<=[8]}", "bf16[32,8,16]", ()),
        (PRODUCT, "{devices=[2,1,4]<=[8] last_tile_dim_replicate}", "bf16[32,8,64]", ()),
    ],
)
def test_an_axis_that_splits_products_and_not_what_is_stored(
    old: str, new: str, part: str, axes: tuple[tuple[str, int], ...]
) -> None:
    stores = list_split_stores(parse_module(TEXT.replace(old, new) if old else TEXT), MESH)
    assert stores == (SplitStore(NAME, part, axes),)


def test_the_dimension_of_the_iterations_is_not_to_be_split() -> None:
    """32 iterations of slices whose other dimensions 4 does not divide."""
    text = TEXT.replace("16,64]", "6,63]").replace("[64,64]", "[63,63]")
    (store,) = list_split_stores(parse_module(text), MESH)
    assert store.axes == ()


@pytest.mark.parametrize("sharding", ["", "{devices=[1,2,1,4]<=[8] last_tile_dims={manual}}"])
def test_what_is_not_known_is_not_said(sharding: str) -> None:
    written = f"sharding={sharding}, " if sharding else ""
    text = TEXT.replace(f"sharding={STORE}, ", written)
    assert list_split_stores(parse_module(text), MESH) == ()
    assert list_split_stores(parse_module(TEXT), None) == ()
