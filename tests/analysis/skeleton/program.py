"""A scheduled module with a loop, a conditional, asynchronous work and layers that repeat."""

from pathlib import Path

from xlareport.program import ParsedModule
from xlareport.report import BuildOptions, read_one_module

HEAD = "HloModule jit_step, is_scheduled=true, num_partitions=4\n"
TEXT = """
%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%fused (p: f32[1024,1024]) -> f32[1024,1024] {
  %p = f32[1024,1024]{1,0} parameter(0)
  ROOT %t = f32[1024,1024]{1,0} tanh(%p)
}

%condition (state: (s32[], f32[1024,1024])) -> pred[] {
  %state = (s32[], f32[1024,1024]{1,0}) parameter(0)
  %at = s32[] get-tuple-element(%state), index=0
  %end = s32[] constant(5)
  ROOT %more = pred[] compare(%at, %end), direction=LT
}

%body (state.1: (s32[], f32[1024,1024])) -> (s32[], f32[1024,1024]) {
  %state.1 = (s32[], f32[1024,1024]{1,0}) parameter(0)
  %at.1 = s32[] get-tuple-element(%state.1), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%at.1, %one)
  %x.1 = f32[1024,1024]{1,0} get-tuple-element(%state.1), index=1
  %inner = f32[1024,1024]{1,0} fusion(%x.1), kind=kLoop, calls=%fused
  ROOT %state.2 = (s32[], f32[1024,1024]{1,0}) tuple(%next, %inner)
}

%left (l: f32[1024,1024]) -> f32[1024,1024] {
  %l = f32[1024,1024]{1,0} parameter(0)
  ROOT %l.1 = f32[1024,1024]{1,0} fusion(%l), kind=kLoop, calls=%fused
}

%right (r: f32[1024,1024]) -> f32[1024,1024] {
  %r = f32[1024,1024]{1,0} parameter(0)
  ROOT %r.1 = f32[1024,1024]{1,0} negate(%r)
}

ENTRY %main (x: f32[1024,1024], pick: pred[]) -> f32[1024,1024] {
  %x = f32[1024,1024]{1,0} parameter(0)
  %pick = pred[] parameter(1)
  %zero = s32[] constant(0)
LAYERS
  %start = f32[1024,1024]{1,0} all-reduce-start(%x), GROUPS
  %beside.1 = f32[1024,1024]{1,0} fusion(%x), kind=kLoop, calls=%fused
  %beside.2 = f32[1024,1024]{1,0} fusion(%beside.1), kind=kLoop, calls=%fused
  %done = f32[1024,1024]{1,0} all-reduce-done(%start)
  %first = (s32[], f32[1024,1024]{1,0}) tuple(%zero, %done)
  %loop = (s32[], f32[1024,1024]{1,0}) while(%first), condition=%condition, body=%body
  %y = f32[1024,1024]{1,0} get-tuple-element(%loop), index=1
  ROOT %either = f32[1024,1024]{1,0} conditional(%pick, %y, %y), BRANCHES
}
"""
GROUPS = "channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=%sum"
BRANCHES = "true_computation=%left, false_computation=%right"


def layer(number: int) -> str:
    """Return the two kernels of one layer."""
    lines = [
        f"  %{name}.{number} = f32[1024,1024]{{1,0}} fusion(%x), kind=kLoop, calls=%fused, "
        f'metadata={{op_name="jit(step)/jvp(layer_{number})/{name}/tanh"}}'
        for name in ("attention", "mlp")
    ]
    return "\n".join(lines)


def text(layers: int = 3, head: str = HEAD) -> str:
    """Return the module."""
    body = TEXT.replace("LAYERS", "\n".join(map(layer, range(layers))))
    return head + body.replace("GROUPS", GROUPS).replace("BRANCHES", BRANCHES)


def parsed(folder: Path, content: str, **side_files: str) -> ParsedModule:
    """Write the module as a GPU dump and read it."""
    name = "module_0001.jit_step"
    (folder / f"{name}.sm_9.0_gpu_after_optimizations.txt").write_text(content)
    for ending, written in side_files.items():
        (folder / f"{name}.{ending}.txt").write_text(written)
    return read_one_module(folder, None, BuildOptions())
