"""Matmuls, collectives and reduce-windows that lost their op_name get it from their history."""

from tests.modules import parse_module

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.lost_metadata import restore_metadata
from xlareport.analysis.source.served_ops import serve_ops
from xlareport.hlo.model import HloModule

DOT = "dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
TANH = 'metadata={op_name="jit(f)/torso/tanh"}'
TEXT = f"""ENTRY e {{
  x = f32[1,64] parameter(0)
  b = f32[64,8] parameter(1)
  a = f32[1,64] tanh(x), {TANH}
  d = f32[1,8] {DOT}, metadata={{op_name="jit(f)/head/dot" source_file="f.py" source_line=7}}
  ROOT n = f32[1,8] negate(d), metadata={{op_name="jit(f)/neg"}}
}}"""
LOST = TEXT.replace(', metadata={op_name="jit(f)/head/dot" source_file="f.py" source_line=7}', "")


def read(text: str) -> HloModule:
    return parse_module(f"HloModule m\n\n{text}\n")


def test_a_matmul_has_the_op_name_and_line_of_its_history() -> None:
    module, count = restore_metadata(SnapshotSequence([read(TEXT), read(LOST)]))
    product = module.by_name["e"].by_name["d"]
    metadata = product.metadata
    assert (metadata.op_name, metadata.source_file, metadata.source_line, count) == (
        *("jit(f)/head/dot", "f.py", 7),
        1,
    )
    assert "metadata" not in product.text
    assert "metadata" not in product.attributes


def test_what_has_an_op_name_or_never_had_any_stays() -> None:
    for texts in ((TEXT, TEXT.replace("head", "tail")), (LOST, LOST.replace("negate", "abs"))):
        last = read(texts[-1])
        assert restore_metadata(SnapshotSequence([read(texts[0]), last])) == (last, 0)


POOL = """ge {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE
}

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  x = f32[8] parameter(0)
  g = f32[4] parameter(1)
  z = f32[] constant(0)
  r = f32[8] maximum(x, x), metadata={op_type="Relu" op_name="Relu"}
  ROOT s = BODY
}
"""
EXPANDED = """arg_max {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  ge = pred[] compare(a, b), direction=GE
  v = f32[] select(ge, a, b)
  k = s32[] select(ge, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k)
}

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  x = f32[8] parameter(0)
  g = f32[4] parameter(1)
  z = f32[] constant(0)
  r = f32[8] maximum(x, x), metadata={op_type="Relu" op_name="Relu"}
  i = s32[8] iota(), iota_dimension=0
  m = s32[] constant(-1)
  w = (f32[4], s32[4]) reduce-window(r, i, z, m), window={size=2 stride=2}, to_apply=arg_max
  k = s32[4] get-tuple-element(w), index=1
  n = s32[4,1] reshape(k)
  h = f32[4,1] reshape(g)
  f = f32[8] broadcast(z), dimensions={}
  ROOT s = f32[8] scatter(f, n, h), update_window_dims={1}, inserted_window_dims={}, \
scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add, \
metadata={op_type="MaxPoolGrad" op_name="gradient_tape/MaxPoolGrad"}
}"""


def test_the_reduce_window_of_a_max_pool_gradient_has_its_op_name() -> None:
    """TensorFlow's MaxPoolGrad, expanded; what the reduce-window reads is of another op, Relu."""
    gradient = """f32[8] select-and-scatter(r, g, z), window={size=2 stride=2}, select=ge, \
scatter=add, metadata={op_type="MaxPoolGrad" op_name="gradient_tape/MaxPoolGrad"}"""
    before, after = read(POOL.replace("BODY", gradient)), read(EXPANDED)
    module, count = restore_metadata(SnapshotSequence([before, after]))
    served = serve_ops(module)
    of_gradient = (("gradient_tape/MaxPoolGrad", 1.0),)
    assert count == 1
    assert {served["e", name] for name in ("i", "w", "k", "n")} == {of_gradient}
    assert served["e", "r"] == (("Relu", 1.0),)


COMBINED = """ENTRY e {
  p = f32[6] parameter(0)
  q = f32[2] parameter(1)
  a = f32[6] negate(p), metadata={op_name="jit(f)/conv"}
  b = f32[2] negate(q), metadata={op_name="jit(f)/conv"}
  r = (f32[6], f32[2]) all-reduce(a, b), channel_id=1, to_apply=sum, \
metadata={op_name="jit(f)/(psum:jvp()/psum)"}
  c = f32[6] get-tuple-element(r), index=0
  d = f32[2] get-tuple-element(r), index=1
  ROOT t = (f32[6], f32[2]) tuple(c, d)
}"""
CONTIGUOUS = """ENTRY e {
  p = f32[6] parameter(0)
  q = f32[2] parameter(1)
  a = f32[6] negate(p), metadata={op_name="jit(f)/conv"}
  b = f32[2] negate(q), metadata={op_name="jit(f)/conv"}
  j = f32[8] concatenate(a, b), dimensions={0}
  r.1 = f32[8] all-reduce(j), channel_id=1, to_apply=sum
  c = f32[6] slice(r.1), slice={[0:6]}
  d = f32[2] slice(r.1), slice={[6:8]}
  ROOT t = (f32[6], f32[2]) tuple(c, d)
}"""
SUM = """sum {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}

"""


def test_a_combined_all_reduce_in_one_array_works_for_the_ops_of_its_members() -> None:
    sequence = SnapshotSequence([read(SUM + COMBINED), read(SUM + CONTIGUOUS)])
    module, count = restore_metadata(sequence)
    served = serve_ops(module)
    assert count == 1
    assert served["e", "r.1"] == (("jit(f)/psum", 0.75), ("jit(f)/jvp()/psum", 0.25))
    assert served["e", "j"] == (("jit(f)/conv", 1.0),)


def test_an_all_reduce_of_another_number_of_members_keeps_their_list() -> None:
    text = COMBINED.replace("(psum:jvp()/psum)", "(psum:psum:jvp()/psum)")
    module, _ = restore_metadata(SnapshotSequence([read(SUM + text), read(SUM + CONTIGUOUS)]))
    assert serve_ops(module)["e", "r.1"] == (("jit(f)/(psum:psum:jvp()/psum)", 1.0),)


REDUCED = """add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY e {
  p = f32[8,64] parameter(0)
  i = u32[] partition-id()
  z = u32[] constant(0)
  r = f32[8,64] all-reduce(p), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, \
to_apply=add, NAME
  ROOT d = f32[4,64] dynamic-slice(r, i, z), dynamic_slice_sizes={4,64}
}"""
SCATTERED = """add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY e {
  p = f32[8,64] parameter(0)
  ROOT s = f32[4,64] reduce-scatter(p), channel_id=1, replica_groups={{0,1}}, \
use_global_device_ids=true, dimensions={0}, to_apply=add
}"""


def test_a_reduce_scatter_has_the_op_name_of_the_all_reduce_that_it_was() -> None:
    before = read(REDUCED.replace("NAME", 'metadata={op_name="jit(f)/head/dot"}'))
    module, count = restore_metadata(SnapshotSequence([before, read(SCATTERED)]))
    assert (module.by_name["e"].by_name["s"].metadata.op_name, count) == ("jit(f)/head/dot", 1)
