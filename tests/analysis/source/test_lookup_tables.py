from tests.modules import parse_module

from xlareport.analysis.source.lookup_tables import find_lookup_tables

ROWS = "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1"
TEXT = f"""HloModule m

look {{
  t = f32[64,8] parameter(0)
  i = s32[2,1] parameter(1)
  ROOT g = f32[2,8] gather(t, i), {ROWS}, slice_sizes={{1,8}}
}}

ENTRY e {{
  table = f32[64,8] parameter(0)
  tied = f32[64,8] parameter(1)
  weight = f32[8,8] parameter(2)
  i = s32[2,1] parameter(3)
  s = f32[64,8] custom-call(table), custom_call_target="Sharding", sharding={{replicated}}
  c = bf16[64,8] convert(tied)
  a = f32[2,8] call(s, i), to_apply=look
  b = bf16[2,8] gather(c, i), {ROWS}, slice_sizes={{1,8}}
  w = f32[64,8] add(table, table)
  d = f32[2,8] dot(a, weight), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  p = bf16[2,64] dot(b, c), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  ROOT r = (f32[2,8], bf16[2,64], f32[64,8]) tuple(d, p, w)
}}
"""


def test_only_what_gathers_index_and_no_matmul_reads_is_a_table() -> None:
    assert find_lookup_tables(parse_module(TEXT)) == {0}


def test_a_module_without_an_entry_has_none() -> None:
    assert find_lookup_tables(parse_module("HloModule m\n")) == frozenset()
