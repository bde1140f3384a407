"""Clauses of sentences on changes: names, opcodes, reasons."""

from msgspec.structs import replace
from tests.analysis.steps.made_change import change

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.clauses import clause
from xlareport.analysis.steps.details import ShapeChange
from xlareport.analysis.steps.kinds import Kind


def test_an_opcode_stands_before_a_name_that_does_not_tell_it() -> None:
    assert clause(change(Kind.REPLACED)) == (
        "`%add.1` in `main` (`layer_1/mlp`) became the multiply `%add.1.new`"
    )
    assert clause(change(Kind.REMOVED, "Arg_0")).startswith("the add `%Arg_0` in")


def test_the_same_name_is_not_said_to_have_become_itself() -> None:
    place = Place("main", "add.1")
    for kind in (Kind.REPLACED, Kind.REBUILT, Kind.MERGED):
        said = clause(replace(change(kind), after=place))
        assert said.count("`%add.1`") == 1


def test_names_in_reasons_are_set_as_code_and_backticks_of_a_dump_are_not() -> None:
    one = replace(change(Kind.DEAD), reason="went with %x.1, a `trap` of 50 % or so")
    assert clause(one).endswith("was removed: went with `%x.1`, a 'trap' of 50 % or so")


def test_what_left_a_loop_says_its_other_shape() -> None:
    kinds = (Kind.HOISTED, Kind.SHAPE)
    details = ("moved out of the loop %while.1", ShapeChange("s32[]", "s32[4]{0}"))
    said = clause(replace(change(Kind.HOISTED), kinds=kinds, details=details))
    assert said.endswith("moved out of the loop `%while.1`; shape: `s32[]` → `s32[4]{0}`")


def test_a_library_call_of_another_shape_says_its_other_dimension_labels() -> None:
    details = (
        ShapeChange("f32[8]", "f32[4]", lead="1 of 2 elements, "),
        "dim_labels: b01f_01io → b01f_o01i",
    )
    known = replace(change(Kind.SHAPE), kinds=(Kind.SHAPE, Kind.ATTRIBUTES), details=details)
    said = clause(replace(known, opcodes=("custom-call", "custom-call")))
    assert "`f32[8]` → `f32[4]`; dim_labels: b01f_01io → b01f_o01i (renamed" in said


def test_one_of_several_differences_of_elements_is_an_example() -> None:
    details = (ShapeChange("{1,0}", "{0,1}", lead="2 of 3 elements, such as "),)
    known = replace(change(Kind.LAYOUT), details=details)
    said = clause(replace(known, opcodes=("add", "add")))
    assert "(now the multiply `%add.1.new`)" in clause(known)
    assert "changed layout: 2 of 3 elements, such as `{1,0}` → `{0,1}` (renamed" in said


def test_a_reduction_with_other_numbers_says_what_it_reads_now() -> None:
    kinds = (Kind.ATTRIBUTES, Kind.OPERANDS)
    details = ("dimensions: {1} → {1,2}", "uses %convert.1 instead of %squeeze.1")
    known = replace(change(Kind.ATTRIBUTES), kinds=kinds, details=details)
    said = clause(replace(known, opcodes=("reduce", "reduce")))
    assert "dimensions: {1} → {1,2}; uses `%convert.1` instead of `%squeeze.1`" in said


def test_a_collective_of_another_shape_says_its_other_dimension() -> None:
    details = (ShapeChange("f32[8,2]", "f32[2,1,8]"), "dimensions: {1} → {0}")
    known = replace(change(Kind.SHAPE), kinds=(Kind.SHAPE, Kind.ATTRIBUTES), details=details)
    said = clause(replace(known, opcodes=("all-gather", "all-gather")))
    assert "`f32[8,2]` → `f32[2,1,8]`; dimensions: {1} → {0}" in said


def test_a_new_custom_call_says_its_target() -> None:
    added = replace(change(Kind.ADDED), before=None, opcodes=("", "custom-call"))
    said = clause(replace(added, target="AllocateBuffer", reason="used by %tuple.55"))
    assert said.startswith("the `AllocateBuffer` custom-call `%add.1.new` in ")


def test_what_gives_the_result_of_an_expanded_instruction_is_named_once() -> None:
    last = Place("main", "add.1.new")
    others = Place("main", "x"), Place("main", "y")
    words = {
        members: clause(replace(change(Kind.EXPANDED), members=members)).partition(" into ")[2]
        for members in ((last,), (others[0], last), (*others, last))
    }
    assert [*words.values()] == [
        "`%add.1.new`",
        "`%x` and `%add.1.new`, which gives its result",
        "3 instructions, including `%x`; `%add.1.new` gives its result",
    ]
