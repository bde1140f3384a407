"""What each framework op became, and which of two modules belong together."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace
from tests.modules import parse_module

from xlareport.analysis.compare.effects import copied_seconds
from xlareport.analysis.compare.given_program import NO_PROGRAM, GivenArgument
from xlareport.analysis.compare.module_facts import Facts
from xlareport.analysis.compare.operations import (
    Operation,
    OperationChange,
    OperationKey,
    align_operations,
    count_kernels,
    key_of,
    list_operations,
)
from xlareport.analysis.cost.fusion_shares import share_fusions
from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.source.scopes import Phase, phase_of
from xlareport.knowledge.devices import nominal_device
from xlareport.pages.compare.operations import what_changed

MODULE = """HloModule jit_f, is_scheduled=true

%fused (p: f32[64,64]) -> f32[64,64] {
  %p = f32[64,64]{1,0} parameter(0)
  %t = f32[64,64]{1,0} tanh(%p), \
metadata={op_name="jit(f)/jvp(layer_1)/tanh" \
source_file="/a/m.py" source_line=4}
  ROOT %e = f32[64,64]{1,0} exponential(%t), \
metadata={op_name="jit(f)/transpose(jvp(layer_2))/exp" \
source_file="/a/m.py" source_line=5}
}

ENTRY %main (a: f32[64,64]) -> f32[64,64] {
  %a = f32[64,64]{1,0} parameter(0)
  %d = f32[64,64]{1,0} dot(%a, %a), lhs_contracting_dims={1}, \
rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/dot_general"}
  %c = f32[64,64]{0,1} copy(%d)
  ROOT %r = f32[64,64]{1,0} fusion(%c), kind=kLoop, calls=%fused
}
"""


def operation(op: str, line: str = "m.py:4", *, scope: str = "", seconds: float = 1.0) -> Operation:
    key = OperationKey(Phase.FORWARD, scope, op, line)
    return Operation(key, seconds, 8, 2, 1, (("add", 1),), (("add", "f32"),))


@pytest.mark.parametrize(
    ("op_name", "op"),
    [
        ("broadcast.53", ""),
        ("jit(f)/add", "add"),
        ("w.1", "w.1"),
        ("jit(f)/dot.2", "dot"),
    ],
)
def test_the_numbers_in_names_that_xla_gives_are_of_no_op(op_name: str, op: str) -> None:
    assert key_of(op_name, "").op == op


def test_operations_of_a_module() -> None:
    module = parse_module(MODULE)
    cost = count_cost(module)
    listed = list_operations(module, cost, share_fusions(module, cost, nominal_device("cpu")))
    found = {
        (each.key.phase, each.key.scope, each.key.op, each.key.line): dict(each.opcodes)
        for each in listed.operations
    }
    (copy,) = listed.unnamed
    assert (copy.opcode, copy.shape, copy.main.op) == ("copy", "f32[64,64]", "dot_general")
    assert copy.is_kernel
    assert found == {
        (Phase.OTHER, "", "dot_general", ""): {"dot": 1, "copy": 1},
        (Phase.FORWARD, "layer_*", "tanh", "m.py:4"): {"tanh": 1},
        (Phase.BACKWARD, "layer_*", "exp", "m.py:5"): {"exponential": 1},
    }
    assert count_kernels(module, cost) == 3
    assert all(each.seconds > 0 for each in listed.operations)


def test_a_product_with_a_folded_transpose_is_a_product() -> None:
    """XLA gives the dot that takes in a transpose the transpose's op_name."""
    module = parse_module(MODULE.replace("jit(f)/dot_general", "jit(f)/transpose"))
    cost = count_cost(module)
    listed = list_operations(module, cost, share_fusions(module, cost, nominal_device("cpu")))
    (product,) = (each for each in listed.operations if dict(each.opcodes).get("dot"))
    assert product.key.op == "dot_general"


def test_phases() -> None:
    again = "jit(f)/transpose(jvp())/checkpoint/rematted_computation/tanh"
    assert phase_of(again) is Phase.RECOMPUTED
    assert phase_of("jit(f)/add") is Phase.OTHER


def test_a_line_that_moved_and_a_scope_that_was_renamed_are_the_same_work() -> None:
    base = [operation("tanh"), operation("exp", scope="mlp")]
    head = [operation("tanh", "m.py:9", seconds=3.0), operation("exp", scope="feed")]
    moved, renamed = align_operations(base, head)
    assert moved.in_both
    assert moved.seconds == 2.0
    assert renamed.in_both
    assert renamed.seconds == 0.0


def test_of_lines_that_one_side_has_more_of_those_with_the_same_opcodes_are_the_same() -> None:
    gone = replace(operation("gather", "a.py:53"), opcodes=(("all-gather", 1),))
    base = [gone, replace(operation("gather", "a.py:54"), opcodes=(("gather", 2),))]
    head = [replace(operation("gather", "b.py:54"), opcodes=(("gather", 2),))]
    for ours, theirs in ((base, head), (head, base)):
        pairs = {
            (change.base and change.base.key.line, change.head and change.head.key.line)
            for change in align_operations(ours, theirs)
        }
        kept = ("a.py:54", "b.py:54") if ours is base else ("b.py:54", "a.py:54")
        assert pairs == {kept, ("a.py:53", None) if ours is base else (None, "a.py:53")}


def test_what_only_one_side_has() -> None:
    changes = align_operations([operation("tanh")], [operation("relu", seconds=5.0)])
    assert [(change.key.op, change.in_both, change.seconds) for change in changes] == [
        ("relu", False, 5.0),
        ("tanh", False, -1.0),
    ]


def test_what_has_no_line_is_counted_in_the_row_of_its_op() -> None:
    """A convert that a pass adds has neither op_name nor line."""
    text = MODULE.replace("%c = f32[64,64]{0,1} copy(%d)", "%c = f32[64,64]{0,1} copy(%d0)")
    text = text.replace("  %c =", "  %d0 = f32[64,64]{1,0} convert(%d)\n  %c =")
    text = text.replace('dot_general"', 'dot_general" source_file="/a/m.py" source_line=7')
    module = parse_module(text)
    cost = count_cost(module)
    shares = share_fusions(module, cost, nominal_device("cpu"))
    operations = list_operations(module, cost, shares).operations
    (dots,) = (each for each in operations if each.key.op == "dot_general")
    assert dots.key.line == "m.py:7"
    assert dict(dots.opcodes) == {"dot": 1, "convert": 1, "copy": 1}


def test_the_opcodes_with_more_or_fewer_instructions_are_named() -> None:
    base, head = operation("tanh"), replace(operation("tanh"), opcodes=(("add", 2),))
    assert list(what_changed(OperationChange(base.key, base, head))) == ["+1 add"]
    less = list(what_changed(OperationChange(base.key, head, base)))
    assert less == ["\N{MINUS SIGN}1 add"]
    many = tuple((name, 2) for name in ("add", "copy", "dot", "log", "tanh"))
    changes = list(what_changed(OperationChange(base.key, base, replace(head, opcodes=many))))
    assert changes == ["+2 copy", "+2 dot", "+2 log", "2 other opcodes"]


def test_fusion_is_another_reason_than_fewer_instructions() -> None:
    """Without fusion nothing is cloned: fewer instructions, more of them outside."""
    base = replace(operation("mul"), kernels=0, opcodes=(("broadcast", 2), ("multiply", 4)))
    head = replace(operation("mul"), kernels=2, opcodes=(("broadcast", 2), ("multiply", 2)))
    changes = list(what_changed(OperationChange(base.key, base, head)))
    outside = "fused differently: 2 instructions outside fusions, not 0"
    assert changes == [outside, "\N{MINUS SIGN}2 multiply"]
    more = replace(base, kernels=1, opcodes=(*base.opcodes, ("copy", 1)))
    assert list(what_changed(OperationChange(base.key, base, more))) == ["+1 copy"]


def test_the_partial_sums_of_a_split_matmul_are_no_other_precision() -> None:
    split = replace(operation("dot"), opcodes=(("dot", 1), ("reduce", 1)), types=(("dot", "f32"),))
    whole = replace(operation("dot"), opcodes=(("dot", 1),), types=(("dot", "bf16"),))
    changes = list(what_changed(OperationChange(split.key, split, whole)))
    assert changes == ["\N{MINUS SIGN}1 reduce"]


def test_one_instruction_outside_fusions_is_one() -> None:
    base, head = replace(operation("tanh"), kernels=0), replace(operation("tanh"), kernels=1)
    changes = list(what_changed(OperationChange(base.key, base, head)))
    assert changes == ["fused differently: 1 instruction outside fusions, not 0"]


def test_a_type_is_another_where_like_instructions_agree() -> None:
    """How often instructions are cloned into fusions says nothing on their types."""

    def typed(*types: tuple[str, str]) -> Operation:
        return replace(operation("mul"), types=types)

    def changes(base: Operation, head: Operation) -> list[str]:
        return list(what_changed(OperationChange(base.key, base, head)))

    narrow, wide = ("multiply", "bf16"), ("multiply", "f32")
    both = typed(narrow, wide)
    assert changes(both, replace(both, opcodes=(("add", 2),))) == ["+1 add"]
    assert changes(typed(narrow), typed(wide)) == ["upcast to f32 instead of bf16"]
    counted = replace(both, opcodes=(("multiply", 2),))
    partly = "all in bf16, before partly f32"
    assert changes(counted, replace(counted, types=(narrow,))) == [partly]
    gone = replace(counted, types=(narrow,), opcodes=(("multiply", 1),))
    assert changes(counted, gone) == ["\N{MINUS SIGN}1 multiply"]
    assert changes(typed(wide, ("convert", "f32")), typed(narrow)) == ["in bf16 instead of f32"]
    assert changes(typed(narrow, ("add", "f32")), typed(wide, ("add", "bf16"))) == []


def test_a_copy_of_an_argument_has_its_name_and_the_time_of_a_donation() -> None:
    base = """HloModule jit_step, is_scheduled=true

ENTRY %main (k: f32[1024,1024], x: f32[8]) -> f32[1024,1024] {
  %k = f32[1024,1024]{1,0} parameter(0), metadata={op_name="cache['k']"}
  %x = f32[8]{0} parameter(1), metadata={op_name="x"}
  ROOT %t = f32[1024,1024]{1,0} tanh(%k), metadata={op_name="jit(step)/tanh"}
}
"""
    copies = "  %copy.1 = f32[1024,1024]{1,0} copy(%k)\n  %copy.2 = f32[8]{0} copy(%x)\n"
    both = "(f32[1024,1024]{1,0}, f32[8]{0})"
    head = base.replace("  ROOT %t", f"{copies}  %t").replace(
        "\n}", f"\n  ROOT %out = {both} tuple(%copy.1, %copy.2)\n}}"
    )
    sides = []
    for text, donated in ((base, True), (head, False)):
        module = parse_module(text)
        cost, device = count_cost(module), nominal_device("gpu")
        operations = list_operations(module, cost, share_fusions(module, cost, device)).operations
        given = (GivenArgument("cache['k']", "f32", (1024, 1024), donated, "", None),)
        program = replace(NO_PROGRAM, arguments=given)
        sides.append(SimpleNamespace(facts=Facts(program=program, operations=operations)))
    seconds = {operation.key.op: operation.seconds for operation in sides[1].facts.operations}
    assert {*seconds} == {"copy of cache['k']", "copy of x", "tanh"}
    comparison = cast("Any", SimpleNamespace(sides=sides))
    assert copied_seconds(comparison) == seconds["copy of cache['k']"] > 0


def test_sums_that_differ_in_their_rounding_alone_are_no_change_of_time() -> None:
    base, head = operation("add", seconds=0.1 + 0.2), operation("add", seconds=0.3)
    assert base.seconds != head.seconds
    assert OperationChange(base.key, base, head).seconds == 0.0
    assert OperationChange(base.key, base, operation("add")).seconds == pytest.approx(0.7)


UNNAMED = """HloModule jit_f, is_scheduled=true

%fused (p: f32[64,64]) -> f32[64,64] {
  %p = f32[64,64]{1,0} parameter(0)
  ROOT %t = f32[64,64]{0,1} transpose(%p), dimensions={1,0}
}

ENTRY %main (a: f32[64,64]) -> (f32[64,64], f32[64,64], f32[64,64], f32[64,64]) {
  %a = f32[64,64]{1,0} parameter(0)
  %b = f32[64,64]{1,0} parameter(1)
  %c = f32[64,64]{0,1} copy(%a)
  %g = f32[64,64]{1,0} collective-permute(%a), source_target_pairs={{0,1},{1,0}}
  %f = f32[64,64]{0,1} fusion(%a), kind=kLoop, calls=%fused
  %n = f32[64,64]{1,0} negate(%a)
  %e = f32[64,64]{1,0} exponential(%b), metadata={op_name="jit(f)/exp"}
  ROOT %r = (f32[64,64], f32[64,64], f32[64,64], f32[64,64], f32[64,64]) tuple(%c, %g, %f, %n, %e)
}
"""


def test_what_passes_insert_without_an_op_name_is_told_from_what_is_not_known() -> None:
    def ops(text: str) -> set[str]:
        module = parse_module(text)
        cost = count_cost(module)
        shares = share_fusions(module, cost, nominal_device("cpu"))
        return {each.key.op for each in list_operations(module, cost, shares).operations}

    made = {"copies", "collectives", "transposes and reshapes"}
    assert ops(UNNAMED) == {"exp", "", *(f"made by XLA: {kind}" for kind in made)}
    # Without any op_name in the module, its absence says nothing of where an instruction is from.
    assert ops(UNNAMED.replace(', metadata={op_name="jit(f)/exp"}', "")) == {""}
