"""The processes of a dump, their names, and what each compiled."""

from msgspec.structs import replace
from tests.analysis.modules.small_summaries import small_summary

from xlareport.analysis.modules.summary import ModuleSummary, SnapshotSummary
from xlareport.analysis.ranks.members import list_ranks, rank_table
from xlareport.dump.modules import FolderCopy, GroupedDump, ModuleFiles, SnapshotFiles

NOTHING = GroupedDump((), (), ())


def module(folder: str, number: int, name: str = "jit_f") -> ModuleSummary:
    key = f"{folder}module_{number:04d}.{name}"
    files = ModuleFiles(key, key, number, name, None, (), (), folder=folder)
    return replace(small_summary(name), files=files)


def test_processes_are_named_by_their_folders_in_natural_order() -> None:
    modules = [module(f"run/rank{rank}/", 1) for rank in (10, 2, 1)]
    table = list_ranks(modules, NOTHING)
    assert table.names == ("rank1", "rank2", "rank10")
    assert [*table.holders.values()] == [(3,), (2,), (1,)]
    assert table.numbers == {
        summary.files.key: number for summary, number in zip(modules, (3, 2, 1), strict=True)
    }


def test_modules_of_a_process_are_in_the_order_of_their_numbers() -> None:
    modules = [module("a/", 7), module("a/", 3), module("b/", 1)]
    table = list_ranks(modules, NOTHING)
    assert [*table.orders[0]] == [modules[1].files.key, modules[0].files.key]


def test_equal_modules_of_other_processes_count_for_these_too() -> None:
    first, copy = module("a/", 1), module("b/", 1)
    grouped = GroupedDump((), (), (), copies={first.files.key: (copy.files,)})
    table = list_ranks([first], grouped)
    assert table.names == ("a", "b")
    assert table.holders[first.files.key] == (1, 2)


def test_a_folder_that_repeats_another_is_a_process_as_well() -> None:
    grouped = GroupedDump((), (), (), folder_copies=(FolderCopy("b", "a", 3, 100),))
    first = module("a/", 1)
    table = list_ranks([first], grouped)
    assert len(table.names) == 2
    assert table.holders[first.files.key] == (1, 2)


def test_a_number_that_comes_twice_is_of_no_known_process() -> None:
    stage = SnapshotFiles("after_optimizations", None, None, None, None, ())
    modules = [
        replace(
            module("", 1, name),
            stages=(SnapshotSummary("after_optimizations", stage, 10, 1, None),),
        )
        for name in ("jit_f", "jit_g")
    ]
    table = list_ranks(modules, NOTHING)
    assert table.names == ()
    assert [*table.numbers.values()] == [None, None]
    assert table.count(modules) is None


def test_processes_are_counted_by_the_modules_that_were_compiled() -> None:
    modules = [module("a/", 1), module("b/", 1)]
    table = list_ranks(modules, NOTHING)
    assert table.count(modules) == 2


def test_where_it_fails_no_process_is_known_and_that_is_a_problem() -> None:
    broken = GroupedDump((), (), (), copies=None)  # type: ignore[arg-type]
    table, problems = rank_table("dump", [module("a/", 1)], broken)
    assert table.names == ()
    assert [problem.path for problem in problems] == ["dump"]
