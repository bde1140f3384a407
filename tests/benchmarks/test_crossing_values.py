"""The check of elementwise pairs by the values that they compute of."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.search.pairing import Pairing, Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.knowledge.grades import Grade

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from crossing_values import value_failures

_HEAD = """HloModule m

ENTRY %main (p: bf16[4,2], q: bf16[2,4]) -> (f32[8], f32[8]) {
  %p = bf16[4,2] parameter(0)
  %q = bf16[2,4] parameter(1)
  %exp.1 = bf16[4,2] exponential(%p)
  %exp.2 = bf16[2,4] exponential(%q)
"""
_BEFORE = """  %convert.1 = f32[4,2] convert(%exp.1)
  %convert.2 = f32[2,4] convert(%exp.2)
  ROOT %t = (f32[4,2], f32[2,4]) tuple(%convert.1, %convert.2)
}
"""
_AFTER = """  %transpose.1 = bf16[2,4] transpose(%exp.1), dimensions={1,0}
  %transpose.2 = bf16[4,2] transpose(%exp.2), dimensions={1,0}
  %convert.3 = f32[2,4] convert(%transpose.1)
  %convert.4 = f32[4,2] convert(%transpose.2)
  ROOT %t = (f32[2,4], f32[4,2]) tuple(%convert.3, %convert.4)
}
"""


@pytest.mark.parametrize(("numbers", "count"), [((3, 4), 0), ((4, 3), 2)])
def test_converts_of_values_that_are_no_pair_are_none(numbers: Sequence[int], count: int) -> None:
    pairings = tuple(
        Pairing(
            (Place("main", f"convert.{old}"),),
            (Place("main", f"convert.{new}"),),
            Grade.MATCHED,
            "as told",
        )
        for old, new in enumerate(numbers, start=1)
    )
    modules = parse_module(_HEAD + _BEFORE), parse_module(_HEAD + _AFTER)
    assert len([*value_failures(Matching(*modules, {"main": "main"}, pairings))]) == count
