"""No rule fails on an instruction without operands: drawings leave some out."""

import re
from pathlib import Path

import pytest
from tests.analysis.findings.conftest import MakeCase
from tests.analysis.findings.texts import FINDINGS, paths_of_texts, read_texts

from xlareport.analysis.findings.rules import find_candidates, find_findings

OPERANDS = re.compile(r"(?<= = )(.*? [a-z][a-z0-9-]*\()[^()\n]*(\).*)$", re.MULTILINE)
KEPT = re.compile(r"(parameter|constant|iota)\($")
MOST_LINES = 60
"""Of a module: those of compilers are large."""


@pytest.mark.parametrize(
    "path", paths_of_texts(), ids=lambda path: str(path.relative_to(FINDINGS).with_suffix(""))
)
def test_a_rule_meets_an_instruction_without_operands(case_of: MakeCase, path: Path) -> None:
    text = read_texts(path)["having"]
    lines = [found for found in OPERANDS.finditer(text) if not KEPT.search(found[1])]
    assert lines
    for found in lines[:: max(1, len(lines) // MOST_LINES)]:
        case = case_of(f"{text[: found.start()]}{found[1]}{found[2]}{text[found.end() :]}")
        find_findings(case)
        find_candidates(case)
