from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.sides.graph import CallSites, Graph
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

FUSED = """
%fused (p: f32[8], q: f32[8]) -> (f32[8], f32[8]) {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %sum = f32[8]{0} add(%p, %q)
  ROOT %pair = (f32[8]{0}, f32[8]{0}) tuple(%sum, %q)
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %fusion = (f32[8]{0}, f32[8]{0}) fusion(%a, %b), kind=kLoop, calls=%fused
  %first = f32[8]{0} get-tuple-element(%fusion), index=0
  ROOT %out = f32[8]{0} multiply(%first, %fusion#1)
}
"""


def graph(module: HloModule, opened: set[str]) -> Graph:
    differing = {computation.name: computation for computation in module.computations}
    made = Graph(module, differing, opened, CallSites(module), 1000)
    made.build({name: number for number, name in enumerate(differing)}, {})
    return made


def operands(made: Graph, computation: str, name: str) -> list[str]:
    frame = next(one for one in made.frames if one.computation.name == computation)
    node = frame.node(frame.computation.by_name[name])
    return [one.instruction.name for one, _ in made.operands(node)]


def test_a_fusion_is_seen_through_both_ways(read: Read) -> None:
    made = graph(read(FUSED), {"fused"})
    assert operands(made, "main", "out") == ["sum", "b"]
    assert operands(made, "fused", "sum") == ["a", "b"]


def test_a_closed_fusion_keeps_its_elements(read: Read) -> None:
    made = graph(read(FUSED), set())
    assert operands(made, "main", "out") == ["fusion", "fusion"]
    assert operands(made, "fused", "sum") == ["p", "q"]


def test_calls_of_one_computation_are_counted(read: Read) -> None:
    sites = CallSites(read(FUSED))
    assert sites.transparent("fused") == 1
    assert sites.transparent("main") == 0


def test_a_computation_used_by_a_reduction_is_not_seen_through(read: Read) -> None:
    sites = CallSites(
        read("""
%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

ENTRY %main (a: f32[8], z: f32[]) -> f32[] {
  %a = f32[8]{0} parameter(0)
  %z = f32[] parameter(1)
  ROOT %r = f32[] reduce(%a, %z), dimensions={0}, to_apply=%add
}
""")
    )
    assert sites.transparent("add") == 0


def test_a_chain_of_operands_without_end_is_left(read: Read) -> None:
    made = graph(
        read("""
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %x = f32[8]{0} get-tuple-element(%y), index=0
  %y = f32[8]{0} get-tuple-element(%x), index=0
  ROOT %out = f32[8]{0} negate(%x)
}
"""),
        set(),
    )
    assert len(operands(made, "main", "out")) == 1


_CALLED = """HloModule m

%g (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %s = f32[8]{0} sine(%a)
  ROOT %max.1 = f32[8]{0} maximum(%s, %a)
}

%f (b: f32[8]) -> pred[8] {
  %b = f32[8]{0} parameter(0)
  %call.g = f32[8]{0} call(%b), to_apply=%g
  ROOT %lt.3 = pred[8]{0} compare(%call.g, %b), direction=LT
}

%h (c: f32[8], d: f32[8]) -> f32[8] {
  %c = f32[8]{0} parameter(0)
  %d = f32[8]{0} parameter(1)
  %call.8 = pred[8]{0} call(%c), to_apply=%f
  %call.9 = pred[8]{0} call(%d), to_apply=%f
  %sel = f32[8]{0} select(%call.8, %c, %d)
  ROOT %sel.2 = f32[8]{0} select(%call.9, %sel, %d)
}

ENTRY %main (x: f32[8], y: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %call.h = f32[8]{0} call(%x, %y), to_apply=%h
  ROOT %out = f32[8]{0} negate(%call.h)
}
"""
_INLINED = """HloModule m

%f (b: f32[8]) -> pred[8] {
  %b = f32[8]{0} parameter(0)
  %s.1 = f32[8]{0} sine(%b)
  %max.3 = f32[8]{0} maximum(%s.1, %b)
  ROOT %lt.3 = pred[8]{0} compare(%max.3, %b), direction=LT
}

ENTRY %main (x: f32[8], y: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %call.0 = pred[8]{0} call(%x), to_apply=%f
  %call.1 = pred[8]{0} call(%y), to_apply=%f
  %sel.5 = f32[8]{0} select(%call.0, %x, %y)
  %sel.7 = f32[8]{0} select(%call.1, %sel.5, %y)
  ROOT %out = f32[8]{0} negate(%sel.7)
}
"""


def test_a_call_in_an_inlined_computation_stays_if_its_callee_is_called_as_often(
    read: Read,
) -> None:
    matching = match(read(_CALLED), read(_INLINED))
    for old, new in (("call.8", "call.0"), ("call.9", "call.1"), ("sel", "sel.5")):
        assert matching.partner_after(Place("h", old)) == Place("main", new)
    assert matching.partner_after(Place("f", "lt.3")) == Place("f", "lt.3")
