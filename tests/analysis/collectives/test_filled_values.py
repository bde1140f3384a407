"""Which values are a single constant, repeated."""

from collections.abc import Callable

import pytest

from xlareport.analysis.collectives.filled_values import find_filling
from xlareport.hlo.model import HloModule

ReadText = Callable[[str], HloModule]
_PROGRAM = """
%fills (p: f32[]) -> f32[8,4] {
  %p = f32[] parameter(0)
  ROOT %b = f32[8,4] broadcast(%p), dimensions={}
}

%adds (q: f32[8,4]) -> f32[8,4] {
  %q = f32[8,4] parameter(0)
  ROOT %a = f32[8,4] add(%q, %q)
}

ENTRY %main (x: f32[]) -> f32[8,4] {
  %x = f32[] parameter(0)
  %zero = f32[] constant(0)
  %two = f32[] constant(2)
  %table = f32[2] constant({0, 1})
  %empty = f32[8,4] broadcast(%zero), dimensions={}
  %twos = f32[8,4] fusion(%two), kind=kLoop, calls=%fills
  %moved = f32[4,8] transpose(%empty), dimensions={1,0}
  %given = f32[8,4] broadcast(%x), dimensions={}
  %tables = f32[8,2] broadcast(%table), dimensions={1}
  ROOT %sums = f32[8,4] fusion(%empty), kind=kLoop, calls=%adds
}
"""


@pytest.mark.parametrize(
    ("name", "constant"),
    [
        ("zero", "zero"),
        ("empty", "zero"),
        ("moved", "zero"),
        ("twos", "two"),
        ("given", None),
        ("tables", None),
        ("sums", None),
    ],
)
def test_a_value_is_filled_with_a_constant(
    name: str, constant: str | None, read_text: ReadText
) -> None:
    module = read_text(_PROGRAM)
    home = module.by_name["main"]
    filling = find_filling(module, home, home.by_name[name])
    assert (filling.name if filling else None) == constant
    assert (filling is not None and filling.is_zero) is (constant == "zero")
