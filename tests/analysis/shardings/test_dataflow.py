"""Where a value of a partitioned module comes from."""

from tests.modules import parse_module

from xlareport.analysis.shardings.dataflow import DataFlow, LocatedInstruction

TEXT = """HloModule m

fused {
  q = f32[8,4] parameter(0)
  s = f32[4,4] slice(q), slice={[0:4],[0:4]}
  ROOT d = f32[4,4] add(s, s)
}

moving {
  q = f32[4,8] parameter(0)
  ROOT t = f32[8,4] transpose(q), dimensions={1,0}
}

ENTRY e {
  p = f32[4,4] parameter(0)
  g = f32[8,4] all-gather(p), dimensions={0}, replica_groups={{0,1}}
  r = f32[4,8] reshape(g)
  c = f32[4,8] copy(r)
  b = f32[8,4] fusion(c), kind=kLoop, calls=moving
  k = f32[8,4] copy(b)
  ROOT f = f32[4,4] fusion(k), kind=kLoop, calls=fused
}
"""
FLOW = DataFlow(parse_module(TEXT))


def at(computation: str, name: str) -> LocatedInstruction:
    home = FLOW.module.by_name[computation]
    return home, home.by_name[name]


def test_a_parameter_of_a_fusion_leads_to_its_operand() -> None:
    made = FLOW.operand(at("fused", "s"), 0)
    assert made == at("e", "k")
    assert FLOW.operand(at("fused", "s"), 1) is None


def test_moves_are_followed_and_copies_only_where_wanted() -> None:
    assert FLOW.through_moves(at("e", "r")) == at("e", "g")
    assert FLOW.through_moves(at("e", "c")) == at("e", "c")
    assert FLOW.through_moves(at("e", "c"), copies=True) == at("e", "g")


def test_behind_copies_a_fusion_that_only_moves_is_followed() -> None:
    assert FLOW.through_moves(at("e", "k"), copies=True) == at("e", "g")
    assert FLOW.through_moves(at("e", "f"), copies=True) == at("fused", "d")


def test_a_value_depends_on_what_is_inside_of_fusions_too() -> None:
    assert FLOW.depends_on(at("e", "f"), "all-gather")
    assert FLOW.depends_on(at("e", "f"), "slice")
    assert not FLOW.depends_on(at("e", "r"), "slice")


def test_a_circle_of_moves_ends() -> None:
    circle = parse_module(
        "HloModule m\n\nENTRY e {\n  a = f32[2] reshape(b)\n  ROOT b = f32[2] reshape(a)\n}\n"
    )
    assert circle.entry is not None
    end = DataFlow(circle).through_moves((circle.entry, circle.entry.by_name["a"]))
    assert end[1].name in {"a", "b"}
