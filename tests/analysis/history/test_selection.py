"""Which subjects a report keeps the histories of, where there is no room for all."""

from tests.modules import parse_module

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.selection import Selection, select_subjects
from xlareport.analysis.history.subjects import list_subjects

TEXT = b"""HloModule m

ENTRY %main (x: f32[8]) -> f32[] {
  %x = f32[8] parameter(0)
  %neg.1 = f32[8] negate(%x)
  %sin.1 = f32[8] sine(%neg.1), metadata={op_name="jit(f)/sin"}
  %ar.1 = f32[8] all-reduce(%sin.1), replica_groups={}, to_apply=%sum
  %dot.1 = f32[] dot(%ar.1, %x), lhs_contracting_dims={0}, rhs_contracting_dims={0},
    metadata={op_name="jit(f)/dot"}
  ROOT %call.1 = f32[] custom-call(%dot.1), custom_call_target="lib"
}

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add.1 = f32[] add(%a, %b)
}
"""


def select(most: int) -> Selection:
    module = parse_module(TEXT.replace(b",\n    metadata", b", metadata"))
    snapshots = SnapshotSequence([module, module])
    return select_subjects(snapshots, [*list_subjects(snapshots)], most)


def names(selection: Selection) -> list[str]:
    return [subject.name for subject in selection.kept]


def test_matmuls_collectives_and_library_calls_are_left_out_last() -> None:
    assert names(select(6)) == [
        *("main/%ar.1", "main/%dot.1", "main/%call.1"),
        *("main/%ar.1", "jit(f)/dot", "main/%call.1"),
    ]


def test_then_framework_ops_are_kept_and_what_passes_values_on_goes_first() -> None:
    assert "jit(f)/sin" in names(select(7))
    left_out = select(12).left_out
    assert {subject.name for subject in left_out} <= {"main/%x", "sum/%a", "sum/%b"}


def test_ops_that_are_left_out_are_told_from_instructions() -> None:
    selection = select(6)
    assert [op.name for op in selection.left_out_ops()] == ["jit(f)/sin"]
    assert {"sin.1", "neg.1", "x"} <= selection.left_out_names()


def test_where_there_is_room_for_all_their_order_is_kept() -> None:
    snapshots = SnapshotSequence([parse_module(TEXT.replace(b",\n    metadata", b", metadata"))])
    subjects = tuple(list_subjects(snapshots))
    assert select_subjects(snapshots, subjects, 100) == Selection(subjects, ())
