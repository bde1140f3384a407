"""Reasons that name a use, held against the texts."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from tests.modules import parse_module

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from reasons import reason_failures

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.step import step

_BEFORE = """
HloModule m

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %old = f32[4]{0} sine(%a)
  ROOT %user = f32[4]{0} cosine(%old)
}
"""
_AFTER = """
HloModule m

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %old = f32[4]{0} sine(%a)
  %first = f32[4]{0} negate(%old)
  %second = f32[4]{0} tanh(%first)
  ROOT %user = f32[4]{0} cosine(%second)
}
"""


@pytest.mark.parametrize(
    ("reason", "holds"),
    [
        ("inserted between %old and %user", True),
        ("inserted between %a and %user", False),
        ("inserted between %old and %a", False),
        ("used by %second", True),
        ("used by %user", False),
    ],
)
def test_a_new_chain_stands_between_its_ends(reason: str, *, holds: bool) -> None:
    before, after = parse_module(_BEFORE), parse_module(_AFTER)
    changes = step(before, after).changes
    assert not [*reason_failures(before, after, step(before, after))]
    altered: Any = SimpleNamespace(
        changes=[
            replace(change, reason=reason) if change.after == Place("main", "first") else change
            for change in changes
        ]
    )
    assert bool([*reason_failures(before, after, altered)]) is not holds
