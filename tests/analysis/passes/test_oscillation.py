"""Snapshots and computations that are back later."""

from tests.analysis.small_modules import modules

from xlareport.analysis.passes.oscillation import Again, find_oscillations
from xlareport.hlo.text import TextReader


def test_a_snapshot_that_is_back_is_seen_and_one_that_stays_is_not() -> None:
    there = "  %n = f32[8,4]{1,0} negate(%x)\n  ROOT %r = f32[8,4]{1,0} add(%x, %n)"
    back = "  ROOT %r = f32[8,4]{1,0} subtract(%x, %x)"
    first, second = modules(there, back)
    assert find_oscillations([first, first, second]) == ()
    assert find_oscillations([first, first, second, second, first]) == (Again(4, 1, None),)


def test_a_computation_that_is_back_in_another_module_is_seen() -> None:
    called = (
        "%g (p: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n"
        "  %q = f32[8]{0} OP(%p)\n  ROOT %s = f32[8]{0} add(%p, %q)\n}\n"
    )
    entry = (
        "ENTRY %main (x: f32[8]) -> f32[8] {\n  %x = f32[8]{0} parameter(0)\n"
        "  ROOT %NAME = f32[8]{0} call(%x), to_apply=%g\n}\n"
    )
    reader = TextReader()
    found = []
    for opcode, name in (("negate", "a"), ("cosine", "b"), ("negate", "c")):
        text = f"HloModule m\n\n{called.replace('OP', opcode)}\n{entry.replace('NAME', name)}"
        read = reader.read(text.encode(), "m.txt")
        assert read is not None
        found.append(read)
    assert find_oscillations(found) == (Again(2, 0, "g"),)
