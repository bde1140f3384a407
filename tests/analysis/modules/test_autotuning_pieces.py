"""Modules that a compiler cut out of another one."""

from msgspec.structs import replace
from tests.analysis.modules.small_summaries import small_summary

from xlareport.analysis.modules.autotuning_pieces import find_autotuning_pieces
from xlareport.analysis.modules.summary import ModuleSummary, SnapshotSummary
from xlareport.dump.modules import SnapshotFiles


def module(*names: str) -> ModuleSummary:
    stages = (SnapshotFiles(name, None, None, None, None, ()) for name in names)
    return replace(
        small_summary("jit_f"),
        stages=tuple(SnapshotSummary(stage.name, stage, 1, 1, None) for stage in stages),
    )


WHOLE = module("before_optimizations", "after_optimizations")
OLD = module("before_optimization", "after_optimization")
PIECE = module("after_optimizations")


def test_a_module_without_the_beginning_that_others_have_is_a_piece() -> None:
    pieces = find_autotuning_pieces([WHOLE, PIECE])
    assert PIECE in pieces
    assert WHOLE not in pieces


def test_the_name_of_older_compilers_is_a_beginning_too() -> None:
    assert PIECE in find_autotuning_pieces([OLD, PIECE])


def test_where_no_module_has_its_beginning_none_is_a_piece() -> None:
    assert PIECE not in find_autotuning_pieces([PIECE, PIECE])


def test_a_module_of_many_snapshots_was_compiled_as_a_whole() -> None:
    assert module(*("pass",) * 5) not in find_autotuning_pieces([WHOLE])
