"""Collective-permutes without pairs, by who made them."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.analysis.findings.conftest import MakeCase
from tests.analysis.findings.texts import having

from xlareport.analysis.findings.emptied_pairs import find_emptying_step
from xlareport.analysis.findings.empty_permutes import empty_permutes
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.program import read_module
from xlareport.snapshots import PassStep

PERMUTE = having("empty-permutes")
GATHER = PERMUTE.replace(
    "collective-permute(a), channel_id=1, source_target_pairs={}",
    "all-gather(a), channel_id=1, dimensions={0}, replica_groups={{0},{1},{2},{3}}",
)


def test_a_pass_that_dropped_the_pairs_is_named(case_of: MakeCase) -> None:
    step = PassStep("all-gather-to-collective-permute-simplifier", "0081")
    (finding,) = empty_permutes(replace(case_of(PERMUTE), emptying_step=step))
    assert finding.severity == "high"
    assert finding.evidence == (
        "`p` has no source-target pairs: no device sends, and its result is zeros on every device. "
        "The first appears after `all-gather-to-collective-permute-simplifier` (step 0081)."
    )
    assert "--xla_disable_hlo_passes=all-gather-to-coll" in finding.suggestion


def test_a_program_can_have_one_itself(case_of: MakeCase) -> None:
    case = case_of(PERMUTE, PERMUTE)
    (finding,) = empty_permutes(case)
    assert finding.severity == "low"
    assert "The program before optimization has such a collective-permute." in finding.evidence


@pytest.mark.parametrize(
    ("texts", "step"),
    [
        ((GATHER, PERMUTE, PERMUTE), PassStep("second", "0001")),
        ((PERMUTE, PERMUTE, PERMUTE), None),
        ((GATHER, PERMUTE, GATHER), None),
    ],
)
def test_the_step_is_the_first_with_one(
    tmp_path: Path, texts: tuple[str, ...], step: PassStep | None
) -> None:
    for number, (name, text) in enumerate(zip(("first", "second", "third"), texts, strict=True)):
        path = f"module_0001.jit_f.{number:04d}.passes.after_{name}.before_more.txt"
        (tmp_path / path).write_text(f"{text}\n// {number}\n")
    with open_source(tmp_path) as source:
        (files,) = group(name_files(source)).modules
        assert find_emptying_step(read_module(files).snapshots) == step
