"""Records of modules in a file: what lists ask of them is as in memory."""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from xlareport.records.report import StoredRecords
from xlareport.report import BuildOptions, read_report


def test_stored_records_answer_as_those_in_memory(unpacked: Callable[[str], Path]) -> None:
    report = read_report(unpacked("jax-cpu-two-runs"), BuildOptions())
    stored = replace(report, modules=StoredRecords(resident=0).extend(report.modules))
    assert list(stored.modules) == list(report.modules)
    assert stored.main_place == report.main_place
    assert stored.main_module == report.main_module
    assert stored.by_key.keys() == report.by_key.keys()
    for key, module in report.by_key.items():
        outline = stored.by_key[key]
        assert (outline.key, outline.role, outline.rank) == (key, module.role, module.rank)
        assert not hasattr(outline, "cost")
