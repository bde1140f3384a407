"""Changes of one kind as a phrase: counted, and named by what became of them."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from tests.analysis.steps.made_change import change

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.details import ConfigChange, FieldChange, ShapeChange
from xlareport.analysis.steps.groups import grouped
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.phrases import phrase
from xlareport.analysis.steps.replacements import ASYNC_FUSION, ASYNC_FUSION_END
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key


def say(kind: Kind, *changes: Change) -> str:
    groups = group_by_key((group.kind, group) for group in grouped(changes))
    return phrase(kind, groups)


def several(kind: Kind, count: int, **more: object) -> Iterator[Change]:
    for number in range(count):
        yield replace(change(kind, f"add.{number}"), **more)


@pytest.mark.parametrize(
    ("kind", "once", "twice"),
    [
        (Kind.REMOVED, "removed 1 add", "removed 2 adds"),
        (Kind.DEAD, "removed 1 dead add", "removed 2 dead adds"),
        (Kind.ADDED, "added 1 multiply", "added 2 multiplies"),
        (Kind.LAYOUT, "changed the layout of 1 add", "changed the layout of 2 adds"),
        (Kind.MERGED, "merged duplicates of 1 add", "merged duplicates of 2 adds"),
        (Kind.FOLDED, "folded 1 add into a constant", "folded 2 adds into constants"),
        (Kind.HOISTED, "moved 1 add out of loops", "moved 2 adds out of loops"),
        (Kind.SUNK, "moved 1 add into loops", "moved 2 adds into loops"),
        (Kind.ASYNC, "made 1 add asynchronous", "made 2 adds asynchronous"),
        (Kind.LEFT, "left 1 add without live users", "left 2 adds without live users"),
        (Kind.REWRITTEN, "rewrote 1 add as a multiply", "rewrote 2 adds as multiplies"),
        (Kind.REPLACED, "replaced 1 add with a multiply", "replaced 2 adds with multiplies"),
        (Kind.FUSED, "created 1 multiply", "created 2 multiplies"),
    ],
)
def test_changes_are_counted(kind: Kind, once: str, twice: str) -> None:
    assert say(kind, change(kind)) == once
    assert say(kind, *several(kind, 2)) == twice


def test_dots_that_became_sums_of_products_are_not_told_as_split() -> None:
    summed = [*several(Kind.SPLIT, 2, opcodes=("dot", "reduce"))]
    assert say(Kind.SPLIT, *summed) == "rewrote 2 dots as multiplies and reduces"
    words = "rewrote 2 dots as multiplies and reduces and split 1 add"
    assert say(Kind.SPLIT, *summed, change(Kind.SPLIT)) == words


def test_a_transposed_layout_is_told_apart_from_new_tiles() -> None:
    tiles = ShapeChange("{1,0}", "{1,0:T(8,128)}", is_tiling=True)
    turned = replace(change(Kind.LAYOUT), details=(ShapeChange("{1,0}", "{0,1:T(8,128)}"),))
    tiled = [*several(Kind.LAYOUT, 2, details=(tiles,))]
    assert say(Kind.LAYOUT, *tiled) == "changed the tiling of 2 adds"
    words = "changed the layout of 1 add and the tiling of 2 adds"
    assert say(Kind.LAYOUT, turned, *tiled) == words


def test_a_removal_that_is_a_guess_may_be_a_rewriting() -> None:
    guess = change(Kind.REMOVED, grade=Grade.GUESSED)
    assert say(Kind.REMOVED, guess) == "removed or rewrote 1 add"


def test_two_kinds_of_replacements_are_named_and_others_counted() -> None:
    opcodes = [("add", "subtract"), ("dot", "convolution"), ("copy", "bitcast"), ("sort", "topk")]
    changes = [
        replace(change(Kind.REPLACED, f"x.{number}"), opcodes=pair)
        for number, pair in enumerate(opcodes)
    ]
    assert say(Kind.REPLACED, *changes) == (
        "replaced 1 add with a subtract, 1 dot with a convolution and 2 others"
    )


def test_what_waits_at_once_was_made_synchronous() -> None:
    joined = replace(change(Kind.REPLACED), opcodes=("all-reduce-start", "all-reduce"))
    assert say(Kind.REPLACED, joined) == "made 1 all-reduce synchronous"


def test_what_async_fusions_execute_was_not_made_synchronous() -> None:
    begun = replace(
        change(Kind.REPLACED), opcodes=("all-gather-start", "all-gather"), target=ASYNC_FUSION
    )
    ended = replace(
        change(Kind.REPLACED, "done.1"),
        opcodes=("all-gather-done", "custom-call"),
        target=ASYNC_FUSION_END,
    )
    divided = "divided 1 all-gather among async collective fusions"
    assert say(Kind.REPLACED, begun, ended) == divided
    waiting = replace(change(Kind.REPLACED, "x.1"), opcodes=("all-reduce-start", "all-reduce"))
    assert say(Kind.REPLACED, begun, waiting) == f"made 1 all-reduce synchronous and {divided}"


def test_a_library_call_is_called_by_its_target() -> None:
    call = replace(change(Kind.REWRITTEN), opcodes=("dot", "custom-call"), target="topk")
    assert say(Kind.REWRITTEN, call) == "rewrote 1 dot as a `topk` custom-call"


def test_a_new_fusion_says_how_many_it_holds() -> None:
    members = tuple(Place("main", name) for name in "abc")
    fused = replace(change(Kind.FUSED), opcodes=("", "fusion"), members=members)
    assert say(Kind.FUSED, fused) == "created 1 fusion from 3 instructions"


def test_combined_ones_are_counted_before_and_after() -> None:
    members = tuple(Place("main", name) for name in "abc")
    both = replace(change(Kind.COMBINED), opcodes=("all-reduce", "all-reduce"), members=members)
    assert say(Kind.COMBINED, both) == "combined 3 all-reduces into 1"
    other = replace(both, opcodes=("add", "all-reduce"))
    assert say(Kind.COMBINED, other) == "combined 3 instructions into 1"


def test_one_of_which_copies_were_combined_is_not_counted_as_several() -> None:
    """A dot of a computation that several calls run, each with a result of its own."""
    of_calls = replace(
        change(Kind.COMBINED, "dot.1"), opcodes=("dot", "dot"), members=(Place("body", "dot.1"),)
    )
    assert say(Kind.COMBINED, of_calls) == "combined copies of 1 dot into 1"


def test_calls_are_inlined_and_loops_unrolled() -> None:
    members = Place("main", "a"), Place("main", "b")
    call = replace(change(Kind.INLINED, "call"), opcodes=("call", ""), members=members)
    loop = replace(change(Kind.INLINED, "while"), opcodes=("while", ""), members=members)
    assert say(Kind.INLINED, call) == "inlined 1 call into 2 instructions"
    assert say(Kind.INLINED, call, loop) == (
        "unrolled 1 while into 2 instructions and inlined 1 call into 2 instructions"
    )
    assert say(Kind.INLINED, replace(call, members=())) == "inlined 1 call"


def test_merged_fusions_say_whether_they_went_into_new_ones() -> None:
    into = Place("main", "new")
    merged = replace(
        change(Kind.ABSORBED, "old"), opcodes=("fusion", "fusion"), members=(into,), after=into
    )
    assert say(Kind.ABSORBED, merged) == "merged 1 fusion into others"
    fused = replace(change(Kind.FUSED), opcodes=("", "fusion"), after=into)
    assert say(Kind.ABSORBED, merged, fused) == "merged 1 fusion into the new fusion"


def test_backend_configs_that_only_got_defaults_are_counted_apart() -> None:
    default = ConfigChange((FieldChange("set", "a.b", is_default=True),))
    quiet = replace(change(Kind.CONFIG, "quiet"), details=(default,))
    assert say(Kind.CONFIG, change(Kind.CONFIG)) == "changed backend_config of 1 add"
    assert say(Kind.CONFIG, quiet).startswith("set defaults in the backend_config of 1 add")


def test_computations_are_counted_with_their_instructions() -> None:
    changes = [
        replace(change(Kind.UNCALLED, f"x.{number}"), before=Place(home, f"x.{number}"))
        for number, home in enumerate(("f", "f", "g"))
    ]
    assert say(Kind.UNCALLED, *changes) == "removed 2 dead computations of 3 instructions"


def test_what_is_not_traced_is_removed_or_added_or_rewritten() -> None:
    gone = replace(change(Kind.UNTRACED, "a"), opcodes=("add", ""), after=None)
    new = replace(change(Kind.UNTRACED, "b"), opcodes=("", "dot"), before=None)
    assert say(Kind.UNTRACED, gone, new) == "removed or rewrote 1 add and added or rewrote 1 dot"


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_phrase(kind: Kind) -> None:
    words = say(kind, change(kind))
    assert words
    assert words == words.strip()
    assert not words.endswith(".")
