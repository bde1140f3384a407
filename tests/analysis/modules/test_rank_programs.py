"""Modules of several processes that are one program."""

from msgspec.structs import replace
from tests.analysis.modules.small_summaries import small_summary

from xlareport.analysis.modules.features import Features
from xlareport.analysis.modules.processes import Process
from xlareport.analysis.modules.rank_programs import find_rank_groups, is_rank_of
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.dump.modules import FileFigures, ModuleFiles


def module(key: str, content: str = "x", number: int = 1, name: str = "jit_f") -> ModuleSummary:
    figures = FileFigures(1, 100, "", None, 0)
    files = ModuleFiles(key, key, number, name, None, (), (), outlined=figures)
    features = Features(content=content, entry=content)
    return replace(small_summary(name), files=files, features=features)


def groups(*rows: tuple[ModuleSummary, Process | None]) -> list[tuple[str, list[str]]]:
    assigned = {summary.files.key: process for summary, process in rows}
    found = find_rank_groups([summary for summary, _ in rows], assigned)
    return [(name, [summary.files.key for summary in members]) for name, members in found]


def test_equal_modules_of_two_processes_are_one_program() -> None:
    assert groups((module("a"), ("0", 0)), (module("b", number=9), ("1", 0))) == [
        ("jit_f", ["a", "b"])
    ]


def test_the_first_compilation_corresponds_to_the_first_of_another_process() -> None:
    rows = [
        (module("a1", "x"), ("0", 0)),
        (module("a2", "y"), ("0", 0)),
        (module("b1", "x"), ("1", 0)),
        (module("b2", "y"), ("1", 0)),
    ]
    assert groups(*rows) == [("jit_f", ["a1", "b1"]), ("jit_f", ["a2", "b2"])]


def test_other_functions_of_one_name_are_no_program() -> None:
    rows = [(module("a", "x", 1), ("0", 0)), (module("b", "y", 2), ("1", 0))]
    assert groups(*rows) == []


def test_modules_of_one_process_are_none() -> None:
    assert groups((module("a"), ("0", 0)), (module("b"), ("0", 0))) == []


def test_the_same_number_or_content_makes_a_rank() -> None:
    first = module("a", "x", 1)
    assert is_rank_of(module("b", "x", 2), first)
    assert is_rank_of(module("b", "y", 1), first)
    assert not is_rank_of(module("b", "y", 2), first)
