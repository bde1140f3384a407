"""Changes that are alike are one group."""

import pytest
from msgspec.structs import replace
from tests.analysis.steps.made_change import change

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.details import AttributesChange, ConfigChange, FieldChange
from xlareport.analysis.steps.groups import ChangeGroup, grouped, renumbered
from xlareport.analysis.steps.kinds import Kind
from xlareport.knowledge.grades import Grade


def test_groups_put_like_changes_together() -> None:
    changes = [change(Kind.REPLACED, f"add.{number}") for number in range(5)]
    [group] = grouped(changes)
    assert (group.count, group.opcodes, group.scope) == (5, ("add", "multiply"), "layer_1/mlp")
    assert len(group.examples) == 3
    assert group.repetition == "one of 5"


def test_the_surest_examples_come_first() -> None:
    changes = [change(Kind.REPLACED, "a", Grade.GUESSED), change(Kind.REPLACED, "b")]
    [group] = grouped(changes)
    assert [example.grade for example in group.examples] == [Grade.EXACT, Grade.GUESSED]


def test_nothing_renumbered() -> None:
    assert renumbered([change(Kind.RENAMED)]) is None
    assert isinstance(grouped([]), tuple)


def test_one_change_needs_no_repetition() -> None:
    [group] = grouped([change(Kind.ADDED)])
    assert isinstance(group, ChangeGroup)
    assert group.repetition == ""


def test_the_branches_of_a_conditional_are_no_layers() -> None:
    scopes = ("step/cond/branch_0_fun", "step/cond/branch_1_fun")
    [group] = grouped([replace(change(Kind.COMBINED), scope=scope) for scope in scopes])
    assert (group.count, group.per_layer) == (2, None)
    deeper = [f"{scope}/layer_{layer}" for scope in scopes for layer in range(3)]
    [group] = grouped([replace(change(Kind.COMBINED, scope), scope=scope) for scope in deeper])
    assert group.repetition == "one of 6, 2 per layer"


@pytest.mark.parametrize("other", ["up1", "loss", ""])
def test_what_is_not_in_layers_of_one_series_has_no_count_per_layer(other: str) -> None:
    scopes = ("down0", "down1", other)
    changes = [replace(change(Kind.CONFIG, f"add.{scope}"), scope=scope) for scope in scopes]
    [group] = grouped(changes)
    assert group.repetition == "one of 3"
    [group] = grouped(changes[:2])
    assert group.repetition == "one of 2, one per layer"


def test_the_numbers_of_computations_are_no_layers() -> None:
    inside = [
        replace(change(Kind.DEAD), before=Place(name, "x"), after=None, scope=name)
        for name in ("region_1.2", "region_3.4")
    ]
    [group] = grouped(inside)
    assert (group.count, group.per_layer, group.scope) == (2, None, "region_*.*")


def test_what_became_several_is_one_of_those_before() -> None:
    moved = [change(Kind.SWAPPED, f"add.{number}") for number in range(3)]
    more = replace(moved[0], after=Place("main", "further"))
    [group] = grouped([*moved, more])
    assert group.repetition == "one of 3"
    copies = [change(Kind.CLONED, "add"), replace(change(Kind.CLONED, "add"), after=more.after)]
    [group] = grouped(copies)
    assert group.repetition == "one of 2"


def test_a_change_counts_in_full_under_each_of_its_kinds() -> None:
    kinds = (Kind.LAYOUT, Kind.SHARDING, Kind.METADATA, Kind.RENAMED)
    both = replace(change(Kind.LAYOUT), kinds=kinds, details=("{0} → {1}", "none → all", "a", "b"))
    alone = replace(
        change(Kind.SHARDING, "add.2"), kinds=kinds[1:], details=("none → all", "a", "b")
    )
    groups = grouped([both, alone])
    assert {group.kind: group.sources for group in groups} == {Kind.LAYOUT: 1, Kind.SHARDING: 2}
    assert groups[1].examples[0].details == ("none → all", "{0} → {1}", "a", "b")
    assert groups[1].examples[0].kinds[0] is Kind.SHARDING


def test_what_mostly_follows_counts_in_full_where_an_instruction_has_nothing_else() -> None:
    kinds = (Kind.SHAPE, Kind.METADATA)
    both = replace(change(Kind.SHAPE), kinds=kinds, details=("[2] → [4]", "a → b"))
    alone = change(Kind.METADATA, "add.2")
    counts = {group.kind: group.sources for group in grouped([both, alone])}
    assert counts == {Kind.SHAPE: 1, Kind.METADATA: 2}
    assert [group.kind for group in grouped([both])] == [Kind.SHAPE]


def test_the_other_shape_of_a_turned_product_counts_under_that_alone() -> None:
    kinds = (Kind.TURNED, Kind.SHAPE)
    turned = replace(change(Kind.TURNED), kinds=kinds, details=("[2,4] → [4,2]",) * 2)
    assert [group.kind for group in grouped([turned])] == [Kind.TURNED]


def test_the_other_shape_of_what_moved_into_a_loop_is_told_with_the_move() -> None:
    kinds = (Kind.SUNK, Kind.SHAPE)
    moved = replace(change(Kind.SUNK), kinds=kinds, details=("moved into %while", "[4] → [1]"))
    assert [group.kind for group in grouped([moved])] == [Kind.SUNK]
    first = replace(moved, kind=Kind.SHAPE, kinds=kinds[::-1], details=moved.details[::-1])
    assert [group.kind for group in grouped([first])] == [Kind.SHAPE, Kind.SUNK]


def test_fields_of_a_configuration_are_told_with_the_number_that_got_them() -> None:
    tiles = ConfigChange((FieldChange("set", "triton_gemm_config"),))
    cleared = FieldChange("cleared", "reification_cost")
    queue, other = (
        ConfigChange((FieldChange("set", "operation_queue_id", f' to "{number}"'), cleared))
        for number in "01"
    )
    details = (tiles, queue, other)
    changed = [
        replace(change(Kind.CONFIG, f"dot.{number}"), kinds=(Kind.CONFIG,), details=(detail,))
        for number, detail in enumerate(details)
    ]
    assert [(group.count, group.examples[0].details[0]) for group in grouped(changed)] == [
        (2, queue),
        (1, tiles),
    ]


@pytest.mark.parametrize(
    ("sizes", "example", "repetition"),
    [
        ((16, 128, 128), "128", "one of 3, 2 with these values"),
        ((128, 128), "128", "one of 2"),
        ((16, 32, 64), "16", "one of 3, the others with other values"),
    ],
)
def test_how_many_got_the_values_of_the_example_is_told_where_they_differ(
    sizes: tuple[int, ...], example: str, repetition: str
) -> None:
    details = [ConfigChange((FieldChange("set", "sizes", f" to [{size}]"),)) for size in sizes]
    changed = [
        replace(change(Kind.CONFIG, f"dot.{number}"), kinds=(Kind.CONFIG,), details=(detail,))
        for number, detail in enumerate(details)
    ]
    [group] = grouped(changed)
    assert f"to [{example}]" in str(group.examples[0].details[0])
    assert group.repetition == repetition


@pytest.mark.parametrize(
    ("texts", "repetition"),
    [
        (
            ("dims: {0} → {1}", "dims: {2} → {1}", "dims: {2} → {1}"),
            "one of 3, 2 with these values",
        ),
        (("dims: {0} → {1}",) * 2, "one of 2"),
        (("reads %a", "reads %b"), "one of 2"),
        (("sharding: none → {de…", "sharding: none → {re…"), "one of 2"),
    ],
)
def test_how_many_got_the_numbers_of_the_example_but_not_names_or_what_is_cut(
    texts: tuple[str, ...], repetition: str
) -> None:
    kind = Kind.SHARDING if "sharding" in texts[0] else Kind.ATTRIBUTES
    details = [
        text if kind is Kind.SHARDING else AttributesChange(("dims",), text) for text in texts
    ]
    changed = [
        replace(change(kind, f"dot.{number}"), kinds=(kind,), details=(detail,))
        for number, detail in enumerate(details)
    ]
    [group] = grouped(changed)
    assert group.repetition == repetition
