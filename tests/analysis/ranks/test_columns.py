"""Modules of several processes that are one program, and the processes that lack it."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from tests.analysis.modules.small_summaries import small_summary

from xlareport.analysis.modules.features import Features
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.ranks.columns import RankColumn, find_columns, group_programs
from xlareport.dump.modules import FileFigures, ModuleFiles


def module(key: str, name: str, content: str, number: int | None = None) -> ModuleSummary:
    figures = FileFigures(1, 100, "", None, 0)
    files = ModuleFiles(key, key, number, name, None, (), (), outlined=figures)
    return replace(
        small_summary(name), files=files, features=Features(content=content, entry=content)
    )


def columns(
    holders: Mapping[str, Sequence[int]], *modules: ModuleSummary
) -> list[tuple[str, tuple[tuple[int, ...], ...], tuple[int, ...]]]:
    return [
        (column.name, column.ranks, column.missing) for column in find_columns(modules, holders)
    ]


def test_equal_contents_of_several_processes_are_one_column_that_of_most_first() -> None:
    one, other = module("a", "jit_f", "x", 1), module("b", "jit_f", "y", 1)
    (column,) = find_columns([one, other], {"a": [1], "b": [2, 3]})
    assert [member.files.key for member in column.members] == ["b", "a"]
    assert (column.ranks, column.holders) == (((2, 3), (1,)), frozenset({1, 2, 3}))


def test_modules_of_one_process_are_columns_of_their_own() -> None:
    first, again = module("a", "jit_f", "x"), module("b", "jit_f", "x")
    ranks = [column[1] for column in columns({"a": [1], "b": [1]}, first, again)]
    assert ranks == [((1,),), ((1,),)]


def test_a_process_that_lacks_a_module_of_its_program_is_missing() -> None:
    every = [module(key, f"jit_{key}", key) for key in ("f", "g", "h")]
    found = columns({"f": [1, 2, 3], "g": [1, 2, 3], "h": [1, 3]}, *every)
    assert [missing for _, _, missing in found] == [(), (), (2,)]


def test_stages_of_a_pipeline_lack_nothing_of_each_other() -> None:
    every = [module(key, f"jit_{key}", key) for key in ("f", "g")]
    found = columns({"f": [1, 2], "g": [3, 4]}, *every)
    assert [missing for _, _, missing in found] == [(), ()]
    assert [ranks for _, ranks, _ in found] == [((1, 2),), ((3, 4),)]


def test_processes_with_other_modules_are_other_programs() -> None:
    def column(key: str, *numbers: int) -> RankColumn:
        return RankColumn(key, [module(key, key, key)], (numbers,))

    apart = group_programs([column("f", 1, 2), column("g", 3, 4)])
    assert set(apart) == {frozenset({1, 2}), frozenset({3, 4})}
    half = [column("f", 1, 2), column("g", 1, 2), column("h", 1), column("i", 2)]
    assert group_programs(half) == (frozenset({1, 2}),)
