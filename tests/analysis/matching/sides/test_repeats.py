from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.repeats import most_repeated, without_repeats
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

EMPTY = "HloModule m\nENTRY %main (x: f32[8]) -> f32[8] {\n  ROOT %x = f32[8]{0} parameter(0)\n}\n"
REPEATED = """
HloModule m
%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %sine.1 = f32[8]{0} sine(%p)
  ROOT %add.1 = f32[8]{0} add(%sine.1, %p)
}
ENTRY %main (x: f32[8]) -> (f32[8], f32[8], f32[8]) {
  %x = f32[8]{0} parameter(0)
  %sine.2 = f32[8]{0} sine(%x)
  %add.2 = f32[8]{0} add(%x, %sine.2)
  %fusion = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused
  %draw.1 = f32[8]{0} custom-call(%x), custom_call_target="draw"
  %draw.2 = f32[8]{0} custom-call(%x), custom_call_target="draw"
  ROOT %out = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%add.2, %fusion, %draw.1)
}
"""


def named(nodes: list[Node]) -> dict[str, Node]:
    return {node.instruction.name: node for node in nodes}


def test_one_side_alone_tells_what_computes_the_same(read: Read) -> None:
    side = start(read(EMPTY), read(REPEATED)).after
    nodes, values = named(side.nodes), side.own_values
    assert values[nodes["sine.1"]] == values[nodes["sine.2"]]
    assert values[nodes["add.1"]] == values[nodes["add.2"]]
    assert values[nodes["draw.1"]] != values[nodes["draw.2"]]
    both = [nodes["sine.1"], nodes["sine.2"]]
    assert without_repeats(both, values, {None: 1}) == both[:1]
    assert without_repeats(both, values, most_repeated(both, values)) == both


BEFORE = """
HloModule m
ENTRY %main (x: f32[8,8], y: f32[8,8]) -> (f32[8,8], f32[8,8], f32[8,8], f32[8,8]) {
  %x = f32[8,8]{1,0} parameter(0)
  %y = f32[8,8]{1,0} parameter(1)
  %slice = f32[8,1]{1,0} slice(%y), slice={[0:8], [2:3]}
  %flat.1 = f32[8]{0} reshape(%slice)
  %flat.2 = f32[8]{0} reshape(%slice)
  %sine = f32[8]{0} sine(%flat.1)
  %wide.1 = f32[8,8]{1,0} broadcast(%sine), dimensions={0}
  %cosine = f32[8]{0} cosine(%flat.2)
  %wide.2 = f32[8,8]{1,0} broadcast(%cosine), dimensions={0}
  %add = f32[8,8]{1,0} add(%wide.1, %x)
  %sub = f32[8,8]{1,0} subtract(%wide.1, %x)
  %mul = f32[8,8]{1,0} multiply(%wide.2, %x)
  %max = f32[8,8]{1,0} maximum(%wide.2, %x)
  ROOT %out = (f32[8,8]{1,0}, f32[8,8]{1,0}, f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%add, %sub, %mul, %max)
}
"""  # noqa: E501 - as XLA prints it


def test_what_fusions_copy_is_told_as_copies(read: Read) -> None:
    """Each fusion has the whole chain; two of them go on for equal instructions of two names."""

    def fused(name: str, inner: str, opcode: str) -> str:
        return f"""
%fused_{name} (p0: f32[8,8], p1: f32[8,8]) -> f32[8,8] {{
  %p0 = f32[8,8]{{1,0}} parameter(0)
  %p1 = f32[8,8]{{1,0}} parameter(1)
  %slice.{name} = f32[8,1]{{1,0}} slice(%p1), slice={{[0:8], [2:3]}}
  %bitcast.{name} = f32[8]{{0}} bitcast(%slice.{name})
  %{inner}.{name} = f32[8]{{0}} {inner}(%bitcast.{name})
  %wide.{name} = f32[8,8]{{1,0}} broadcast(%{inner}.{name}), dimensions={{0}}
  ROOT %{opcode}.{name} = f32[8,8]{{1,0}} {opcode}(%wide.{name}, %p0)
}}
"""

    chains = [("a", "sine", "add"), ("b", "sine", "subtract")]
    chains += [("c", "cosine", "multiply"), ("d", "cosine", "maximum")]
    calls = "".join(
        f"  %f.{name} = f32[8,8]{{1,0}} fusion(%x, %y), kind=kLoop, calls=%fused_{name}\n"
        for name, _, _ in chains
    )
    after = f"""
HloModule m
{"".join(fused(*chain) for chain in chains)}
ENTRY %main (x: f32[8,8], y: f32[8,8]) -> (f32[8,8], f32[8,8], f32[8,8], f32[8,8]) {{
  %x = f32[8,8]{{1,0}} parameter(0)
  %y = f32[8,8]{{1,0}} parameter(1)
{calls}  ROOT %out = (f32[8,8]{{1,0}}, f32[8,8]{{1,0}}, f32[8,8]{{1,0}}, f32[8,8]{{1,0}}) tuple(%f.a, %f.b, %f.c, %f.d)
}}
"""  # noqa: E501 - as XLA prints it
    matching = match(read(BEFORE), read(after))
    for name, inner, _ in chains:
        claim = matching.pairing_after(Place(f"fused_{name}", f"{inner}.{name}"))
        assert claim is not None
        assert claim.before == (Place("main", inner),)
        assert claim.grade is not Grade.EXACT
