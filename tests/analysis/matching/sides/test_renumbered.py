"""Constants of equal value under other names."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
ENTRY %main (a: f32[8], i: s32[]) -> (f32[1], f32[1], f32[1]) {
  %a = f32[8]{0} parameter(0)
  %i = s32[] parameter(1)
  %constant.1 = s32[] constant(0), metadata={op_name="jit(f)/slice"}
  %first = f32[1]{0} dynamic-slice(%a, %constant.1), dynamic_slice_sizes={1}
  %constant.2 = s32[] constant(0), metadata={op_name="jit(f)/slice"}
  %second = f32[1]{0} dynamic-slice(%a, %constant.2), dynamic_slice_sizes={1}
  %constant.3 = s32[] constant(0), metadata={op_name="jit(f)/slice"}
  %third = f32[1]{0} dynamic-slice(%a, %constant.3), dynamic_slice_sizes={1}
  ROOT %out = (f32[1]{0}, f32[1]{0}, f32[1]{0}) tuple(%first, %second, %third)
}
"""
_ONE_ON = _BEFORE.replace("constant.3", "constant.4").replace("constant.2", "constant.3")
_ONE_ON = _ONE_ON.replace("constant.1", "constant.2")


def test_constants_that_were_numbered_anew_go_on_with_their_readers(read: Read) -> None:
    matching = match(read(_BEFORE), read(_ONE_ON))
    for old, new in (("1", "2"), ("2", "3"), ("3", "4")):
        place = matching.partner_after(Place("main", f"constant.{old}"))
        assert place == Place("main", f"constant.{new}")
    made = step(read(_BEFORE), read(_ONE_ON), "`rewriter`")
    assert made.headline.startswith(
        "`rewriter` only changed the numbers in the names of 3 instructions"
    )


def test_a_constant_that_one_of_its_readers_still_reads_keeps_its_name(read: Read) -> None:
    before = _BEFORE.replace("%second = f32[1]{0} dynamic-slice(%a, %constant.2)", "SECOND")
    before = before.replace("SECOND", "%second = f32[1]{0} dynamic-slice(%a, %constant.1)")
    after = before.replace("%second = f32[1]{0} dynamic-slice(%a, %constant.1)", "SECOND")
    after = after.replace("SECOND", "%second = f32[1]{0} dynamic-slice(%a, %constant.2)")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "constant.1")) in (
        None,
        Place("main", "constant.1"),
    )
    assert not matching.pairing_before(Place("main", "constant.1"))


def test_of_equal_iotas_each_goes_on_as_the_one_of_its_framework_op(read: Read) -> None:
    before = """
ENTRY %main (a: f32[8]) -> (s32[8], s32[8]) {
  %a = f32[8]{0} parameter(0)
  %iota.0 = s32[8]{0} iota(), iota_dimension=0, metadata={op_name="jit(f)/first"}
  %abs.0 = s32[8]{0} abs(%iota.0)
  %iota.2 = s32[8]{0} iota(), iota_dimension=0, metadata={op_name="jit(f)/second"}
  %negate.0 = s32[8]{0} negate(%iota.2)
  ROOT %out = (s32[8]{0}, s32[8]{0}) tuple(%abs.0, %negate.0)
}
"""
    after = before.replace("iota.2", "iota.3").replace("iota.0", "iota.2").replace(".0", "")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "iota.0")) == Place("main", "iota.2")
    assert matching.partner_after(Place("main", "iota.2")) == Place("main", "iota.3")


def test_constants_go_on_with_readers_of_which_some_have_other_names(read: Read) -> None:
    """What `xprecision-rewriter` renames where it writes 32-bit halves."""
    renamed = _ONE_ON.replace("%third", "%third.1")
    matching = match(read(_BEFORE), read(renamed))
    for old, new in (("1", "2"), ("2", "3"), ("3", "4")):
        place = matching.partner_after(Place("main", f"constant.{old}"))
        assert place == Place("main", f"constant.{new}")


_TWO_OPS = """
ENTRY %main (a: f32[8]) -> (f32[1], f32[1]) {
  %a = f32[8]{0} parameter(0)
  %constant.2 = s32[] constant(0), metadata={op_name="jit(f)/scatter"}
  %second = f32[1]{0} dynamic-slice(%a, %constant.2), dynamic_slice_sizes={1}
  %constant.1 = s32[] constant(0), metadata={op_name="jit(f)/gather"}
  %first = f32[1]{0} dynamic-slice(%a, %constant.1), dynamic_slice_sizes={1}
  ROOT %out = (f32[1]{0}, f32[1]{0}) tuple(%first, %second)
}
"""


def test_a_constant_with_metadata_of_its_own_is_the_same_for_another_reader(read: Read) -> None:
    """CSE keeps one of two constants, and of their readers the one that read the other."""
    gone = ("%constant.2 =", "%first =")
    lines = [line for line in _TWO_OPS.splitlines() if not any(name in line for name in gone)]
    after = "\n".join(lines).replace("%constant.2", "%constant.1").replace("%first", "%second")
    rows = [row for row in step(read(_TWO_OPS), read(after)).changes if row.after]
    constants = {(row.kind, row.before) for row in rows if row.opcodes[1] == "constant"}
    assert constants == {(Kind.MERGED, Place("main", "constant.2"))}
