"""Embedded constants: counted, measured, the largest first."""

from tests.modules import parse_module

from xlareport.analysis.modules.features import find_weights

TEXT = b"""HloModule m

ENTRY %main {
  %x = f32[4]{0} parameter(0)
  %small = f32[] constant(1)
  %large = f32[1000]{0} constant({...})
  %middle = s8[100]{0} constant({...})
  ROOT %n = f32[4]{0} negate(%x)
}
"""


def test_constants_are_measured_by_their_shape() -> None:
    module = parse_module(TEXT)
    weights = find_weights(module)
    assert (weights.constants, weights.bytes) == (3, 4104)
    assert [(one.name, one.bytes) for one in weights.largest] == [
        ("large", 4000),
        ("middle", 100),
        ("small", 4),
    ]
