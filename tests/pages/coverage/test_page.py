"""The coverage page: what was read, what was not, what flags would add."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace
from tests.pages import records_of_modules as records
from tests.pages.records_of_modules import module

from xlareport.analysis.module import unreadable_module
from xlareport.analysis.modules.settings import OptionOrigin
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.dump.classify import classify
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact
from xlareport.dump.source import Entry
from xlareport.pages.coverage.page import (
    _about_source_lines,
    coverage_page,
    passes_words,
)
from xlareport.readers.debug_options import FlagValue
from xlareport.records.report import DumpRecord, GeneratorRecord, ReportRecord


def artifacts(*paths: str) -> list[Artifact]:
    names = classify(paths)
    return [
        Artifact(Entry(path, 10, None, Path(path)), name)
        for path, name in zip(paths, names, strict=True)
    ]


def test_flags_that_would_add_something_are_those_of_the_backend() -> None:
    found = artifacts("module_0001.jit_f.cpu_after_optimizations.txt")
    dump = DumpRecord("d", 1, 1, backends=("cpu",), frontends=())
    report = ReportRecord(1, GeneratorRecord("x", "0"), dump, None, (), (), ())
    named = [one.example for one in coverage_page(report, found, [""], "").more]

    assert "--xla_dump_hlo_as_proto" in named
    assert "--xla_dump_hlo_as_text" not in named
    assert not any(name.startswith("--xla_gpu_") for name in named)
    assert not any(name.endswith("=false") for name in named), "on by default, so nothing to add"


def test_hlo_within_run_snapshots_is_not_said_to_lack() -> None:
    found = artifacts("module_0008.jit_f.snapshot.-501283989.pb")
    advice = coverage_page(records.report(records.module("main")), found, [""], "").advice

    assert any("only in run snapshots" in piece.words for piece in advice)


def test_a_dump_without_passes_proves_nothing_about_them() -> None:
    assert "says nothing about which passes ran" in passes_words([])


def summary(*paths: str, flags: tuple[FlagValue, ...] = ()) -> ModuleSummary:
    (files,) = group(artifacts(*paths)).modules
    nothing = unreadable_module(files, "nobody tried").summary
    choices = tuple(OptionOrigin(flag, "somebody", "exact", "") for flag in flags)
    return replace(nothing, settings=choices)


def test_the_flag_in_the_dump_says_how_passes_were_dumped() -> None:
    path = "module_0001.jit_f.0000.p.after_pipeline-start.before_dce.txt"
    flag = FlagValue("xla_dump_hlo_pass_re", ".*", 1)
    assert "From the flags in the dump" in passes_words([summary(path, flags=(flag,))])
    alone = passes_words([summary(path)])
    assert "too few to determine" in alone


def test_small_modules_tell_together_how_passes_were_dumped() -> None:
    names = ["0000.p.after_pipeline-start.before_a", "0001.p.after_b.before_c"]
    names += ["0002.p.after_d.before_e"]
    modules = [summary(*(f"module_000{i}.jit_f.{name}.txt" for name in names)) for i in range(4)]
    assert "too few to determine" in passes_words(modules[:1])
    assert "`--xla_dump_hlo_pass_re=.*`" in passes_words(modules)


@pytest.mark.parametrize(
    ("frontend", "lines", "flags"),
    [("pytorch_xla", (), ["XLA_HLO_DEBUG=1"]), ("pytorch_xla", ("a.py:3",), []), ("jax", (), [])],
)
def test_source_lines_of_pytorch_are_asked_for_where_there_are_none(
    frontend: str, lines: tuple[str, ...], flags: list[str]
) -> None:
    cost = cast("Any", SimpleNamespace(lines=lines))
    advice = list(_about_source_lines(replace(module("main"), frontend=frontend, cost=cost)))
    assert [each.flag for each in advice] == flags
    assert all("XLA_IR_DEBUG=1" in each.words.striptags() for each in advice)
    assert list(_about_source_lines(None)) == []
