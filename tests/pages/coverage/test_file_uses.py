"""What was done with each file of a dump."""

from collections.abc import Sequence

from tests.pages.coverage.test_page import artifacts

from xlareport.dump.grouping import NamedDump, group, owners
from xlareport.dump.modules import Artifact
from xlareport.pages.coverage.file_uses import file_uses


def uses(found: list[Artifact], read: list[str]) -> Sequence[str]:
    grouped = group(found)
    return file_uses(NamedDump(found, grouped, owners(found, grouped.modules)), [read], [], {})


def test_coverage_tells_what_was_read_and_what_was_not() -> None:
    found = artifacts(
        "module_0001.jit_f.before_optimizations.txt",
        "module_0001.jit_f.before_optimizations.dot",
        "module_0001.jit_f.debug_options",
        "notes.md",
    )
    said = uses(found, ["module_0001.jit_f.before_optimizations.txt"])
    assert said[0] == "read: snapshots and steps"
    assert "another form" in said[1]
    assert said[2] == said[3] == "listed and explained, not read"


def test_a_log_that_holds_files_was_read() -> None:
    found = artifacts("out.log", "out.log/module_0001.jit_f.before_optimizations.txt")
    assert "contained in it" in uses(found, [found[1].path])[0]
