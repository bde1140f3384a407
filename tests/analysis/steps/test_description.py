import pytest
from msgspec.structs import replace
from tests.analysis.steps.made_change import change

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.reasons import Past, WithUser
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.description import StepFacts, describe_step
from xlareport.analysis.steps.details import ConfigChange, FieldChange, FusionPlace
from xlareport.analysis.steps.groups import grouped
from xlareport.analysis.steps.kinds import Kind
from xlareport.knowledge.grades import Grade


def told(*changes: Change, actor: str = "`algsimp`") -> tuple[str, ...]:
    return describe_step(StepFacts(grouped(changes), actor))


_OF_COMPUTATIONS = {
    Kind.COPIED: "cloned 1 computation of 1 instruction",
    Kind.DEFINED: "added 1 computation of 1 instruction",
    Kind.UNAPPLIED: "removed 1 computation of 1 instruction",
    Kind.LEFTOVER: "added 1 instruction to a computation without live callers",
    Kind.UNCALLED: "removed 1 dead computation of 1 instruction",
    Kind.UNIFIED: "merged 1 duplicate computation of 1 instruction",
}


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_sentence_that_names_an_instruction(kind: Kind) -> None:
    [headline, *_] = told(change(kind))
    assert headline.startswith("`algsimp` ")
    if kind in _OF_COMPUTATIONS:
        assert f"{_OF_COMPUTATIONS[kind]}; `%main` " in headline
    else:
        assert "`%add.1" in headline
        assert "in `main` (`layer_1/mlp`)" in headline
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
        "`main` (`layer_1/mlp`) became the `__cublas$gemm` custom-call `%add.1.new`."
    )


def test_calls_of_two_targets_are_counted_apart() -> None:
    call = replace(change(Kind.REWRITTEN), opcodes=("dot", "custom-call"), target="__cublas$gemm")
    second = replace(call, before=Place("main", "add.2"), after=Place("main", "add.2.new"))
    headline = told(call, second, replace(call, target="__cublas$lt$matmul"))[0]
    assert "2 dots as `__cublas$gemm` custom-calls and 1 dot as a `__cublas$lt$" in headline


def test_what_became_several_is_counted_once() -> None:
    first = change(Kind.REWRITTEN)
    second = replace(first, after=Place("main", "add.1.other"))
    assert "rewrote 1 add as 2 multiplies" in told(first, second)[0]


def test_several_that_became_the_same_are_one_after() -> None:
    first = change(Kind.REPLACED)
    second = replace(first, before=Place("main", "add.2"))
    assert "replaced 2 adds with 1 multiply" in told(first, second)[0]


def test_clones_of_one_instruction_are_counted_apart_from_it() -> None:
    first = change(Kind.CLONED)
    second = replace(first, after=Place("main", "add.1.other"))
    assert "cloned 1 add (2 clones);" in told(first, second)[0]
    assert "cloned 1 add;" in told(first)[0]


def test_a_loop_that_is_gone_is_unrolled_and_a_call_inlined() -> None:
    members = tuple(Place("main", f"add.{number}") for number in range(3))
    loop = replace(change(Kind.INLINED, "while.1"), opcodes=("while", ""), members=members)
    call = replace(change(Kind.INLINED, "call.1"), opcodes=("call", ""), members=members[:2])
    headline, *further = told(loop, call)
    assert "unrolled 1 while into 3 instructions and inlined 1 call into 2" in headline
    account = " ".join((headline, *further))
    assert "was unrolled into 3 instructions, including `%add.0`" in account
    assert "was inlined into `%add.0` and `%add.1`" in account


def test_an_instruction_of_a_fusion_in_a_fusion_is_counted_once() -> None:
    members = tuple(Place("main", f"add.{number}") for number in range(3))
    outer = replace(change(Kind.FUSED, "fusion.1"), opcodes=("", "fusion"), members=members)
    inner = replace(change(Kind.FUSED, "fusion.2"), opcodes=("", "fusion"), members=members[1:])
    assert "created 2 fusions from 3 instructions" in told(outer, inner)[0]


def test_a_call_is_inlined_into_a_fusion_and_a_fusion_merged_into_another() -> None:
    call = replace(
        change(Kind.ABSORBED, "call.1"),
        opcodes=("call", "fusion"),
        reason="holds 3 of its 4 instructions",
    )
    fusion = replace(change(Kind.ABSORBED, "fusion.1"), opcodes=("fusion", "fusion"))
    account = " ".join(told(fusion, call))
    assert "merged 1 fusion into others and inlined 1 call into a fusion" in account
    assert "was inlined; `%call.1.new` holds 3 of its 4 instructions" in account


@pytest.mark.parametrize(
    ("homes", "message"),
    [
        ([], "merged 3 fusions into others;"),
        ([1], "merged 3 fusions into others (1 of them into 1 of the new fusions)"),
        ([1, 1], "merged 3 fusions into others (2 of them into 1 of the new fusions)"),
        ([1, 2, 2], "merged 3 fusions into the 2 new fusions"),
        ([1, 2], "merged 3 fusions into others (2 of them into the 2 new fusions)"),
    ],
)
def test_of_merged_fusions_those_in_new_ones_are_told_apart(homes: list[int], message: str) -> None:
    former = [
        replace(change(Kind.ABSORBED, f"fusion.{number}"), opcodes=("fusion", "fusion"))
        for number in range(3)
    ]
    for place, home in enumerate(homes):
        former[place] = replace(former[place], after=Place("main", f"new.{home}"))
    new = [
        replace(change(Kind.FUSED), opcodes=("", "fusion"), after=Place("main", f"new.{number}"))
        for number in range(1, 3)
    ]
    headline = told(*former, *new)[0]
    assert message in headline
    assert headline.index("created 2 fusions") < headline.index("merged 3 fusions")


def test_instructions_of_inlined_calls_are_counted_where_those_of_all_are_known() -> None:
    place = (Place("main", "add.0"),)
    call = replace(change(Kind.INLINED, "call.1"), opcodes=("call", ""), members=place)
    lost = replace(change(Kind.INLINED, "call.2"), opcodes=("call", ""), scope="b", members=())
    assert "inlined 1 call into 1 instruction" in told(call)[0]
    assert "inlined 2 calls into" not in " ".join(told(call, lost))


def test_a_guess_is_told_as_one() -> None:
    assert "it seems that `%add.1` in" in told(change(Kind.REPLACED, grade=Grade.GUESSED))[0]


def test_many_groups_are_cut_and_counted() -> None:
    changes = [change(kind, f"x.{kind}") for kind in Kind]
    last = told(*changes)[-1]
    assert last.startswith("Also ")
    assert "renamed 1 add" in last


def test_names_and_scopes_that_are_very_long_are_shortened_in_their_middle() -> None:
    name = f"a_inference_train_step_{'x' * 90}_.668"
    one = replace(change(Kind.REMOVED), scope=name)
    headline = told(one)[0]
    assert name not in headline
    assert "`a_inference_train_step_xxxxx…" in headline


def test_what_only_seems_to_be_removed_may_have_been_rewritten() -> None:
    sure = change(Kind.REMOVED, grade=Grade.MATCHED)
    guess = change(Kind.REMOVED, "add.2", grade=Grade.GUESSED)
    assert "`algsimp` removed 1 add;" in told(sure)[0]
    assert "`algsimp` removed or rewrote 2 adds;" in told(sure, guess)[0]


def test_what_was_fused_into_existing_fusions_is_said_beside_new_ones() -> None:
    taken = replace(change(Kind.MOVED, "add.2"), details=(FusionPlace("fusion.2"),))
    more = replace(taken, before=Place("main", "add.4"), after=Place("main", "add.4.new"))
    moved = replace(change(Kind.MOVED, "add.3"), details=("moved into %fusion.3",))
    created = change(Kind.FUSED, "fusion.3")
    headline = told(created, taken, more, moved)[0]
    assert "fused 2 adds into existing fusions" in headline
    assert "moved" not in headline
    assert "fused 1 add into an existing fusion and moved 1 add" in told(taken, moved)[0]
    assert "moved" not in " ".join(told(created, moved))


def test_what_merged_fusions_held_is_not_told_as_moved() -> None:
    merged = replace(change(Kind.ABSORBED, "fusion.1"), opcodes=("fusion", "fusion"))
    taken = replace(change(Kind.MOVED, "add.2"), details=(FusionPlace("fusion.2"),))
    moved = replace(change(Kind.MOVED, "add.3"), details=("moved into %fusion.3",))
    headline = told(merged, taken, moved)[0]
    assert "fused 1 add into an existing fusion" in headline
    assert "moved" not in " ".join(told(merged, taken, moved))


def test_choices_in_configurations_come_before_defaults() -> None:
    tiles = ConfigChange((FieldChange("set", "triton_gemm_config", " with block_m 16"),))
    queue = FieldChange("set", "operation_queue_id", ' to "0"', is_default=True)
    details = (*[ConfigChange((queue,))] * 3, tiles, tiles)
    changes = [
        replace(change(Kind.CONFIG, f"dot.{n}"), details=(detail,), scope=f"scope_{'abcde'[n]}")
        for n, detail in enumerate(details)
    ]
    headline, more = told(*changes)
    assert "changed backend_config of 2 adds and set defaults in that of 3 adds;" in headline
    assert "with block_m 16 " in headline
    assert headline.endswith("(one of 2).")
    assert 'set operation_queue_id to "0" ' in more
    assert more.endswith("(one of 3).")
    assert "set defaults in the backend_config of 3 adds;" in told(*changes[:3])[0]


def test_a_rewired_instruction_is_told_where_else_only_unused_ones_are() -> None:
    headline = told(change(Kind.UNUSED), change(Kind.REWIRED))[0]
    assert headline.startswith("`algsimp` redirected operands of 1 add and added")


def test_a_move_comes_before_the_shape_of_what_it_passed() -> None:
    passed = replace(change(Kind.SHAPE, "sum.1"), opcodes=("all-reduce", "all-reduce"))
    moved = replace(change(Kind.SWAPPED, "reshape.2"), reason=Past("sum.1"))
    headline = told(passed, moved)[0]
    assert headline.startswith(
        "`algsimp` moved 1 add past other instructions and changed the shape"
    )


def test_a_convert_that_moved_comes_before_the_types_of_what_it_passed() -> None:
    turned = replace(change(Kind.TYPE, "transpose.1"), opcodes=("transpose", "transpose"))
    between = [replace(turned, before=Place("main", f"transpose.{n}")) for n in (1, 2, 3)]
    moved = replace(change(Kind.SWAPPED, "convert.5"), reason=Past("transpose.1"))
    also = replace(change(Kind.SWAPPED, "convert.6"), reason=Past("transpose.2"))
    headline = told(*between, moved, also)[0]
    assert headline.startswith("`algsimp` moved 2 adds past other instructions and changed the")


def test_a_move_comes_after_the_shape_of_what_it_did_not_pass() -> None:
    other = replace(change(Kind.SHAPE, "sum.1"), opcodes=("all-reduce", "all-reduce"))
    moved = replace(change(Kind.SWAPPED, "reshape.2"), reason=Past("dot.3"))
    assert told(other, moved)[0].startswith("`algsimp` changed the shape of 1 all-reduce")


def test_what_moved_into_a_loop_comes_before_what_the_loop_carries() -> None:
    loop = replace(change(Kind.CARRIED, "while.1"), opcodes=("while", "while"))
    sunk = replace(change(Kind.SUNK, "fill.2"), opcodes=("broadcast", "broadcast"))
    headline = told(loop, sunk)[0]
    assert headline.startswith("`algsimp` moved 1 broadcast into loops and dropped 1 element")


def test_a_mark_of_a_sharding_weighs_less_than_work() -> None:
    mark = replace(
        change(Kind.REMOVED, "mark.1"),
        opcodes=("custom-call", ""),
        target="xla.sdy.FuncResultSharding",
    )
    headline = told(mark, change(Kind.SHAPE))[0]
    words = "changed the shape of 1 add and removed 1 `xla.sdy.FuncResultSharding` custom-call"
    assert words in headline
    call = told(replace(mark, target="topk"), change(Kind.SHAPE))[0]
    assert "removed 1 `topk` custom-call and changed the shape of 1 add" in call


def test_what_was_cloned_into_a_loop_comes_before_the_shape_of_the_loop() -> None:
    copy = replace(change(Kind.CLONED), details=("in the loop %while.1",))
    loop = replace(change(Kind.SHAPE, "while.1"), opcodes=("while", "while"))
    assert "cloned 1 add into a loop and changed the shape of 1 while" in told(copy, loop)[0]
    plain = told(replace(copy, details=()), loop)[0]
    assert "changed the shape of 1 while and cloned 1 add;" in plain
    constant = replace(copy, opcodes=("constant", "constant"))
    assert "shape of 1 while and cloned 1 constant into a loop" in told(constant, loop)[0]


def test_what_was_removed_with_its_user_follows_from_that() -> None:
    user = replace(change(Kind.REMOVED, "user.1"), opcodes=("tuple", ""))
    following = replace(
        change(Kind.REMOVED, "copy.1"),
        opcodes=("copy", ""),
        reason=WithUser("user.1", "its user %user.1"),
    )
    assert "the tuple `%user.1`" in told(user, following)[0]
    bypassed = WithUser("user.1", "its user %user.1", "%neg.1 uses %a now")
    assert "`%copy.1`" in told(user, replace(following, reason=bypassed))[0]


def test_where_passes_are_unknown_light_changes_are_counted_by_opcode() -> None:
    dot = replace(change(Kind.REWRITTEN), opcodes=("dot", "custom-call"), target="gemm")
    reshape = replace(change(Kind.REPLACED), opcodes=("reshape", "copy"))
    facts = StepFacts(grouped((dot, reshape)), "Passes", touched=30, instructions=40)
    assert "reshape" in describe_step(facts)[0]
    headline, counts, _ = describe_step(replace(facts, opcodes=(("reshape", 1, 0),)))
    assert "reshape" not in headline
    assert counts == "Other instructions, by opcode: reshape 1 → 0."


def test_where_a_step_changes_few_instructions_all_are_listed() -> None:
    dot = replace(change(Kind.DEAD), opcodes=("dot", ""))
    reshape = replace(change(Kind.REPLACED), opcodes=("reshape", "copy"))
    facts = StepFacts(grouped((dot, reshape)), "Passes", touched=30, instructions=100)
    assert describe_step(replace(facts, opcodes=(("reshape", 1, 0),))) == describe_step(facts)


def test_of_what_was_reordered_a_collective_is_named_before_many_moves() -> None:
    def moved(name: str, opcode: str) -> Change:
        place = Place("main", name)
        row = replace(change(Kind.REORDERED), before=place, after=place, opcodes=(opcode, opcode))
        return replace(row, details=("from position 1 to 2",))

    many = [moved(f"copy.{number}", "copy") for number in range(3)]
    headline = told(*many, moved("all-gather-start", "all-gather-start"))[0]
    assert "; `%all-gather-start` in `main`" in headline


def test_the_example_is_of_the_opcode_that_is_named_first() -> None:
    def added(name: str, opcode: str, scope: str) -> Change:
        row = replace(change(Kind.ADDED), before=None, after=Place("main", name), scope=scope)
        return replace(row, opcodes=("", opcode))

    fusions = [added(f"fusion.{number}", "fusion", "mlp") for number in range(5)]
    collectives = [added(f"all-reduce.{scope}", "all-reduce", scope) for scope in ("x", "y", "z")]
    [headline, *others] = told(*fusions, *collectives)
    assert "added 3 all-reduces and 5 fusions; `%all-reduce.x` in `main`" in headline
    assert "`%fusion.0` in `main`" in others[0]
