"""Work that a pass moved into a loop is known by opcode, dimensions and op_name."""

from types import SimpleNamespace
from typing import Any

from tests.modules import parse_module

from xlareport.analysis.findings.sunk import find_sunk
from xlareport.snapshots import PassStep

LOOP = """HloModule m

cond {{
  s = (f32[4], f32[4,4]) parameter(0)
  ROOT p = pred[] constant(true)
}}

body {{
  s = (f32[4], f32[4,4]) parameter(0)
  v = f32[4] get-tuple-element(s), index=0
  w = f32[4,4] {work}
  ROOT r = (f32[4], f32[4,4]) tuple(v, w)
}}

ENTRY e {{
  v = f32[4] parameter(0)
  w = f32[4,4] broadcast(v), dimensions={{0}}, metadata={{op_name="jit(f)/repeat"}}
  t = (f32[4], f32[4,4]) tuple(v, w)
  ROOT loop = (f32[4], f32[4,4]) while(t), condition=cond, body=body
}}
"""
REPEATED = 'broadcast(v), dimensions={0}, metadata={op_name="jit(f)/repeat"}'


def snapshot(work: str, after: str, number: int) -> Any:
    stage = SimpleNamespace(name="pass", after=after, sequence=number, key=f"{number:04d}")
    return SimpleNamespace(hlo=parse_module(LOOP.format(work=work)), stage=stage)


def test_work_is_sunk_by_the_step_since_which_the_body_has_it() -> None:
    before = snapshot("get-tuple-element(s), index=1", "dce", 6)
    after = snapshot(REPEATED, "while-loop-fusible-sinking", 7)
    step = PassStep("while-loop-fusible-sinking", "0007")
    assert find_sunk([before, after]) == {("broadcast", (4, 4), "jit(f)/repeat"): step}
    assert find_sunk([before, snapshot(REPEATED, "dce", 7)]) == {}
