"""Changes by a pass in one compilation only."""

from types import SimpleNamespace

from msgspec.structs import replace
from tests.analysis.modules.small_summaries import small_summary

from xlareport.analysis.compare.divergence import SnapshotDigest
from xlareport.analysis.compare.one_sided_passes import one_sided_passes, same_dumped
from xlareport.analysis.modules.summary import ModuleFigures


def snapshot(after: str | None, **changes: int) -> SnapshotDigest:
    named = tuple((opcode.replace("_", "-"), count) for opcode, count in changes.items())
    return SnapshotDigest(after or "start", after or "start", b"", "opt", after, changes=named)


def side(*snapshots: SnapshotDigest, instructions: int = 100) -> SimpleNamespace:
    final = ModuleFigures(instructions=instructions)
    return SimpleNamespace(snapshots=snapshots, summary=replace(small_summary("m"), final=final))


def comparison(base: SimpleNamespace | None, head: SimpleNamespace | None) -> SimpleNamespace:
    return SimpleNamespace(base=base, head=head, present=head or base)


def test_a_pass_of_one_side_comes_with_its_largest_change() -> None:
    base = side(snapshot("fusion", fusion=9))
    head = side(
        snapshot("fusion", fusion=9),
        snapshot("splitter", dot=4),
        snapshot("splitter", dot=8, add=1),
    )
    (difference,) = one_sided_passes(comparison(base, head))
    assert (difference.name, difference.side) == ("splitter", "head")
    assert (difference.opcode, difference.count) == ("dot", 12)
    assert (difference.steps, difference.number) == (2, 2)


def test_a_pass_that_both_have_is_none() -> None:
    both = side(snapshot("fusion", fusion=9)), side(snapshot("fusion", fusion=50))
    assert one_sided_passes(comparison(*both)) == ()


def test_a_change_below_a_hundredth_of_the_module_is_none() -> None:
    base, head = side(snapshot("a", add=1)), side(snapshot("a", add=1), snapshot("b", dot=1))
    assert one_sided_passes(comparison(base, head)) == ()
    small = side(snapshot("a", add=1), snapshot("b", dot=1), instructions=99)
    assert [found.name for found in one_sided_passes(comparison(base, small))] == ["b"]


def test_what_only_groups_values_does_not_count() -> None:
    head = side(snapshot("a", add=1), snapshot("b", tuple=50, get_tuple_element=50, dot=2))
    (difference,) = one_sided_passes(comparison(side(snapshot("a", add=1)), head))
    assert (difference.opcode, difference.count) == ("dot", 2)


def test_the_largest_changes_come_first_and_few_are_named() -> None:
    head = side(snapshot("z"), *(snapshot(f"p{size}", dot=size) for size in (5, 9, 7, 3)))
    differences = one_sided_passes(comparison(side(snapshot("z")), head))
    assert [difference.count for difference in differences] == [9, 7, 5]


def test_without_snapshots_between_passes_nothing_is_known() -> None:
    ends = side(snapshot(None))
    assert not same_dumped(comparison(ends, side(snapshot("a", add=9))))
    assert one_sided_passes(comparison(ends, side(snapshot("a", add=9)))) == ()
    assert one_sided_passes(comparison(None, side(snapshot("a", add=9)))) == ()
