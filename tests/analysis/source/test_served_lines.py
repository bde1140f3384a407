"""The line of the op that an instruction without a line works for."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.source.served_lines import ServedLines
from xlareport.analysis.source.served_ops import serve_ops

DOT = 'op_name="jit(f)/dot_general" source_file="/a/m.py" source_line='
SCATTER = 'op_name="jit(f)/scatter-add" source_file="/a/m.py" source_line='
MODULE = f"""HloModule m, is_scheduled=true, num_partitions=2

%add (p: f32[], q: f32[]) -> f32[] {{
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] add(%p, %q)
}}

%async (i: f32[8]) -> f32[4] {{
  %i = f32[8]{{0}} parameter(0)
  ROOT %scatter = f32[4]{{0}} reduce-scatter(%i), channel_id=1, replica_groups={{{{0,1}}}}, \
dimensions={{0}}, to_apply=%add
}}

ENTRY %main (x: f32[8], y: f32[4]) -> f32[8] {{
  %x = f32[8]{{0}} parameter(0)
  %y = f32[4]{{0}} parameter(1)
  %far = f32[8]{{0}} negate(%x), metadata={{{DOT}38}}
  %v = f32[8]{{0}} negate(%far), metadata={{{DOT}40}}
  %b = f32[8]{{0}} bitcast(%v)
  %start = ((f32[8]{{0}}), f32[4]{{0}}) async-start(%b), calls=%async
  %done = f32[4]{{0}} async-done(%start)
  %other = f32[8]{{0}} negate(%done), metadata={{{SCATTER}41}}
  %w = f32[4]{{0}} negate(%y), metadata={{{SCATTER}37}}
  %both = (f32[8]{{0}}, f32[4]{{0}}) all-reduce(%v, %w), channel_id=2, \
replica_groups={{{{0,1}}}}, to_apply=%add, metadata={{{SCATTER}37}}
  %two = (f32[8]{{0}}, f32[8]{{0}}) all-reduce(%v, %far), channel_id=3, \
replica_groups={{{{0,1}}}}, to_apply=%add
  %before = f32[4]{{0}} copy(%y)
  ROOT %last = f32[8]{{0}} add(%before, %v), metadata={{{SCATTER}44}}
}}
"""


@pytest.mark.parametrize(
    ("computation", "name", "lines"),
    [
        pytest.param("main", "v", ["m.py:40"], id="its own"),
        pytest.param("main", "start", ["m.py:40"], id="nearest operand"),
        pytest.param("async", "scatter", ["m.py:40"], id="operand outside of what is called"),
        pytest.param("main", "before", ["m.py:44"], id="user"),
        pytest.param("main", "both", ["m.py:40", "m.py:37"], id="each member of what was combined"),
        pytest.param("main", "two", [""], id="members of several lines"),
    ],
)
def test_an_instruction_has_the_line_of_its_op(
    computation: str, name: str, lines: list[str]
) -> None:
    module = parse_module(MODULE)
    ops = serve_ops(module)[computation, name]
    home, served = module.by_name[computation], ServedLines(module)
    assert [served.of(home, home.by_name[name], op, ops) for op, _ in ops] == lines


def test_an_op_that_nothing_beside_has_is_on_no_line() -> None:
    module = parse_module(MODULE)
    home = module.by_name["main"]
    copy = home.by_name["before"]
    assert ServedLines(module).of(home, copy, "jit(f)/tanh", (("jit(f)/tanh", 1.0),)) == ""


def test_the_nearest_of_many_operands_are_looked_at_first() -> None:
    chain = "\n".join(f"  %n{number} = f32[4]{{0}} copy(%n{number - 1})" for number in range(1, 80))
    text = f"""HloModule m, is_scheduled=true

ENTRY %main (x: f32[4]) -> (f32[4], f32[4]) {{
  %n0 = f32[4]{{0}} parameter(0)
{chain}
  %near = f32[4]{{0}} negate(%n0), metadata={{{DOT}40}}
  ROOT %both = (f32[4]{{0}}, f32[4]{{0}}) tuple(%near, %n79)
}}
"""
    module = parse_module(text)
    home = module.by_name["main"]
    line = ServedLines(module).of(
        home, home.by_name["both"], "jit(f)/dot_general", (("jit(f)/dot_general", 1.0),)
    )
    assert line == "m.py:40"


MERGED = """HloModule m, is_scheduled=true, num_partitions=2

ENTRY %main (x: f32[8], y: f32[4]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %y = f32[4]{0} parameter(1)
  %s = ((f32[8]{0}, f32[4]{0}), (f32[16]{0}, f32[8]{0})) all-gather-start(%x, %y), channel_id=1, \
replica_groups={{0,1}}, dimensions={0}, metadata={op_name="jit(f)/(top_k:gather)" \
source_file="/a/m.py" source_line=50}
  %d = (f32[16]{0}, f32[8]{0}) all-gather-done(%s), metadata={op_name="jit(f)/(top_k:gather)" \
source_file="/a/m.py" source_line=50}
  %g = f32[8]{0} get-tuple-element(%d), index=1
  ROOT %n = f32[8]{0} negate(%g), metadata={op_name="jit(f)/gather" source_file="/a/m.py" \
source_line=53}
}
"""


def test_the_line_of_several_ops_is_not_that_of_each() -> None:
    """The end of a combined collective has the op_names of all members, and the line of one."""
    module = parse_module(MERGED)
    home = module.by_name["main"]
    ops = (("jit(f)/top_k", 0.5), ("jit(f)/gather", 0.5))
    lines = ServedLines(module)
    assert lines.of(home, home.by_name["s"], "jit(f)/gather", ops) == "m.py:53"
