"""Modules of ranks that differ in names, ids and notes alone are analyzed once."""

from pathlib import Path

import pytest
from tests.analysis.ranks.program import KEY, STAGES, Edit, replaced, swapped, write_ranks

from xlareport.dump.equivalent_modules import find_equivalent_modules
from xlareport.dump.grouping import group_source
from xlareport.dump.source import open_source
from xlareport.report import BuildOptions, read_report


def twins(root: Path, edit: Edit, *stages: str) -> dict[str, str]:
    """Return, of three ranks of which the last is edited, which module repeats which."""
    write_ranks(root, 3, {2: dict.fromkeys(stages, edit)})
    with open_source(root) as source:
        modules = group_source(source).grouped.modules
        assert len(modules) == 2
        return dict(find_equivalent_modules(modules))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("index = 12", "index = 13"),
        ("%call", "%call.77"),
        ("%fused", "%fused.clone"),
        ("%p", "%parameter.9"),
        ("channel_id=2", "channel_id=9"),
        ('op_name="jit(step)/psum"', 'op_name="jit(step)/{other} \\" one"'),
        ("\n\n%sum", '\n\nFileNames\n1 "/home/a.py"\n\n\n%sum'),
    ],
)
def test_names_ids_and_notes_do_not_count(tmp_path: Path, old: str, new: str) -> None:
    assert len(twins(tmp_path, replaced(old, new), STAGES[-1])) == 1


@pytest.mark.parametrize(
    "edit",
    [
        replaced("constant(3)", "constant(5)"),
        replaced("tanh", "cosine"),
        replaced("[2,4]<=[8]", "[4,2]<=[8]"),
        replaced("f32[64]", "f32[65]"),
        replaced("fusion(%call)", "fusion(%x)"),
        replaced("channel_id=2", "channel_id=1"),
        swapped,
    ],
)
def test_everything_else_counts(tmp_path: Path, edit: Edit) -> None:
    assert twins(tmp_path, edit, STAGES[-1]) == {}


def test_other_files_are_compared_with_the_names_of_their_own_texts(tmp_path: Path) -> None:
    write_ranks(tmp_path, 3, {2: dict.fromkeys(STAGES, replaced("%call", "%call.7"))})
    for rank, name in enumerate(("call", "call", "call.7")):
        place = tmp_path / f"rank_{rank}" / f"{KEY}.thunk_sequence.txt"
        place.write_text(f"000: kKernel {name}\n")
    with open_source(tmp_path) as source:
        assert len(find_equivalent_modules(group_source(source).grouped.modules)) == 1
    place.write_text("000: kKernel reduce\n")
    with open_source(tmp_path) as source:
        assert find_equivalent_modules(group_source(source).grouped.modules) == {}


def test_a_twin_has_the_analysis_of_the_other_and_its_own_difference(tmp_path: Path) -> None:
    edit = replaced("%call", "%call.77")
    write_ranks(tmp_path, 3, {2: dict.fromkeys(STAGES, edit)})
    report = read_report(tmp_path, BuildOptions())
    first, second = report.modules
    assert second.same_as == first.key
    assert second.final == first.final
    (group,) = report.rank_groups
    assert group.first is not None
    assert (group.verdict, group.first.instruction) == ("harmless", "call.77")
    assert group.first.module == second.key
