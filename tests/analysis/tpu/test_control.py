"""The scalar operations of a program that decide its branches."""

from xlareport.analysis.tpu.control import (
    SELECT,
    SELECT_NOT,
    Action,
    bundles_with_operations,
    control_actions,
)
from xlareport.readers.llo.bundles import Bundle


def actions(*bundles: str) -> dict[int, tuple[Action, ...]]:
    listing = [Bundle(at, 0, f"{{ {body} }}") for at, body in enumerate(bundles)]
    return dict(control_actions(bundles_with_operations(listing)))


BRANCH = "%9 = sbr.rel (%p1_p0) target bundleno = 6 (0x6), region = 1"


def test_only_what_a_branch_depends_on_is_kept() -> None:
    kept = actions(
        "%s1_s1 = smov 0  ;;  %s7_s7 = smov 3",
        "%v1_v1 = vadd.s32 %v1_v1, %v1_v1",
        "%p1_p0 = scmp.ge.s32.totalorder %s1_s1, 4",
        BRANCH,
    )
    assert [*kept] == [0, 2, 3]
    assert [action.target for action in kept[0]] == ["s1"]


def test_without_a_branch_nothing_is_kept() -> None:
    assert actions("%s1_s1 = smov 0") == {}


def test_a_branch_has_its_target_and_predicate() -> None:
    kept = actions(BRANCH, "%10 = sbr.rel (!%p2_p1) nowhere")
    (first,), (second,) = kept[0], kept[1]
    assert (first.branch, first.predicate, first.negated) == (6, "p0", False)
    assert (second.branch, second.predicate, second.negated) == (-1, "p1", True)


def test_a_value_is_followed_through_a_slot_for_spilled_registers() -> None:
    kept = actions(
        "%s1_s1 = smov 5",
        "%1 = sst [smem:[#allocation3_spill]] %s1_s1",
        "%s2_s2 = sld [smem:[#allocation3_spill]]",
        "%p1_p0 = scmp.ge.s32.totalorder %s2_s2, 4",
        BRANCH,
    )
    assert [*kept] == [0, 1, 2, 3, 4]
    (stored,), (loaded,) = kept[1], kept[2]
    assert stored.target == "#allocation3_spill"
    assert loaded.arguments == ("#allocation3_spill",)


def test_a_guarded_move_selects() -> None:
    kept = actions(
        "%s3_s3 = smov (%p2_p1, %s1_s1), 0  ;;  %s4_s4 = smov (!%p2_p1, %s1_s1), 7",
        "%p1_p0 = scmp.ge.s32.totalorder %s3_s3, %s4_s4",
        BRANCH,
    )
    assert [action.opcode for action in kept[0]] == [SELECT_NOT, SELECT]
    assert kept[0][1].arguments[-1] == 7
