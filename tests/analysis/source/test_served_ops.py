"""The op that each instruction works for, also where the compiler wrote no op_name."""

from tests.modules import parse_module

from xlareport.analysis.source.served_ops import main_op, serve_ops, share_out

MODULE = b"""HloModule jit_f, is_scheduled=true

%upcast (p: bf16[8,8]) -> f32[8,8] {
  %p = bf16[8,8]{1,0} parameter(0)
  ROOT %up = f32[8,8]{1,0} convert(%p)
}

%weights (w: bf16[8,8]) -> f32[8,8] {
  %w = bf16[8,8]{1,0} parameter(0)
  %first = f32[8,8]{1,0} convert(%w)
  ROOT %second = f32[8,8]{0,1} copy(%first)
}

ENTRY %main (a: bf16[8,8], b: bf16[8,8]) -> (f32[8,8], f32[8,8]) {
  %a = bf16[8,8]{1,0} parameter(0), metadata={op_name="params"}
  %b = bf16[8,8]{1,0} parameter(1)
  %t = bf16[8,8]{1,0} tanh(%a), metadata={op_name="jit(f)/tanh"}
  %same = bf16[8,8]{1,0} bitcast(%t)
  %wide = f32[8,8]{1,0} fusion(%same), kind=kLoop, calls=%upcast
  %kernel = f32[8,8]{0,1} fusion(%b), kind=kLoop, calls=%weights
  %d = f32[8,8]{1,0} dot(%wide, %kernel), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/dot_general"}
  %lone = f32[8,8]{1,0} convert(%b)
  ROOT %r = (f32[8,8], f32[8,8]) tuple(%d, %lone)
}
"""


def test_a_convert_works_for_the_op_whose_value_it_converts() -> None:
    module = parse_module(MODULE)
    names = {place: main_op(ops) for place, ops in serve_ops(module).items()}
    assert names["main", "wide"] == names["upcast", "up"] == "jit(f)/tanh"


def test_what_converts_an_argument_works_for_the_op_that_uses_it() -> None:
    module = parse_module(MODULE)
    names = {place: main_op(ops) for place, ops in serve_ops(module).items()}
    for place in (("main", "kernel"), ("weights", "first"), ("weights", "second")):
        assert names[place] == "jit(f)/dot_general"
    assert names["main", "lone"] == ""


COMBINED = b"""HloModule jit_f, is_scheduled=true

%pack (p: f32[8], q: f32[24]) -> f32[32] {
  %p = f32[8]{0} parameter(0)
  %q = f32[24]{0} parameter(1)
  ROOT %joined = f32[32]{0} concatenate(%p, %q), dimensions={0}
}

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add = f32[] add(%x, %y)
}

ENTRY %main (a: f32[8], b: f32[24]) -> (f32[32], f32[8], f32[24]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[24]{0} parameter(1)
  %small = f32[8]{0} tanh(%a), metadata={op_name="jit(f)/transpose(jvp(layer_0))/tanh"}
  %large = f32[24]{0} exponential(%b), metadata={op_name="jit(f)/transpose(jvp(layer_1))/exp"}
  %packed = f32[32]{0} fusion(%small, %large), kind=kLoop, calls=%pack
  %flat-start = f32[32]{0} all-reduce-start(%packed), to_apply=%sum
  %flat = f32[32]{0} all-reduce-done(%flat-start)
  %several = (f32[8]{0}, f32[24]{0}) all-reduce(%small, %large), to_apply=%sum, \
metadata={op_name="jit(f)/(transpose(jvp(layer_1))/exp:transpose(jvp(layer_0))/tanh)"}
  %named = (f32[8]{0}, f32[24]{0}) all-reduce(%small, %large), to_apply=%sum, \
metadata={op_name="jit(f)/transpose(jvp(layer_0))/tanh"}
  %written = (f32[8]{0}, f32[24]{0}) all-reduce(%small, %large), to_apply=%sum, \
metadata={op_name="jit(f)/psum"}
  %first = f32[8]{0} get-tuple-element(%several), index=0
  %second = f32[24]{0} get-tuple-element(%several), index=1
  %moved = f32[24]{0} copy(%second)
  ROOT %r = (f32[32], f32[8], f32[24]) tuple(%flat, %first, %moved)
}
"""


def test_what_is_combined_works_for_the_ops_of_all_members_by_bytes() -> None:
    module = parse_module(COMBINED)
    ops = serve_ops(module)
    divided = {
        "jit(f)/transpose(jvp(layer_0))/tanh": 0.25,
        "jit(f)/transpose(jvp(layer_1))/exp": 0.75,
    }
    for name in ("packed", "flat-start", "flat", "several", "named"):
        assert dict(ops["main", name]) == divided
    assert dict(ops["pack", "joined"]) == divided
    assert ops["main", "written"] == (("jit(f)/psum", 1.0),)


def test_what_a_tpu_combines_works_for_the_ops_of_its_elements() -> None:
    first = b'metadata={op_name="jit(f)/transpose(jvp(layer_1))/exp"}'
    own = b'metadata={op_name="jit(f)/(transpose(jvp(layer_1))/exp:transpose(jvp(layer_0))/tanh)"}'
    text = COMBINED.replace(own, first).replace(
        b"(%several), index=0",
        b'(%several), index=0, metadata={op_name="jit(f)/transpose(jvp(layer_0))/sum"}',
    )
    assert text.count(b"layer_0))/sum") == 1
    module = parse_module(text)
    divided = {
        "jit(f)/transpose(jvp(layer_0))/sum": 0.25,
        "jit(f)/transpose(jvp(layer_1))/exp": 0.75,
    }
    assert dict(serve_ops(module)["main", "several"]) == divided


def test_an_element_of_what_is_combined_works_for_the_op_of_its_member() -> None:
    module = parse_module(COMBINED)
    ops = serve_ops(module)
    assert main_op(ops["main", "moved"]) == "jit(f)/transpose(jvp(layer_1))/exp"


def test_the_parts_of_a_number_add_up() -> None:
    assert share_out(10, (("a", 1 / 3), ("b", 1 / 3), ("c", 1 / 3))) == [3, 4, 3]
    assert share_out(7, (("a", 1.0),)) == [7]


UPDATES = b"""HloModule jit_f, is_scheduled=true

%update (p0: f32[8], p1: f32[8], p2: f32[8]) -> (f32[8], f32[8]) {
  %p0 = f32[8]{0} parameter(0)
  %p1 = f32[8]{0} parameter(1)
  %p2 = f32[8]{0} parameter(2)
  %flat = f32[8]{0} bitcast(%p1)
  %step = f32[8]{0} multiply(%flat, %p2), metadata={op_name="jit(f)/lion/mul"}
  %sub = f32[8]{0} subtract(%flat, %step), metadata={op_name="jit(f)/lion/sub"}
  %old = f32[8]{0} multiply(%p0, %p0), metadata={op_name="jit(f)/ema/mul"}
  %add = f32[8]{0} add(%old, %sub), metadata={op_name="jit(f)/ema/add"}
  ROOT %both = (f32[8]{0}, f32[8]{0}) tuple(%add, %sub)
}

ENTRY %main (e: f32[8], p: f32[8], m: f32[8]) -> (f32[8], f32[8]) {
  %e = f32[8]{0} parameter(0)
  %p = f32[8]{0} parameter(1)
  %m = f32[8]{0} parameter(2)
  %e-start = (f32[8]{0:S(1)}, f32[8]{0}, u32[]{:S(2)}) copy-start(%e)
  %p-start = (f32[8]{0:S(1)}, f32[8]{0}, u32[]{:S(2)}) copy-start(%p)
  %m-start = (f32[8]{0:S(1)}, f32[8]{0}, u32[]{:S(2)}) copy-start(%m)
  %e-done = f32[8]{0:S(1)} copy-done(%e-start)
  %p-done = f32[8]{0:S(1)} copy-done(%p-start)
  %m-done = f32[8]{0:S(1)} copy-done(%m-start)
  %fusion = (f32[8]{0:S(1)}, f32[8]{0:S(1)}) fusion(%e-done, %p-done, %m-done), kind=kLoop, \
calls=%update, metadata={op_name="jit(f)/ema/add"}
  %first = f32[8]{0:S(1)} get-tuple-element(%fusion), index=0
  %second = f32[8]{0:S(1)} get-tuple-element(%fusion), index=1, metadata={op_name="jit(f)/ema/add"}
  %first-copy = f32[8]{0} copy(%first)
  %second-copy = f32[8]{0} copy(%second)
  ROOT %r = (f32[8]{0}, f32[8]{0}) tuple(%first-copy, %second-copy)
}
"""


def test_copies_into_a_fusion_serve_what_it_does_with_them() -> None:
    """The fusion has the op_name of its first result, not of every operand."""
    module = parse_module(UPDATES)
    served = serve_ops(module)
    for name, scope in (("e", "ema"), ("p", "lion"), ("m", "lion")):
        for place in (f"{name}-start", f"{name}-done"):
            assert {op.split("/")[1] for op, _ in served["main", place]} == {scope}, place
    shares = dict(served["main", "p-done"])
    assert shares == {"jit(f)/lion/mul": 0.5, "jit(f)/lion/sub": 0.5}


def test_copies_out_of_a_fusion_serve_the_op_of_their_result() -> None:
    module = parse_module(UPDATES)
    names = {place: main_op(ops) for place, ops in serve_ops(module).items()}
    assert names["main", "first-copy"] == "jit(f)/ema/add"
    assert names["main", "second-copy"] == names["main", "second"] == "jit(f)/lion/sub"


TRANSPOSED = (
    UPDATES.replace(b"tuple(%add, %sub)", b"tuple(%turned, %sub)")
    .replace(
        b"  ROOT %both", b"  %turned = f32[8]{0} transpose(%add), dimensions={0}\n  ROOT %both"
    )
    .replace(b'calls=%update, metadata={op_name="jit(f)/ema/add"}', b"calls=%update")
)


def test_a_result_that_a_fusion_moves_serves_the_op_of_its_value() -> None:
    module = parse_module(TRANSPOSED)
    served = serve_ops(module)
    assert main_op(served["main", "first-copy"]) == "jit(f)/ema/add"
    assert dict(served["main", "fusion"]) == {"jit(f)/ema/add": 0.5, "jit(f)/lion/sub": 0.5}


WRAPPED = b"""HloModule jit_f, is_scheduled=true

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

%async (p: f32[8]) -> f32[4] {
  %p = f32[8]{0} parameter(0)
  ROOT %scatter = f32[4]{0} reduce-scatter(%p), dimensions={0}, to_apply=%sum
}

ENTRY %main (a: f32[8]) -> f32[4] {
  %a = f32[8]{0} parameter(0)
  %t = f32[8]{0} tanh(%a), metadata={op_name="jit(f)/tanh"}
  %start = ((f32[8]), f32[4]) async-start(%t), calls=%async
  ROOT %done = f32[4]{0} async-done(%start)
}
"""


def test_a_collective_without_op_name_in_an_async_computation_works_for_its_operand() -> None:
    module = parse_module(WRAPPED)
    names = {place: main_op(ops) for place, ops in serve_ops(module).items()}
    assert names["async", "scatter"] == names["main", "done"] == "jit(f)/tanh"


CARRIED = b"""HloModule jit_f, is_scheduled=true

%body (s: (s32[], bf16[8,8], bf16[8,8])) -> (s32[], bf16[8,8], bf16[8,8]) {
  %s = (s32[], bf16[8,8], bf16[8,8]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %w = bf16[8,8]{1,0} get-tuple-element(%s), index=1
  %x = bf16[8,8]{1,0} get-tuple-element(%s), index=2
  %d = bf16[8,8]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/while/body/dot_general"}
  ROOT %t = (s32[], bf16[8,8], bf16[8,8]) tuple(%i, %w, %d)
}

%condition (c: (s32[], bf16[8,8], bf16[8,8])) -> pred[] {
  %c = (s32[], bf16[8,8], bf16[8,8]) parameter(0)
  %j = s32[] get-tuple-element(%c), index=0
  %n = s32[] constant(4)
  ROOT %less = pred[] compare(%j, %n), direction=LT
}

ENTRY %main (a: f32[8,8], b: bf16[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %b = bf16[8,8]{1,0} parameter(1)
  %zero = s32[] constant(0)
  %narrow = bf16[8,8]{1,0} convert(%a)
  %start = (s32[], bf16[8,8], bf16[8,8]) tuple(%zero, %narrow, %b)
  %loop = (s32[], bf16[8,8], bf16[8,8]) while(%start), condition=%condition, body=%body
  %e = bf16[8,8]{1,0} get-tuple-element(%loop), index=2
  ROOT %wide = f32[8,8]{1,0} convert(%e)
}
"""


def test_a_value_that_a_loop_carries_serves_the_op_that_reads_or_computes_it_there() -> None:
    """As a convert of a weight that left the loop, and one of the loop's result."""
    module = parse_module(CARRIED)
    names = {place: main_op(ops) for place, ops in serve_ops(module).items()}
    assert names["main", "narrow"] == "jit(f)/while/body/dot_general"
    assert names["main", "wide"] == "jit(f)/while/body/dot_general"
