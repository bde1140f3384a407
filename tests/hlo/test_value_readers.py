from tests.modules import parse_module

from xlareport.hlo.value_readers import follow_readers

TEXT = """HloModule m

inside {
  p = f32[8,4] parameter(0)
  ROOT n = f32[8,4] negate(p)
}

rows {
  t = f32[8,4] parameter(0)
  i = s32[2,1] parameter(1)
  ROOT g = f32[2,4] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, \
start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
}

body {
  s = (s32[2,1], f32[8,4], f32[8,4]) parameter(0)
  i = s32[2,1] get-tuple-element(s), index=0
  t = f32[8,4] get-tuple-element(s), index=1
  o = f32[8,4] get-tuple-element(s), index=2
  c = f32[2,4] call(t, i), to_apply=rows
  d = f32[8,8] dot(o, o), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT r = (s32[2,1], f32[8,4], f32[8,4]) tuple(i, t, o)
}

condition {
  s = (s32[2,1], f32[8,4], f32[8,4]) parameter(0)
  ROOT k = pred[] constant(true)
}

then {
  x = f32[8,4] parameter(0)
  ROOT y = f32[8,4] sine(x)
}

other {
  x = f32[8,4] parameter(0)
  ROOT z = f32[8,4] cosine(x)
}

ENTRY e {
  a = f32[8,4] parameter(0)
  b = f32[8,4] parameter(1)
  i = s32[2,1] parameter(2)
  q = pred[] parameter(3)
  f = f32[8,4] fusion(b), kind=kLoop, calls=inside
  u = (s32[2,1], f32[8,4], f32[8,4]) tuple(i, a, f)
  w = (s32[2,1], f32[8,4], f32[8,4]) while(u), condition=condition, body=body
  l = f32[8,4] get-tuple-element(w), index=1
  v = f32[8,4] get-tuple-element(w), index=2
  x = f32[8,4] conditional(q, l, v), true_computation=then, false_computation=other
  ROOT m = f32[8,4] exponential(x)
}
"""


def readers(name: str, *passed: str) -> set[str]:
    """Return the opcodes of what reads a parameter of the entry, without tuples and the like."""
    module = parse_module(TEXT)
    entry = module.by_name["e"]
    follow = follow_readers(module, entry, entry.by_name[name], lambda line: line.opcode in passed)
    plain = {"parameter", "tuple", "get-tuple-element", "while", "fusion", "call", "conditional"}
    return {line.opcode for _, line in follow} - plain


def test_a_value_is_followed_into_loops_calls_and_branches_by_its_element() -> None:
    assert readers("a") == {"gather", "sine"}


def test_what_is_passed_leads_on_out_of_a_fusion() -> None:
    assert readers("b") == {"negate"}
    assert readers("b", "negate") == {"negate", "dot", "cosine"}
