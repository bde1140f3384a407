"""Each buffer with padding is told once, whatever names its value has."""

from tests.analysis.findings.conftest import MakeCase

from xlareport.analysis.findings.tile_padding import tile_padding

SLICED = """HloModule m, is_scheduled=true

sliced {
  p = f32[65536,1]{1,0:T(8,128)} parameter(0)
  ROOT s = f32[32768,1]{1,0:T(8,128)S(1)} slice(p), slice={[0:32768], [0:1]}
}

ENTRY e {
  x = f32[65536,1]{1,0:T(8,128)} parameter(0)
  a = ((f32[65536,1]), f32[32768,1]{1,0:T(8,128)S(1)}, u32[]) async-start(x), calls=sliced
  b = f32[32768,1]{1,0:T(8,128)S(1)} async-done(a)
  c = (f32[65536,1]{1,0:T(8,128)S(1)}, f32[65536,1]{1,0:T(8,128)}, u32[]) copy-start(x)
  d = f32[65536,1]{1,0:T(8,128)S(1)} copy-done(c)
  ROOT n = f32[8]{0:T(128)} custom-call(b, d), custom_call_target="foo"
}
"""


def test_operands_of_starts_and_arguments_of_calls_are_not_told_again(case_of: MakeCase) -> None:
    found = list(tile_padding(case_of(SLICED)))
    assert [one.places for one in found] == [(("sliced", "s"),), (("e", "x"),), (("e", "d"),)]
    assert [one.bytes for one in found] == [None, 127 * 65536 * 4, None]
