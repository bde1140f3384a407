"""Copies of closed computations, and copies that were merged."""

from tests.modules import parse_module

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step

_ADD = """{name} {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}

"""
_ENTRY = """ENTRY e {{
  x = f32[4,4] parameter(0)
  z = f32[] constant(0)
  r = f32[4] reduce(x, z), dimensions={{1}}, to_apply={first}
  q = f32[4] reduce(x, z), dimensions={{0}}, to_apply={second}
  ROOT t = (f32[4], f32[4]) tuple(r, q)
}}
"""


def text(first: str, second: str) -> str:
    added = "".join(_ADD.format(name=name) for name in dict.fromkeys((first, second)))
    return f"HloModule m\n\n{added}{_ENTRY.format(first=first, second=second)}"


def kinds(before: str, after: str) -> set[Kind]:
    made = step(parse_module(before), parse_module(after), "`p`")
    return {group.kind for group in made.groups}


def test_a_computation_that_another_call_has_now_was_cloned() -> None:
    assert kinds(text("add", "add"), text("add", "add.clone")) == {Kind.COPIED}


def test_copies_that_became_one_were_merged() -> None:
    assert kinds(text("add", "add.clone"), text("add", "add")) == {Kind.UNIFIED}


def test_other_contents_are_no_copy() -> None:
    beginning, entry = text("add", "add.clone").split("ENTRY")
    before, after = beginning.rsplit("add(a, b)", 1)
    changed = f"{before}maximum(a, b){after}ENTRY{entry}"
    assert Kind.COPIED not in kinds(text("add", "add"), changed)


def test_a_copy_that_nothing_calls_is_known_by_its_name_alone() -> None:
    copy = _ADD.format(name="add.clone")
    uncalled = text("add", "add").replace("HloModule m\n\n", f"HloModule m\n\n{copy}")
    assert kinds(text("add", "add"), uncalled) == {Kind.LEFTOVER}
