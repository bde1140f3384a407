"""Differences of two snapshots of ranks: which attribute, and of which kind."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.ranks.instructions import InstructionDifference, list_differences

TEXT = """HloModule m, entry_computation_layout={(f32[8]{0})->f32[8]{0}}

%sum (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] add(%p, %q)
}

%fused (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%a)
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %half = f32[] constant(0.5)
  %rank = s32[] constant(3)
  %wide = f32[8]{0} broadcast(%half), dimensions={}
  %f = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused
  %both = f32[8]{0} add(%wide, %f), metadata={op_name="jit(f)/add"}
  %call = f32[8]{0} custom-call(%both, %rank), custom_call_target="x", backend_config="{1}"
  ROOT %all = f32[8]{0} all-reduce(%call), channel_id=1, replica_groups={{0,1}}, to_apply=%sum
}
"""


def differences(*replacements: tuple[str, str]) -> list[InstructionDifference]:
    text = TEXT
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return list(list_differences(parse_module(TEXT), parse_module(text)))


@pytest.mark.parametrize(
    ("old", "new", "kind", "attribute"),
    [
        ("constant(0.5)", "constant(0.25)", "floats", "value"),
        ("constant(3)", "constant(4)", "constants", "value"),
        ("jit(f)/add", "jit(g)/add", "metadata", "metadata"),
        ("channel_id=1", "channel_id=7", "ids", "channel_id"),
        ("kind=kLoop", "kind=kInput", "fusion", "kind"),
        ("replica_groups={{0,1}}", "replica_groups={{1,0}}", "structure", "replica_groups"),
        ('backend_config="{1}"', 'backend_config="{2}"', "ids", "backend_config"),
        ('backend_config="{1}"', 'backend_config="{a}"', "autotuning", "backend_config"),
        ('target="x"', 'target="y"', "structure", "custom_call_target"),
        ('target="x"', 'target="__cublas$gemm"', "autotuning", "custom_call_target"),
        ("%wide = f32[8]{0}", "%wide = f32[8]{0:T(8)}", "layout", "layout"),
        ("->f32[8]{0}}", "->f32[8]{0:T(8)}}", "layout", "entry_computation_layout"),
        ("%half", "%other", "names", "name"),
        ("negate(%a)", "abs(%a)", "fusion", "opcode"),
        ("add(%p, %q)", "multiply(%p, %q)", "structure", "opcode"),
    ],
)
def test_a_difference_has_its_kind_and_attribute(
    old: str, new: str, kind: str, attribute: str
) -> None:
    (difference,) = differences((old, new))
    assert (difference.kind, difference.attribute) == (kind, attribute)


def test_equal_modules_have_no_differences() -> None:
    assert differences() == []


def test_names_are_followed_to_what_reads_them() -> None:
    kinds = [(it.kind, it.attribute) for it in differences(("%fused", "%other"))]
    assert kinds == [("names", "calls")]


def test_operands_in_another_order_are_another_structure() -> None:
    (difference,) = differences(("add(%wide, %f)", "add(%f, %wide)"))
    assert (difference.kind, difference.attribute) == ("structure", "operands")
    assert (difference.value, difference.other_value) == ("wide, f", "f, wide")


def test_the_same_instructions_in_another_order_are_an_order() -> None:
    half, rank = "  %half = f32[] constant(0.5)\n", "  %rank = s32[] constant(3)\n"
    (difference,) = differences((half + rank, rank + half))
    assert (difference.kind, difference.computation) == ("order", "main")


def test_an_instruction_more_is_named_by_the_side_that_has_it() -> None:
    (difference,) = differences(
        (
            "  ROOT %s = f32[] add(%p, %q)\n",
            "  %s = f32[] add(%p, %q)\n  ROOT %t = f32[] negate(%s)\n",
        )
    )
    assert difference.kind == "structure"
    assert (difference.computation, difference.attribute) == ("sum", "ROOT")


def test_a_channel_that_stands_for_two_is_another_structure() -> None:
    called = "all-reduce(%call), channel_id=2, replica_groups={{0,1}}, to_apply=%sum"
    again = f"  %first = f32[8]{{0}} {called}\n"
    base = TEXT.replace("  ROOT %all", f"{again}  ROOT %all")
    other = base.replace("channel_id=2", "channel_id=9").replace("channel_id=1", "channel_id=9")
    kinds = [it.kind for it in list_differences(parse_module(base), parse_module(other))]
    assert kinds == ["ids", "structure"]


def test_a_constant_that_only_callbacks_read_is_an_id() -> None:
    named = 'custom_call_target="xla_python_cpu_callback"'
    base = TEXT.replace('custom_call_target="x"', named)
    other = base.replace("constant(3)", "constant(4)")
    (difference,) = list_differences(parse_module(base), parse_module(other))
    assert difference.kind == "ids"


def test_differences_come_in_the_order_of_the_computations() -> None:
    changed = differences(("constant(0.5)", "constant(1.5)"), ("add(%p, %q)", "subtract(%p, %q)"))
    assert [difference.computation for difference in changed] == ["sum", "main"]
