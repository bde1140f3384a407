"""Buffers at the peak of which tiles pad a large part."""

from tests.modules import parse_module

from xlareport.analysis.cost_report.padded_values import find_padded_values
from xlareport.analysis.cost_report.value_row import ValueRow

MODULE = """HloModule m

ENTRY e {
  a = bf16[96,16,64]{2,1,0:T(8,128)(2,1)S(1)} parameter(0)
  s = (bf16[96,16,64]{2,1,0:T(8,128)(2,1)}, bf16[96,16,64]{2,1,0:T(8,128)(2,1)S(1)}, u32[]) \
copy-start(a)
  d = bf16[96,16,64]{2,1,0:T(8,128)(2,1)} copy-done(s)
  f = bf16[96,16,128]{2,1,0:T(8,128)(2,1)} pad(d, d), padding=0_0x0_0x0_64
  ROOT t = f32[3]{0:T(128)} slice(f), slice={[0:3]}
}
"""


def row(name: str, index: tuple[int, ...], size: int) -> ValueRow:
    return ValueRow(name, index, size, "", "", "temp", 0, 0, None, None, "", "")


def test_only_what_is_large_and_mostly_padding() -> None:
    module = parse_module(MODULE)
    rows = [row("f", (), 393216), row("t", (), 512), row("s", (0,), 393216), row("gone", (), 9)]
    (padded,) = find_padded_values(module, rows)
    assert (padded.value.instruction, padded.data) == ("s", 196608)
    assert padded.padding == 196608


def test_a_buffer_of_another_size_is_not_that_of_the_shape() -> None:
    assert not find_padded_values(parse_module(MODULE), [row("s", (0,), 786432)])
