"""Whole parameters of which each use takes a part."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.shardings.cut_parameters import find_cut_parameters
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.analysis.shardings.sharding_changes import find_changes

CUT = "sharding={devices=[4,1]<=[4]}"
TEXT = f"""HloModule m, num_partitions=4

ENTRY e {{
  a = f32[8,8] parameter(0), sharding={{replicated}}
  b = f32[8,8] copy(a), {CUT}
  c = f32[8,8] negate(a), {CUT}
  ROOT d = f32[8,8] add(b, c), {CUT}
}}
"""


def cut(text: str) -> list[tuple[int, int]]:
    module = parse_module(text)
    return [*find_cut_parameters(module, find_changes(Partitioning(module, module), 4))]


def test_each_use_takes_the_same_part() -> None:
    assert cut(TEXT) == [(0, 4)]


@pytest.mark.parametrize(
    ("former", "latter"),
    [
        (f"copy(a), {CUT}", "copy(a), sharding={replicated}"),
        (f"copy(a), {CUT}", "copy(a), sharding={devices=[1,4]<=[4]}"),
        ("parameter(0), sharding={replicated}", f"parameter(0), {CUT}"),
        ("parameter(0), sharding={replicated}", "parameter(0), sharding={devices=[1,4]<=[4]}"),
        ("ROOT d = f32[8,8] add(b, c)", "ROOT d = f32[8,8] dot(b, a)"),
    ],
)
def test_other_uses_need_more_than_a_part(former: str, latter: str) -> None:
    assert former in TEXT
    assert cut(TEXT.replace(former, latter)) == []
