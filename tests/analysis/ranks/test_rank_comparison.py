"""Modules of ranks against that of most ranks: which are compared, and what a fault costs."""

from collections.abc import Callable, Mapping

import pytest
from msgspec.structs import replace
from tests.analysis.modules.small_summaries import small_summary

from xlareport.analysis.modules.features import Features
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.ranks import rank_comparison
from xlareport.analysis.ranks.difference import RankPair
from xlareport.analysis.ranks.members import RankTable
from xlareport.analysis.ranks.rank_comparison import compare_ranks
from xlareport.dump.modules import FileFigures, ModuleFiles
from xlareport.runtime.worker_pool import InlineWorkers

Compare = Callable[[RankPair], object]


def module(key: str, content: str) -> ModuleSummary:
    figures = FileFigures(1, 100, "", None, 0)
    files = ModuleFiles(key, key, 1, "jit_f", None, (), (), outlined=figures)
    features = Features(content=content, entry=content)
    return replace(small_summary("jit_f"), files=files, features=features)


def compared(
    monkeypatch: pytest.MonkeyPatch,
    contents: str,
    compare: Compare,
    originals: Mapping[str, str] | None = None,
) -> tuple[list[tuple[str, str, bool]], list[str]]:
    """Return (reference, other, by lines) of each comparison, and the problems."""
    pairs: list[tuple[str, str, bool]] = []

    def note(pair: RankPair) -> object:
        pairs.append((pair.reference.key, pair.module.key, pair.by_lines))
        return compare(pair)

    monkeypatch.setattr(rank_comparison, "compare_rank_pair", note)
    modules = [module(f"m{at}", content) for at, content in enumerate(contents)]
    holders = {summary.files.key: (rank,) for rank, summary in enumerate(modules, 1)}
    table = RankTable(tuple(f"rank{at}" for at, _ in enumerate(modules)), holders, {})
    files = [summary.files for summary in modules]
    _, problems = compare_ranks(modules, table, files, InlineWorkers(), originals or {})
    return pairs, [problem.message for problem in problems]


def nothing(pair: RankPair) -> object:
    del pair


def test_each_module_is_compared_with_that_of_most_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, problems = compared(monkeypatch, "xyx", nothing)
    assert problems == []
    assert ("m0", "m1", False) in pairs
    assert all(reference == "m0" for reference, _, _ in pairs)


def test_of_many_known_to_be_equal_the_first_are_parsed_and_others_compared_by_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    originals = {f"m{at}": "m0" for at in range(1, 8)}
    pairs, _ = compared(monkeypatch, "x" * 8, nothing, originals)
    assert [by_lines for _, _, by_lines in pairs] == [False] * 4 + [True] * 3


def test_a_fault_costs_one_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(pair: RankPair) -> object:
        if pair.module.key == "m1":
            raise ZeroDivisionError("on purpose")
        return None

    pairs, problems = compared(monkeypatch, "xyz", fail)
    assert len(pairs) == 2
    (problem,) = problems
    assert problem.startswith("It could not be compared with m0 of other ranks: ")
    assert "ZeroDivisionError" in problem


def test_very_many_modules_are_not_all_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_comparison, "_MOST_MODULES", 2)
    pairs, problems = compared(monkeypatch, "xyzuv", nothing)
    assert len(pairs) == 2
    assert problems == ["2 modules of ranks were not compared: more than 2."]


def test_one_process_has_nobody_to_compare_with(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compared(monkeypatch, "x", nothing) == ([], [])
