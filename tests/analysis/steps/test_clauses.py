"""Clauses of sentences on changes: names, opcodes, reasons."""

from msgspec.structs import replace
from tests.analysis.steps.made_change import change

from xlareport.analysis.matching.pairing import Place
from xlareport.analysis.steps.clauses import clause
from xlareport.analysis.steps.differences import Kind


def test_an_opcode_stands_before_a_name_that_does_not_tell_it() -> None:
    assert clause(change(Kind.REPLACED)) == (
        "`%add.1` in `layer_1/mlp` became the multiply `%add.1.new`"
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
