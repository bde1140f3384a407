import re
from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.doubts import grade_doubts
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.search.search_start import start
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

WHOLE = """
HloModule step
ENTRY %main.9 (x: f32[32,64], w: f32[64,128], v: f32[128,64]) -> (f32[32,64], f32[64,128]) {
  %x = f32[32,64]{1,0} parameter(0)
  %w = f32[64,128]{1,0} parameter(1)
  %v = f32[128,64]{1,0} parameter(2)
  %hidden = f32[32,128]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %active = f32[32,128]{1,0} tanh(%hidden)
  %out = f32[32,64]{1,0} dot(%active, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %back = f32[32,128]{1,0} dot(%out, %v), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  %grad = f32[64,128]{1,0} dot(%x, %back), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT %results = (f32[32,64]{1,0}, f32[64,128]{1,0}) tuple(%out, %grad)
}
"""

PARTITIONED = """
HloModule step, num_partitions=4
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add.1 = f32[] add(%a, %b)
}
ENTRY %main.9_spmd (param: f32[8,64], param.1: f32[16,128], param.2: f32[32,64]) -> (f32[8,64], f32[16,128]) {
  %param = f32[8,64]{1,0} parameter(0)
  %param.1 = f32[16,128]{1,0} parameter(1)
  %all-gather = f32[64,128]{1,0} all-gather(%param.1), dimensions={0}
  %dot = f32[8,128]{1,0} dot(%param, %all-gather), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %tanh.3 = f32[8,128]{1,0} tanh(%dot)
  %param.2 = f32[32,64]{1,0} parameter(2)
  %all-gather.1 = f32[128,64]{1,0} all-gather(%param.2), dimensions={0}
  %dot.1 = f32[8,64]{1,0} dot(%tanh.3, %all-gather.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %dot.2 = f32[8,128]{1,0} dot(%dot.1, %all-gather.1), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  %dot.3 = f32[64,128]{1,0} dot(%param, %dot.2), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  %reduce-scatter = f32[16,128]{1,0} reduce-scatter(%dot.3), dimensions={0}, to_apply=%add
  ROOT %tuple = (f32[8,64]{1,0}, f32[16,128]{1,0}) tuple(%dot.1, %reduce-scatter)
}
"""  # noqa: E501 - as XLA prints it

SIBLINGS = """
HloModule step
ENTRY %main.9 (x: f32[32,64], w: f32[64,128], v: f32[64,64], u: f32[64,64]) -> f32[32,64] {
  %x = f32[32,64]{1,0} parameter(0)
  %w = f32[64,128]{1,0} parameter(1)
  %v = f32[64,64]{1,0} parameter(2)
  %u = f32[64,64]{1,0} parameter(3)
  %both = f32[32,128]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %low = f32[32,64]{1,0} slice(%both), slice={[0:32], [0:64]}
  %high = f32[32,64]{1,0} slice(%both), slice={[0:32], [64:128]}
  %left = f32[32,64]{1,0} dot(%low, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %right = f32[32,64]{1,0} dot(%high, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %tanh = f32[32,64]{1,0} tanh(%left)
  %exp = f32[32,64]{1,0} exponential(%right)
  %further = f32[32,64]{1,0} dot(%tanh, %u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %last = f32[32,64]{1,0} dot(%exp, %u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %sum = f32[32,64]{1,0} add(%further, %last)
}
"""

DIVIDED_SIBLINGS = """
HloModule step, num_partitions=4
ENTRY %main.9_spmd (p: f32[8,64], p.1: f32[16,128], p.2: f32[16,64], p.3: f32[16,64]) -> f32[8,64] {
  %p = f32[8,64]{1,0} parameter(0)
  %p.1 = f32[16,128]{1,0} parameter(1)
  %p.2 = f32[16,64]{1,0} parameter(2)
  %p.3 = f32[16,64]{1,0} parameter(3)
  %all-gather = f32[64,128]{1,0} all-gather(%p.1), dimensions={0}
  %all-gather.1 = f32[64,64]{1,0} all-gather(%p.2), dimensions={0}
  %all-gather.2 = f32[64,64]{1,0} all-gather(%p.3), dimensions={0}
  %dot = f32[8,128]{1,0} dot(%p, %all-gather), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %slice.1 = f32[8,64]{1,0} slice(%dot), slice={[0:8], [0:64]}
  %slice.2 = f32[8,64]{1,0} slice(%dot), slice={[0:8], [64:128]}
  %dot.1 = f32[8,64]{1,0} dot(%slice.1, %all-gather.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %dot.2 = f32[8,64]{1,0} dot(%slice.2, %all-gather.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %tanh.1 = f32[8,64]{1,0} tanh(%dot.1)
  %exp.1 = f32[8,64]{1,0} exponential(%dot.2)
  %dot.3 = f32[8,64]{1,0} dot(%tanh.1, %all-gather.2), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %dot.4 = f32[8,64]{1,0} dot(%exp.1, %all-gather.2), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %sum.1 = f32[8,64]{1,0} add(%dot.3, %dot.4)
}
"""  # noqa: E501 - as XLA prints it

LIBRARY_CALLS = """
HloModule step
ENTRY %main.9 (x: f32[32,64], w: f32[64,128], v: f32[128,64]) -> (f32[32,64], f32[64,128]) {
  %x = f32[32,64]{1,0} parameter(0)
  %w = f32[64,128]{1,0} parameter(1)
  %v = f32[128,64]{1,0} parameter(2)
  %cublas-gemm.1 = (f32[32,128]{1,0}, s8[4096]{0}) custom-call(%x, %w), custom_call_target="__cublas$gemm"
  %get-tuple-element = f32[32,128]{1,0} get-tuple-element(%cublas-gemm.1), index=0
  %active.1 = f32[32,128]{1,0} tanh(%get-tuple-element)
  %cublas-gemm.2 = (f32[32,64]{1,0}, s8[4096]{0}) custom-call(%active.1, %v), custom_call_target="__cublas$gemm"
  %get-tuple-element.1 = f32[32,64]{1,0} get-tuple-element(%cublas-gemm.2), index=0
  %cublas-gemm.3 = (f32[32,128]{1,0}, s8[4096]{0}) custom-call(%get-tuple-element.1, %v), custom_call_target="__cublas$gemm"
  %get-tuple-element.2 = f32[32,128]{1,0} get-tuple-element(%cublas-gemm.3), index=0
  %cublas-gemm.4 = (f32[64,128]{1,0}, s8[4096]{0}) custom-call(%x, %get-tuple-element.2), custom_call_target="__cublas$gemm"
  %get-tuple-element.3 = f32[64,128]{1,0} get-tuple-element(%cublas-gemm.4), index=0
  ROOT %results.1 = (f32[32,64]{1,0}, f32[64,128]{1,0}) tuple(%get-tuple-element.1, %get-tuple-element.3)
}
"""  # noqa: E501 - as XLA prints it


def pairing(found: Matching, name: str, computation: str = "main.9") -> Pairing:
    claim = found.pairing_before(Place(computation, name))
    assert claim is not None
    return claim


@pytest.mark.parametrize(
    ("after", "computation", "names"),
    [
        (PARTITIONED, "main.9_spmd", ("dot", "dot.1", "dot.2", "dot.3")),
        (
            LIBRARY_CALLS,
            "main.9",
            ("cublas-gemm.1", "cublas-gemm.2", "cublas-gemm.3", "cublas-gemm.4"),
        ),
    ],
)
def test_dots_are_found_without_op_names(
    read: Read, after: str, computation: str, names: tuple[str, ...]
) -> None:
    matching = match(read(WHOLE), read(after))
    for old, new in zip(("hidden", "out", "back", "grad"), names, strict=True):
        claim = pairing(matching, old)
        assert claim.after[:1] == (Place(computation, new),)
        assert claim.grade is not Grade.EXACT


def twins(*names: str) -> str:
    """Return a module of two dots that only their order tells apart."""
    a, b, result = names
    return f"""
HloModule twins
ENTRY %main.9 (x: f32[8,8]) -> f32[8,8] {{
  %x = f32[8,8]{{1,0}} parameter(0)
  %t = f32[8,8]{{0,1}} custom-call(), custom_call_target="noise"
  %u = f32[8,8]{{0,1}} custom-call(), custom_call_target="noise"
  %{a} = f32[8,8]{{1,0}} dot(%x, %t), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  %{b} = f32[8,8]{{1,0}} dot(%x, %u), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT %{result} = f32[8,8]{{1,0}} add(%{a}, %{b})
}}
"""


def test_order_alone_is_a_guess(read: Read) -> None:
    after = twins("p", "q", "r").replace("8,8", "4,4").replace("%t", "%i").replace("%u", "%j")
    matching = match(read(twins("a", "b", "c")), read(after))
    for old, new in (("a", "p"), ("b", "q")):
        claim = pairing(matching, old)
        assert (claim.after, claim.grade) == ((Place("main.9", new),), Grade.GUESSED)


CALLED = """
HloModule step
%f (p: f32[8,8]) -> f32[8,8] {
  %p = f32[8,8]{1,0} parameter(0)
  ROOT %dot_general.1 = f32[8,8]{1,0} dot(%p, %p), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="dot_general"}
}
ENTRY %main (x: f32[8,8], y: f32[8,8]) -> (f32[8,8], f32[8,8]) {
  %x = f32[8,8]{1,0} parameter(0)
  %y = f32[8,8]{1,0} parameter(1)
  %g = f32[8,8]{1,0} call(%x), to_apply=%f, metadata={op_name="jit(step)/jit(g)"}
  %h = f32[8,8]{1,0} call(%y), to_apply=%f, metadata={op_name="jit(step)/jit(h)"}
  ROOT %both = (f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%g, %h)
}
"""  # noqa: E501 - as XLA prints it

INLINED = """
HloModule step
ENTRY %main (x: f32[8,8], y: f32[8,8]) -> (f32[8,8], f32[8,8]) {
  %x = f32[8,8]{1,0} parameter(0)
  %y = f32[8,8]{1,0} parameter(1)
  %gemm.1 = f32[8,8]{1,0} custom-call(%y), custom_call_target="__cublas$gemm", metadata={op_name="jit(step)/jit(h)/dot_general"}
  %gemm.2 = f32[8,8]{1,0} custom-call(%x), custom_call_target="__cublas$gemm", metadata={op_name="jit(step)/jit(g)/dot_general"}
  ROOT %both = (f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%gemm.2, %gemm.1)
}
"""  # noqa: E501 - as XLA prints it


def test_a_dot_of_a_called_computation_is_found_as_two_library_calls(read: Read) -> None:
    matching = match(read(CALLED), read(INLINED))
    claim = pairing(matching, "dot_general.1", "f")
    assert set(claim.after) == {Place("main", "gemm.1"), Place("main", "gemm.2")}


def test_what_only_guessed_landmarks_tell_apart_is_a_guess_too(read: Read) -> None:
    matching = match(read(SIBLINGS), read(DIVIDED_SIBLINGS))
    assert pairing(matching, "both").grade is Grade.MATCHED
    for name in ("left", "right", "further", "last"):
        assert pairing(matching, name).grade is Grade.GUESSED


def _of_one_op(text: str, *dots: str) -> str:
    """Give two dots one framework op, and let them sum over dimensions of other numbers."""
    for number, name in enumerate(dots):
        head, line, rest = re.split(rf"(%{re.escape(name)} = .*)", text, maxsplit=1)
        summed = line.replace("rhs_contracting_dims={0}", f"rhs_contracting_dims={{{number}}}")
        text = f'{head}{summed}, metadata={{op_name="f/dot"}}{rest}'
    return text


def test_two_dots_of_one_op_are_told_apart_by_the_dimensions_that_they_sum_over(read: Read) -> None:
    """The two of a backward pass read the same operand, and nothing else may be sure."""
    before, after = (
        _of_one_op(SIBLINGS, "left", "right"),
        _of_one_op(DIVIDED_SIBLINGS, "dot.1", "dot.2"),
    )
    matching = match(read(before), read(after))
    for old, new in (("left", "dot.1"), ("right", "dot.2")):
        claim = pairing(matching, old)
        assert (claim.after, claim.grade) == ((Place("main.9_spmd", new),), Grade.MATCHED)
    again = after.replace("rhs_contracting_dims={1}", "rhs_contracting_dims={0}")
    matching = match(
        read(before.replace("rhs_contracting_dims={1}", "rhs_contracting_dims={0}")), read(again)
    )
    assert pairing(matching, "left").grade is Grade.GUESSED


_LOCATED = """HloModule m

FileNames
1 "model.py"

FunctionNames
1 "loss"

FileLocations
1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=4 end_column=9}
2 {file_name_id=1 function_name_id=1 line=13 end_line=13 column=4 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}


ENTRY %main (x: f32[8,8], w: f32[8,8]) -> f32[8,8] {
  %x = f32[8,8]{1,0} parameter(0)
  %w = f32[8,8]{1,0} parameter(1)
  %left = f32[8,8]{1,0} LEFT(%x)
  %right = f32[8,8]{1,0} RIGHT(%x)
  %a = f32[8,8]{1,0} dot(%left, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="f/dot" stack_frame_id=1}
  %b = f32[8,8]{1,0} dot(%right, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="f/dot" stack_frame_id=2}
  ROOT %sum = f32[8,8]{1,0} add(%a, %b)
}
"""  # noqa: E501 - as XLA prints it


def located(*, same_program: bool) -> tuple[Place, ...]:
    """Return the partner of a dot, where other work and the order of the dots are the other way."""
    before = _LOCATED.replace("LEFT", "tanh").replace("RIGHT", "sine")
    after = _LOCATED.replace("LEFT", "exponential").replace("RIGHT", "cosine")
    after = after.replace("=2}\n  ROOT", "=1}\n  ROOT").replace("=1}\n  %b", "=2}\n  %b")
    after = after.replace("%a", "%c").replace("%b", "%d").replace("%sum", "%total")
    reader = TextReader()
    old, new = (reader.read(text.encode(), "m.txt") for text in (before, after))
    assert old is not None
    assert new is not None
    pairing = match(old, new, same_program=same_program).pairing_before(Place("main", "a"))
    return () if pairing is None else pairing.after


def test_lines_of_the_program_tell_two_of_one_framework_op_apart() -> None:
    assert located(same_program=True) == (Place("main", "d"),)


def test_lines_of_another_program_may_have_moved() -> None:
    assert located(same_program=False) == (Place("main", "c"),)


_SUMS_IN_A_LOOP = """
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add.1 = f32[] add(%a, %b)
}
%body (state: (s32[], s32[], f32[8], f32[8])) -> (s32[], s32[], f32[8], f32[8]) {
  %state = (s32[], s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %number = s32[] get-tuple-element(%state), index=0
  %step = s32[] constant(1)
  %next = s32[] add(%number, %step)
  %unread = s32[] get-tuple-element(%state), index=1
  %x = f32[8]{0} get-tuple-element(%state), index=2
  %p = f32[8]{0} all-reduce(%x), replica_groups={}, to_apply=%add, metadata={op_name="psum"}
  %less = f32[8]{0} subtract(%x, %p)
  %y = f32[8]{0} get-tuple-element(%state), index=3
  %q = f32[8]{0} all-reduce(%y), replica_groups={}, to_apply=%add, metadata={op_name="psum"}
  %more = f32[8]{0} add(%y, %q)
  ROOT %results = (s32[], s32[], f32[8]{0}, f32[8]{0}) tuple(%next, %unread, %less, %more)
}
%condition (tested: (s32[], s32[], f32[8], f32[8])) -> pred[] {
  %tested = (s32[], s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %count = s32[] get-tuple-element(%tested), index=0
  %limit = s32[] constant(6)
  ROOT %less-than = pred[] compare(%count, %limit), direction=LT
}
ENTRY %main (given: f32[8], other: f32[8]) -> f32[8] {
  %given = f32[8]{0} parameter(0)
  %other = f32[8]{0} parameter(1)
  %zero = s32[] constant(0)
  %start = (s32[], s32[], f32[8]{0}, f32[8]{0}) tuple(%zero, %zero, %given, %other)
  %loop = (s32[], s32[], f32[8]{0}, f32[8]{0}) while(%start), condition=%condition, body=%body
  %end = f32[8]{0} get-tuple-element(%loop), index=2
  %last = f32[8]{0} get-tuple-element(%loop), index=3
  ROOT %sum = f32[8]{0} multiply(%end, %last)
}
"""


def test_sums_of_a_loop_that_lost_an_element_stay_with_their_own_elements(read: Read) -> None:
    shorter = _SUMS_IN_A_LOOP.replace("(s32[], s32[], ", "(s32[], ").replace("%unread, ", "")
    shorter = shorter.replace("tuple(%zero, %zero,", "tuple(%zero,")
    shorter = shorter.replace("  %unread = s32[] get-tuple-element(%state), index=1\n", "")
    shorter = shorter.replace("index=2", "index=1").replace("index=3", "index=2")
    kept = r"%(?!add|a\b|b\b|main|given|other|zero|sum|end|last)([\w-]+)"
    matching = match(read(_SUMS_IN_A_LOOP), read(re.sub(kept, r"%\1.2", shorter)))
    for name in ("p", "q"):
        known = matching.pairing_before(Place("body", name))
        assert known is not None
        assert known.after == (Place("body.2", f"{name}.2"),)


_SOLVED = """
ENTRY %main (a: f32[4,4], b: f32[4,6], c: f32[4,6]) -> f32[4,6] {
  %a = f32[4,4]{1,0} parameter(0)
  %b = f32[4,6]{1,0} parameter(1)
  %c = f32[4,6]{1,0} parameter(2)
  %solve.1 = f32[4,6]{1,0} triangular-solve(%a, %b), left_side=true, lower=true
  %solve.2 = f32[4,6]{1,0} triangular-solve(%a, %c), left_side=true, lower=true
  ROOT %out = f32[4,6]{1,0} subtract(%solve.1, %solve.2)
}
"""


def test_triangular_solves_go_on_as_library_calls(read: Read) -> None:
    call = '(%a, {}), custom_call_target="__cublas$triangularSolve"'
    after = _SOLVED
    for number, given in ((1, "%b"), (2, "%c")):
        after = after.replace(
            f"%solve.{number} = f32[4,6]{{1,0}} triangular-solve(%a, {given}), "
            "left_side=true, lower=true",
            f"%call.{number} = (f32[4,6]{{1,0}}, s8[0]{{0}}) custom-call{call.format(given)}\n"
            f"  %first.{number} = f32[4,6]{{1,0}} get-tuple-element(%call.{number}), index=0",
        )
    after = after.replace("%solve.1, %solve.2", "%first.1, %first.2")
    matching = match(read(_SOLVED), read(after))
    for number in (1, 2):
        known = matching.pairing_before(Place("main", f"solve.{number}"))
        assert known is not None
        assert (known.relation, known.after) == (
            Relation.REWRITTEN,
            (Place("main", f"call.{number}"),),
        )


@pytest.mark.parametrize(("operand", "grade"), [("%x", Grade.MATCHED), ("%w", Grade.GUESSED)])
def test_a_guess_of_the_same_work_on_equal_values_is_none(
    read: Read, operand: str, grade: Grade
) -> None:
    before = """
ENTRY %main (x: f32[8,8], w: f32[8,8]) -> f32[8,8] {
  %x = f32[8,8]{1,0} parameter(0)
  %w = f32[8,8]{1,0} parameter(1)
  %d.1 = f32[8,8]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %out = f32[8,8]{1,0} negate(%d.1)
}
"""
    after = before.replace("dot(%x,", f"dot({operand},").replace("%d.1", "%d.2")
    search = start(read(before), read(after))
    nodes = [
        next(node for node in side.nodes if node.instruction.opcode == "dot")
        for side in (search.before, search.after)
    ]
    search.link(*nodes, Grade.GUESSED, "the most alike")
    grade_doubts(search)
    assert [link.grade for link in search.links] == [grade]
