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


def _reason(read: Read, after: str, name: str = "copy-start") -> str:
    pairing = match(read(_BEFORE), read(after)).pairing_after(Place("main", name))
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


def test_where_a_copy_stands_is_said_with_its_memory_spaces(read: Read) -> None:
    words = "copied from S(0) to S(1), inserted between %given and %read"
    assert _reason(read, _after(":S(1)", ""), "copy-done") == words
    assert _reason(read, _after("", ""), "copy-done") == "inserted between %given and %read"
    copy = "  %copy = f32[8]{0:S(6)} copy(%given)\n  %read = f32[8]{0} negate(%copy)"
    copied = _BEFORE.replace("  %read = f32[8]{0} negate(%given)", copy)
    words = "copied from S(0) to S(6), inserted between %given and %read"
    assert _reason(read, copied, "copy") == words


_SLICED = """
%slices (p: f32[8]) -> f32[4] {
  %p = f32[8]{0} parameter(0)
  ROOT %slice.1 = f32[4]{0:S(1)} slice(%p), slice={[0:4]}
}

%slices.1 (p.1: f32[8]) -> f32[4] {
  %p.1 = f32[8]{0} parameter(0)
  ROOT %slice.2 = f32[4]{0:S(1)} slice(%p.1), slice={[4:8]}
}
""" + _BEFORE.replace("negate(%given)", "negate(%join)").replace(
    "  %read",
    """  %start = ((f32[8]{0}), f32[4]{0:S(1)}, s32[]) async-start(%given), calls=%slices
  %start.1 = ((f32[8]{0}), f32[4]{0:S(1)}, s32[]) async-start(%given), calls=%slices.1
  %done = f32[4]{0:S(1)} async-done(%start)
  %done.1 = f32[4]{0:S(1)} async-done(%start.1)
  %join = f32[8]{0:S(1)} custom-call(%done, %done.1), custom_call_target="ConcatBitcast"
  %read""",
    1,
)


def test_an_array_that_is_copied_in_slices_is_named(read: Read) -> None:
    words = "joins 2 slices of %given, copied from S(0) to S(1)"
    assert _reason(read, _SLICED, "join") == words
    words = "copies a slice of %given from S(0) to S(1); %join joins 2 of them"
    assert _reason(read, _SLICED, "start.1") == words
    assert _reason(read, _SLICED, "done.1").startswith("copied from S(0) to S(1), ")


def test_slices_of_several_arrays_are_no_copy_of_one(read: Read) -> None:
    other = _SLICED.replace(
        "async-start(%given), calls=%slices.1", "async-start(%a), calls=%slices.1"
    )
    assert "slices of" not in _reason(read, other, "join")
