from dataclasses import replace

import pytest

from xlareport.analysis.matching.pairing import Grade, Place
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.clauses import clause
from xlareport.analysis.steps.differences import Kind
from xlareport.analysis.steps.groups import ChangeGroup, grouped, renumbered
from xlareport.analysis.steps.telling import Telling, tell


def change(kind: Kind, name: str = "add.1", grade: Grade = Grade.EXACT) -> Change:
    return Change(
        kind=kind,
        before=Place("main", name),
        after=Place("main", f"{name}.new"),
        grade=grade,
        reason="for a reason",
        scope="layer_1/mlp",
        opcodes=("add", "multiply"),
        kinds=(kind,),
        details=("this → that",),
    )


def told(*changes: Change, actor: str = "`algsimp`") -> tuple[str, ...]:
    return tell(Telling(grouped(changes), actor))


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_sentence_that_names_an_instruction(kind: Kind) -> None:
    [headline, *_] = told(change(kind))
    assert headline.startswith("`algsimp` ")
    if kind is Kind.UNCALLED:
        assert "removed 1 uncalled computation of 1 instruction; `%main` had" in headline
    else:
        assert "`%add.1" in headline
        assert "in `layer_1/mlp`" in headline
    assert headline.endswith(".")
    assert headline.count("`") % 2 == 0


def test_what_weighs_most_comes_first() -> None:
    headline = told(change(Kind.RENAMED), change(Kind.FUSED), change(Kind.REMOVED))[0]
    assert headline.index("created 1 multiply") < headline.index("removed 1 add")
    assert headline.index("removed 1 add") < headline.index("renamed 1 add")


def test_a_library_call_is_named_by_its_target() -> None:
    call = replace(change(Kind.REWRITTEN), opcodes=("dot", "custom-call"), target="__cublas$gemm")
    [headline] = told(call)
    assert headline == (
        "`algsimp` rewrote 1 dot as a `__cublas$gemm` custom-call; the dot `%add.1` in "
        "`layer_1/mlp` became the `__cublas$gemm` custom-call `%add.1.new`."
    )


def test_calls_of_two_targets_are_counted_apart() -> None:
    call = replace(change(Kind.REWRITTEN), opcodes=("dot", "custom-call"), target="__cublas$gemm")
    headline = told(call, call, replace(call, target="__cublas$lt$matmul"))[0]
    assert "2 dots as `__cublas$gemm` custom-calls and 1 dot as a `__cublas$lt$" in headline


def test_a_loop_that_is_gone_is_unrolled_and_a_call_inlined() -> None:
    members = tuple(Place("main", f"add.{number}") for number in range(3))
    loop = replace(change(Kind.INLINED, "while.1"), opcodes=("while", ""), members=members)
    call = replace(change(Kind.INLINED, "call.1"), opcodes=("call", ""), members=members[:2])
    headline, *further = told(loop, call)
    assert "unrolled 1 while into 3 instructions and inlined 1 call into 2" in headline
    account = " ".join((headline, *further))
    assert "was unrolled into 3 instructions, including `%add.0`" in account
    assert "was inlined into `%add.0` and `%add.1`" in account


def test_a_call_is_inlined_into_a_fusion_and_a_fusion_merged_into_another() -> None:
    call = replace(
        change(Kind.ABSORBED, "call.1"),
        opcodes=("call", "fusion"),
        reason="which holds 3 of its 4 instructions",
    )
    fusion = replace(change(Kind.ABSORBED, "fusion.1"), opcodes=("fusion", "fusion"))
    account = " ".join(told(fusion, call))
    assert "merged 1 fusion into others and inlined 1 call into fusions" in account
    assert "inlined into `%call.1.new`, which holds 3 of its 4 instructions" in account


def test_a_guess_is_told_as_one() -> None:
    assert "it seems that `%add.1` in" in told(change(Kind.REPLACED, grade=Grade.GUESSED))[0]


def test_many_groups_are_cut_and_counted() -> None:
    changes = [change(kind, f"x.{kind}") for kind in Kind]
    last = told(*changes)[-1]
    assert last.startswith("Also ")
    assert "renamed 1 add" in last


def test_groups_put_like_changes_together() -> None:
    changes = [change(Kind.REPLACED, f"add.{number}") for number in range(5)]
    [group] = grouped(changes)
    assert (group.count, group.opcodes, group.scope) == (5, ("add", "multiply"), "layer_1/mlp")
    assert len(group.examples) == 3
    assert group.repetition == "5 times"


def test_the_surest_examples_come_first() -> None:
    changes = [change(Kind.REPLACED, "a", Grade.GUESSED), change(Kind.REPLACED, "b")]
    [group] = grouped(changes)
    assert [one.grade for one in group.examples] == [Grade.EXACT, Grade.GUESSED]


def test_nothing_renumbered() -> None:
    assert renumbered([change(Kind.RENAMED)]) is None
    assert isinstance(grouped([]), tuple)


def test_one_change_needs_no_repetition() -> None:
    [group] = grouped([change(Kind.ADDED)])
    assert isinstance(group, ChangeGroup)
    assert group.repetition == ""


def test_unlike_changes_are_one_of_many_and_like_ones_happened_many_times() -> None:
    like = [change(Kind.LAYOUT, f"add.{number}") for number in range(3)]
    [group] = grouped(like)
    assert group.repetition == "3 times"
    [group] = grouped([*like, replace(like[0], reason="for another reason")])
    assert group.repetition == "one of 4"


def test_the_numbers_of_computations_are_no_layers() -> None:
    inside = [
        replace(change(Kind.DEAD), before=Place(name, "x"), after=None, scope=name)
        for name in ("region_1.2", "region_3.4")
    ]
    [group] = grouped(inside)
    assert (group.count, group.per_layer, group.scope) == (2, None, "region_*.*")


def test_names_and_scopes_that_are_very_long_are_shortened_in_their_middle() -> None:
    name = f"a_inference_train_step_{'x' * 90}_.668"
    one = replace(change(Kind.REMOVED), scope=name)
    headline = told(one)[0]
    assert name not in headline
    assert "`a_inference_train_step_xxxxx…" in headline


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
