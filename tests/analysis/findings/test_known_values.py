"""What each device can compute for every other one is of constants and device numbers alone."""

import pytest
from tests.analysis.findings.texts import having
from tests.modules import parse_module

from xlareport.analysis.findings.known_values import find_iota

MODULE = having("constant-collectives", "iota")


@pytest.mark.parametrize(
    ("before", "after", "iota"),
    [
        ("", "", "i"),
        ("tuple(t, w, a, m)", "tuple(y, w, a, m)", None),  # iterations change the table
        ("t = s32[4] constant({0, 1, 2, 3})", "t = s32[4] parameter(2)", None),
        ("add(i, b)", "add(b, b)", None),  # no iota
        ("add(i, b)", "custom-call(i, b)", None),
        ("reshape(d)", "get-tuple-element(s), index=3", None),  # the number of the iteration
    ],
)
def test_the_iota_of_a_value_in_a_loop(before: str, after: str, iota: str | None) -> None:
    assert before in MODULE
    module = parse_module(MODULE.replace(before, after) if before else MODULE)
    body = module.by_name["body"]
    source = find_iota(module, body, body.by_name["c"])
    assert (source.name if source else None) == iota


def test_an_iota_inside_of_a_fusion() -> None:
    module = parse_module(
        """HloModule m

inside {
  o = s32[] parameter(0)
  b = s32[8] broadcast(o), dimensions={}
  i = s32[8] iota(), iota_dimension=0
  ROOT x = s32[8] add(i, b)
}

ENTRY e {
  p = u32[] partition-id()
  o = s32[] convert(p)
  ROOT f = s32[8] fusion(o), kind=kLoop, calls=inside
}
"""
    )
    assert module.entry is not None
    assert find_iota(module, module.entry, module.entry.by_name["f"]) is not None
