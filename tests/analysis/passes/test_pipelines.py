from collections.abc import Sequence

from xlareport.analysis.passes.pipelines import Part, Pipeline, StageEntry, build_pipeline_tree
from xlareport.dump.modules import SnapshotFiles


def stages(*named: str) -> list[SnapshotFiles]:
    """`p start`, `p dce` and so on; `-` is a snapshot outside the pipelines."""
    found = []
    for number, one in enumerate(named):
        pipeline, _, after = one.partition(" ")
        if pipeline == "-":
            found.append(SnapshotFiles("before_optimizations", None, None, None, None, ()))
        else:
            last = "pipeline-start" if after == "start" else after
            found.append(SnapshotFiles("pass", number, pipeline, last, "x", ()))
    return found


def told(parts: Sequence[Part]) -> list[object]:
    """Return the tree as nested lists: indices, and names with their rounds."""
    found: list[object] = []
    for part in parts:
        match part:
            case StageEntry():
                found.append((part.first, part.last) if part.last > part.first else part.first)
            case Pipeline():
                found.append([part.name, *(told(run.parts) for run in part.runs)])
    return found


def tree(*named: str, unchanged: Sequence[int] = ()) -> list[object]:
    identical = [number in unchanged for number in range(1, len(named))]
    return told(build_pipeline_tree(stages(*named), identical))


def test_pipelines_one_after_the_other() -> None:
    assert tree("-", "p start", "p dce", "q start", "-") == [
        0,
        ["p", [1, 2]],
        ["q", [3]],
        4,
    ]


def test_a_pipeline_that_begins_anew_is_a_further_round() -> None:
    assert tree("p start", "p dce", "p start", "p cse", "p start") == [["p", [0, 1], [2, 3], [4]]]


def test_a_pipeline_inside_another_that_goes_on() -> None:
    assert tree("outer start", "inner start", "inner dce", "inner start", "outer inner") == [
        ["outer", [0, ["inner", [1, 2], [3]], 4]]
    ]


def test_a_pass_that_writes_its_own_snapshots() -> None:
    assert tree("p start", "copy adding", "copy removing", "p copy") == [
        ["p", [0, ["copy", [1, 2]], 3]]
    ]


def test_unchanged_snapshots_in_a_row_are_folded() -> None:
    assert tree("p start", "p a", "p b", "p c", unchanged=[1, 2]) == [["p", [0, (1, 2), 3]]]


def test_a_pipeline_in_which_nothing_changed_says_so() -> None:
    [part] = build_pipeline_tree(stages("p start", "p a"), [True])
    assert isinstance(part, Pipeline)
    assert not part.unchanged
    [_, second] = build_pipeline_tree(stages("p start", "q start", "q a"), [True, True])
    assert second.unchanged


def test_a_dump_without_starts_has_its_pipelines_too() -> None:
    assert tree("p fusion", "p cse", "q fusion") == [["p", [0, 1]], ["q", [2]]]


def test_nothing() -> None:
    assert tree() == []
