"""Warnings of a log, at the modules that they are about."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.analyzed import analyze_named

from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.partitioner_warnings import assign_warnings
from xlareport.readers.partitioner_log import PartitionerWarning, read_partitioner_log

Unpack = Callable[[str], Path]
RULE = "involuntary-rematerializations"


@pytest.fixture(scope="module")
def warnings(unpacked: Unpack) -> tuple[PartitionerWarning, ...]:
    log = unpacked("resharded") / "rematerialized" / "stderr.log"
    return read_partitioner_log(log.read_bytes())


@pytest.fixture(scope="module")
def bare(unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory) -> ModuleAnalysis:
    """Return the analysis without the snapshots of passes, as of a dump by default."""
    folder = tmp_path_factory.mktemp("bare")
    for path in (unpacked("resharded") / "rematerialized").glob("*optimizations.txt"):
        shutil.copy(path, folder)
    return analyze_named(folder).analysis


def assigned(
    module: ModuleAnalysis, warnings: tuple[PartitionerWarning, ...]
) -> tuple[tuple[PartitionerWarning, ...], list[str]]:
    (result,) = assign_warnings([module], warnings)
    assert result.shardings is not None
    assert result.cost is not None
    rules = [finding.evidence for finding in result.cost.findings if finding.rule == RULE]
    described = result.shardings.warnings
    assert all(warning.from_words and warning.to_words for warning in described)
    undescribed = (replace(warning, from_words="", to_words="") for warning in described)
    return tuple(undescribed), rules


def test_what_the_final_module_hides_the_log_tells(
    bare: ModuleAnalysis, warnings: tuple[PartitionerWarning, ...]
) -> None:
    assert bare.shardings is not None
    assert bare.cost is not None
    assert not bare.shardings.is_read_fresh
    others = tuple(finding for finding in bare.cost.findings if finding.rule != RULE)
    hidden = replace(
        bare,
        shardings=replace(bare.shardings, rematerializations=()),
        cost=replace(bare.cost, findings=others),
    )
    about, (evidence,) = assigned(hidden, warnings)
    assert about == warnings
    assert evidence.startswith("The log warns of `add.2` (`jit(rematerialized)/add`), from ")
    assert "16.0 KiB on each device" in evidence


def test_what_the_snapshots_show_is_not_reported_again(
    unpacked: Unpack, warnings: tuple[PartitionerWarning, ...]
) -> None:
    about, (evidence,) = assigned(
        analyze_named(unpacked("resharded") / "rematerialized").analysis, warnings
    )
    assert about == warnings
    assert not evidence.startswith("The log")


def test_what_the_final_module_shows_is_not_reported_again(
    bare: ModuleAnalysis, warnings: tuple[PartitionerWarning, ...]
) -> None:
    about, (evidence,) = assigned(bare, warnings)
    assert about == warnings
    assert "Read from the final module" in evidence


def test_another_function_is_not_meant(
    bare: ModuleAnalysis, warnings: tuple[PartitionerWarning, ...]
) -> None:
    other = tuple(replace(warning, op_name="jit(other)/add") for warning in warnings)
    about, rules = assigned(bare, other)
    assert about == ()
    assert not any(rule.startswith("The log") for rule in rules)


def test_without_an_op_name_it_is_the_only_partitioned_module(
    bare: ModuleAnalysis, warnings: tuple[PartitionerWarning, ...]
) -> None:
    nameless = tuple(replace(warning, op_name="") for warning in warnings)
    about, rules = assigned(bare, nameless)
    assert about == nameless
    assert not any(rule.startswith("The log") for rule in rules)
    pair = list(assign_warnings([bare, bare], nameless))
    assert [one.shardings and one.shardings.warnings for one in pair] == [(), ()]
