"""What was folded into constants, and what only went with it."""

from collections.abc import Callable

import pytest

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


def _module(lines: str) -> str:
    return (
        "HloModule m\n\nENTRY %main (a: f32[8]) -> f32[8] {\n  %a = f32[8]{0} parameter(0)\n"
        f"{lines}  ROOT %out = f32[8]{{0}} add(%a, %wide)\n}}\n"
    )


_BEFORE = _module(
    "  %two = f32[] constant(2)\n  %three = f32[] constant(3)\n"
    "  %six = f32[] multiply(%two, %three)\n"
    "  %wide = f32[8]{0} broadcast(%six), dimensions={}\n"
)
_AFTER = _module(
    "  %constant.9 = f32[] constant(6)\n  %wide = f32[8]{0} broadcast(%constant.9), dimensions={}\n"
)


def _kinds(read: Read, before: str, after: str) -> dict[str, Kind]:
    changes = step(read(before), read(after)).changes
    return {change.before.instruction: change.kind for change in changes if change.before}


def test_operands_of_what_was_folded_are_dead(read: Read) -> None:
    kinds = _kinds(read, _BEFORE, _AFTER)
    assert kinds["six"] is Kind.FOLDED
    assert kinds["two"] is kinds["three"] is Kind.DEAD


def test_a_constant_whose_user_reads_another_was_not_folded(read: Read) -> None:
    before = _module(
        "  %two = f32[] constant(2)\n  %wide = f32[8]{0} broadcast(%two), dimensions={}\n"
    )
    assert _kinds(read, before, _AFTER).get("two") not in (Kind.DEAD, Kind.FOLDED)


_SUM_OF_CONSTANTS = """
HloModule m

ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %one = f32[] constant(1), metadata={op_name="jit(f)"}
  %zero = f32[1]{0} constant({0})
  %ones = f32[1]{0} constant({1})
  %sub.1 = f32[1]{0} subtract(%ones, %zero), metadata={op_name="jit(f)/sub"}
  %reshape.1 = f32[] reshape(%sub.1), metadata={op_name="jit(f)/mul"}
  %mul.1 = f32[8]{0} broadcast(%reshape.1), dimensions={}
  %mul.2 = f32[8]{0} broadcast(%one), dimensions={}
  %x = f32[8]{0} multiply(%a, %mul.1)
  %y = f32[8]{0} add(%a, %mul.2)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%x, %y)
}
"""
_ONE_CONSTANT = (
    _SUM_OF_CONSTANTS.replace(
        '%reshape.1 = f32[] reshape(%sub.1), metadata={op_name="jit(f)/mul"}',
        '%constant.9 = f32[] constant(1), metadata={op_name="jit(f)/mul"}',
    )
    .replace("broadcast(%reshape.1)", "broadcast(%constant.9)")
    .replace('  %sub.1 = f32[1]{0} subtract(%ones, %zero), metadata={op_name="jit(f)/sub"}\n', "")
    .replace('  %one = f32[] constant(1), metadata={op_name="jit(f)"}\n', "")
    .replace("  %mul.2 = f32[8]{0} broadcast(%one), dimensions={}\n", "")
    .replace("add(%a, %mul.2)", "add(%a, %a)")
    .replace("  %zero = f32[1]{0} constant({0})\n  %ones = f32[1]{0} constant({1})\n", "")
)


def test_an_equal_constant_of_another_framework_op_is_not_what_was_folded(read: Read) -> None:
    made = step(read(_SUM_OF_CONSTANTS), read(_ONE_CONSTANT), "`constant_folding`")
    folded = {
        change.before.instruction
        for change in made.changes
        if change.kind is Kind.FOLDED and change.before
    }
    assert folded == {"sub.1", "reshape.1"}


_PRODUCT = """
%held (p0: f32[], p1: f32[]) -> f32[] {
  %p0 = f32[] parameter(0)
  %p1 = f32[] parameter(1)
  ROOT %product = f32[] multiply(%p0, %p1)
}
"""


@pytest.mark.parametrize(
    "held",
    ["fusion(%two, %three), kind=kLoop, calls=%held", "call(%two, %three), to_apply=%held"],
)
def test_a_fusion_or_call_of_constants_is_folded(read: Read, held: str) -> None:
    before = _BEFORE.replace("multiply(%two, %three)", held).replace("HloModule m\n", "")
    kinds = _kinds(read, _PRODUCT + before, _AFTER)
    assert kinds["six"] is kinds["product"] is Kind.FOLDED
    assert kinds["two"] is kinds["three"] is Kind.DEAD


_CONSTANT_ARGUMENT = """
%held (p0: f32[8], p1: f32[]) -> f32[8] {
  %p0 = f32[8]{0} parameter(0)
  %p1 = f32[] parameter(1)
  %four = f32[] constant(4)
  %product = f32[] multiply(%p1, %four)
  %wide = f32[8]{0} broadcast(%product), dimensions={}
  ROOT %sum = f32[8]{0} add(%p0, %wide)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %two = f32[] constant(2)
  ROOT %out = f32[8]{0} HOLDER
}
"""
_NO_ARGUMENT = (
    _CONSTANT_ARGUMENT.replace("p0: f32[8], p1: f32[]", "p0: f32[8]")
    .replace("  %p1 = f32[] parameter(1)\n  %four = f32[] constant(4)\n", "")
    .replace("multiply(%p1, %four)", "constant(8)")
    .replace("%product", "%eight")
    .replace("  %two = f32[] constant(2)\n", "")
)


@pytest.mark.parametrize(
    "holder", ["fusion(%a), kind=kLoop, calls=%held", "call(%a), to_apply=%held"]
)
def test_a_constant_argument_is_folded_where_it_is_used(read: Read, holder: str) -> None:
    before = _CONSTANT_ARGUMENT.replace("HOLDER", holder.replace("%a", "%a, %two"))
    kinds = _kinds(read, before, _NO_ARGUMENT.replace("HOLDER", holder))
    assert kinds["product"] is Kind.FOLDED
    assert kinds["two"] is kinds["four"] is Kind.DEAD


def test_operands_of_a_chain_that_was_folded_are_dead(read: Read) -> None:
    chain = _BEFORE.replace(
        "  %six = f32[] multiply(%two, %three)\n",
        "  %four = f32[1]{0} constant({4})\n  %five = f32[1]{0} constant({5})\n"
        "  %twenty = f32[1]{0} multiply(%four, %five)\n  %flat = f32[] reshape(%twenty)\n"
        "  %third = f32[] divide(%flat, %three)\n  %six = f32[] multiply(%two, %third)\n",
    )
    kinds = _kinds(read, chain, _AFTER.replace("constant(6)", "constant(13.3333333)"))
    assert kinds["twenty"] is kinds["flat"] is kinds["third"] is Kind.FOLDED
    assert kinds["four"] is kinds["five"] is kinds["two"] is kinds["three"] is Kind.DEAD


def test_users_are_followed_in_the_order_of_the_module(read: Read) -> None:
    branches = "".join(
        f"  %part.{number} = f32[] add(%small, %small)\n"
        + "".join(
            f"  %leaf.{number}.{leaf} = f32[] multiply(%part.{number}, %part.{number})\n"
            for leaf in range(9)
        )
        for number in range(10)
    )
    before = _module(
        "  %two = f32[] constant(2)\n  %small = f32[] negate(%two)\n"
        f"{branches}  %wide = f32[8]{{0}} broadcast(%leaf.0.0), dimensions={{}}\n"
    )
    assert _kinds(read, before, _AFTER)["two"] is Kind.DEAD


def test_the_first_of_many_users_leads_to_the_constant(read: Read) -> None:
    branches = [
        "  %head = f32[] negate(%six)",
        *(f"  %v.{branch} = f32[] negate(%head)" for branch in range(10)),
        *(
            f"  %w.{branch}.{leaf} = f32[] sine(%v.{branch})"
            for branch in range(10)
            for leaf in range(10)
        ),
    ]
    lines = "\n".join(branches) + "\n  %wide = f32[8]{0} broadcast(%w.0.0), dimensions={}\n"
    before = _BEFORE.replace("  %wide = f32[8]{0} broadcast(%six), dimensions={}\n", lines)
    assert _kinds(read, before, _AFTER)["six"] is Kind.FOLDED
