"""A small program as collective matmuls: before partitioning, and after it for four devices."""

BEFORE = """
ENTRY %main (w: f32[1024,64], x: bf16[32,1024]) -> (bf16[32,64], bf16[1024,64]) {
  %w = f32[1024,64] parameter(0), sharding={devices=[4,1]<=[4]}, metadata={op_name="p[\\'w\\']"}
  %x = bf16[32,1024] parameter(1), sharding={replicated}, metadata={op_name="x"}
  %barrier = (f32[1024,64]) tuple(%w)
  %kept = (f32[1024,64]) opt-barrier(%barrier)
  %again = f32[1024,64] get-tuple-element(%kept), index=0, sharding={devices=[4,1]<=[4]}
  %half = bf16[1024,64] convert(%again), sharding={devices=[4,1]<=[4]}, \
metadata={op_name="f/convert"}
  %dot.1 = bf16[32,64] dot(%x, %half), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
sharding={replicated}, metadata={op_name="f/dot" source_line=1}
  %dot.2 = bf16[1024,64] dot(%x, %dot.1), lhs_contracting_dims={0}, rhs_contracting_dims={0}, \
sharding={devices=[4,1]<=[4]}, metadata={op_name="f/dot" source_line=1}
  ROOT %r = (bf16[32,64], bf16[1024,64]) tuple(%dot.1, %dot.2)
}
"""
NEXT = "source_target_pairs={{0,1},{1,2},{2,3},{3,0}}"
PREVIOUS = "source_target_pairs={{0,3},{1,0},{2,1},{3,2}}"
OF = 'metadata={op_name="f/dot" source_line=1}'


def after(trips: int = 1, gathering: str = "_ag", scattering: str = "_rs") -> str:
    """Return the partitioned program, with loops of so many iterations."""
    name = "windowed_dot_general_body"
    return f"""
%{name}{gathering} (s: (bf16[32,1024], bf16[1,256,64], bf16[32,64], bf16[1,256,64], u32[])) -> \
(bf16[32,1024], bf16[1,256,64], bf16[32,64], bf16[1,256,64], u32[]) {{
  %s = (bf16[32,1024], bf16[1,256,64], bf16[32,64], bf16[1,256,64], u32[]) parameter(0)
  %l = bf16[32,1024] get-tuple-element(%s), index=0
  %r = bf16[1,256,64] get-tuple-element(%s), index=1
  %o = bf16[32,64] get-tuple-element(%s), index=2
  %e = bf16[1,256,64] get-tuple-element(%s), index=3
  %i = u32[] get-tuple-element(%s), index=4
  %back.1 = bf16[1,256,64] collective-permute(%r), channel_id=2, {PREVIOUS}, {OF}
  %ahead.2 = bf16[1,256,64] collective-permute(%e), channel_id=3, {NEXT}, {OF}
  %back.2 = bf16[1,256,64] collective-permute(%back.1), channel_id=4, {PREVIOUS}, {OF}
  %ahead.3 = bf16[1,256,64] collective-permute(%ahead.2), channel_id=5, {NEXT}, {OF}
  %one = u32[] constant(1)
  %j = u32[] add(%i, %one)
  ROOT %t = (bf16[32,1024], bf16[1,256,64], bf16[32,64], bf16[1,256,64], u32[]) \
tuple(%l, %back.2, %o, %ahead.3, %j)
}}

%ag_cond (s: (bf16[32,1024], bf16[1,256,64], bf16[32,64], bf16[1,256,64], u32[])) -> pred[] {{
  %s = (bf16[32,1024], bf16[1,256,64], bf16[32,64], bf16[1,256,64], u32[]) parameter(0)
  %i = u32[] get-tuple-element(%s), index=4
  %n = u32[] constant({trips})
  ROOT %c = pred[] compare(%i, %n), direction=LT
}}

%{name}{scattering} (s: (bf16[32,1024], bf16[32,64], bf16[256,64], bf16[256,64], u32[])) -> \
(bf16[32,1024], bf16[32,64], bf16[256,64], bf16[256,64], u32[]) {{
  %s = (bf16[32,1024], bf16[32,64], bf16[256,64], bf16[256,64], u32[]) parameter(0)
  %l = bf16[32,1024] get-tuple-element(%s), index=0
  %r = bf16[32,64] get-tuple-element(%s), index=1
  %o = bf16[256,64] get-tuple-element(%s), index=2
  %e = bf16[256,64] get-tuple-element(%s), index=3
  %i = u32[] get-tuple-element(%s), index=4
  %part = bf16[256,64] custom-call(%l, %r), custom_call_target="part"
  %sum.1 = bf16[256,64] collective-permute(%o), channel_id=6, {PREVIOUS}, {OF}
  %o.2 = bf16[256,64] add(%sum.1, %part)
  %sum.2 = bf16[256,64] collective-permute(%o.2), channel_id=7, {PREVIOUS}, {OF}
  %o.3 = bf16[256,64] add(%sum.2, %part)
  %sum.3 = bf16[256,64] collective-permute(%e), channel_id=8, {NEXT}, {OF}
  %e.2 = bf16[256,64] add(%sum.3, %part)
  %one = u32[] constant(1)
  %j = u32[] add(%i, %one)
  ROOT %t = (bf16[32,1024], bf16[32,64], bf16[256,64], bf16[256,64], u32[]) \
tuple(%l, %r, %o.3, %e.2, %j)
}}

%rs_cond (s: (bf16[32,1024], bf16[32,64], bf16[256,64], bf16[256,64], u32[])) -> pred[] {{
  %s = (bf16[32,1024], bf16[32,64], bf16[256,64], bf16[256,64], u32[]) parameter(0)
  %i = u32[] get-tuple-element(%s), index=4
  %n = u32[] constant({trips})
  ROOT %c = pred[] compare(%i, %n), direction=LT
}}

ENTRY %main (w: f32[256,64], x: bf16[32,1024]) -> (bf16[32,64], bf16[256,64]) {{
  %w = f32[256,64] parameter(0)
  %x = bf16[32,1024] parameter(1)
  %half.1 = bf16[256,64] convert(%w), metadata={{op_name="f/convert"}}
  %shard = bf16[1,256,64] reshape(%half.1)
  %ahead.1 = bf16[1,256,64] collective-permute(%shard), channel_id=1, {NEXT}, {OF}
  %zero = bf16[] constant(0)
  %none = bf16[32,64] broadcast(%zero), dimensions={{}}
  %start = u32[] constant(0)
  %g = (bf16[32,1024], bf16[1,256,64], bf16[32,64], bf16[1,256,64], u32[]) \
tuple(%x, %shard, %none, %ahead.1, %start), {OF}
  %gathered = (bf16[32,1024], bf16[1,256,64], bf16[32,64], bf16[1,256,64], u32[]) while(%g), \
condition=%ag_cond, body=%{name}{gathering}, {OF}
  %product = bf16[32,64] get-tuple-element(%gathered), index=2
  %empty = bf16[256,64] broadcast(%zero), dimensions={{}}
  %v = (bf16[32,1024], bf16[32,64], bf16[256,64], bf16[256,64], u32[]) \
tuple(%x, %product, %empty, %empty, %start), {OF}
  %scattered = (bf16[32,1024], bf16[32,64], bf16[256,64], bf16[256,64], u32[]) while(%v), \
condition=%rs_cond, body=%{name}{scattering}, {OF}
  %left = bf16[256,64] get-tuple-element(%scattered), index=2
  %right = bf16[256,64] get-tuple-element(%scattered), index=3
  %last = bf16[256,64] collective-permute(%right), channel_id=9, {NEXT}, {OF}
  %whole = bf16[256,64] add(%left, %last)
  %other = bf16[256,64] collective-permute(%whole), channel_id=10, {NEXT}, \
metadata={{op_name="f/roll"}}
  ROOT %r = (bf16[32,64], bf16[256,64]) tuple(%product, %other)
}}
"""
