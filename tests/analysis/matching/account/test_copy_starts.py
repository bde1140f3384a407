"""What new asynchronous copies copy."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
ENTRY %main (a: f32[8]) -> (f32[8]) {
  %a = f32[8]{0} parameter(0)
  %given = f32[8]{0} tanh(%a)
  %read = f32[8]{0} negate(%given)
  ROOT %out = (f32[8]{0}) tuple(%read)
}
"""


def _after(result: str, operand: str) -> str:
    start = (
        f"  %copy-start = (f32[8]{{0{result}}}, f32[8]{{0{operand}}}, u32[]) copy-start(%given)\n"
        f"  %copy-done = f32[8]{{0{result}}} copy-done(%copy-start)\n  %read"
    )
    return _BEFORE.replace("  %read", start, 1).replace("(%given)\n  ROOT", "(%copy-done)\n  ROOT")


def _reason(read: Read, after: str) -> str:
    pairing = match(read(_BEFORE), read(after)).pairing_after(Place("main", "copy-start"))
    assert pairing is not None
    return str(pairing.reason)


def test_a_start_names_what_it_copies_and_between_which_memory_spaces(read: Read) -> None:
    words = "copies %given from S(0) to S(1) until %copy-done, which leads to %read"
    assert _reason(read, _after(":S(1)", "")) == words
    words = "copies %given from S(1) to S(0) until %copy-done, which leads to %read"
    assert _reason(read, _after("", ":S(1)")) == words


def test_a_copy_within_a_memory_space_names_no_space(read: Read) -> None:
    words = "copies %given until %copy-done, which leads to %read"
    assert _reason(read, _after("", "")) == words
