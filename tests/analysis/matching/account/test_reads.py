"""What the counterpart of a user reads in the place of a removed instruction."""

from collections.abc import Callable

from xlareport.analysis.matching.account.reads import has_other_operands
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_TABLE = """
ENTRY %main (a: f32[1024], i: s32[]) -> f32[256] {
  %a = f32[1024]{0} parameter(0)
  %i = s32[] parameter(1)
  %table = s32[4]{0} constant({0, 256, 512, 768})
  %entry = s32[1]{0} dynamic-slice(%table, %i), dynamic_slice_sizes={1}
  %start = s32[] reshape(%entry)
  ROOT %part = f32[256]{0} dynamic-slice(%a, %start), dynamic_slice_sizes={256}
}
"""
_COMPUTED = """
ENTRY %main (a: f32[1024], i: s32[]) -> f32[256] {
  %a = f32[1024]{0} parameter(0)
  %i = s32[] parameter(1)
  %zero = s32[] constant(0)
  %last = s32[] constant(3)
  %within = s32[] clamp(%zero, %i, %last)
  %step = s32[] constant(256)
  %start.1 = s32[] multiply(%within, %step)
  ROOT %part = f32[256]{0} dynamic-slice(%a, %start.1), dynamic_slice_sizes={256}
}
"""


def test_the_index_of_a_table_is_not_read_instead_of_the_table(read: Read) -> None:
    pairing = match(read(_TABLE), read(_COMPUTED)).pairing_before(Place("main", "table"))
    assert pairing is not None
    assert pairing.reason == "its user %entry became %start.1"


_REMAINDER = """
ENTRY %main (a: s32[8], b: s32[8]) -> s32[8] {
  %a = s32[8]{0} parameter(0)
  %b = s32[8]{0} parameter(1)
  %eight = s32[] constant(8)
  %eights = s32[8]{0} broadcast(%eight), dimensions={}
  %rest = s32[8]{0} remainder(%a, %eights), metadata={op_name="rem"}
  ROOT %out = s32[8]{0} multiply(%rest, %b)
}
"""
_MASKED = """
ENTRY %main (a: s32[8], b: s32[8]) -> s32[8] {
  %a = s32[8]{0} parameter(0)
  %b = s32[8]{0} parameter(1)
  %seven = s32[] constant(7)
  %sevens = s32[8]{0} broadcast(%seven), dimensions={}
  %low = s32[8]{0} and(%b, %sevens)
  %less = s32[8]{0} negate(%low)
  %sign = pred[8]{0} compare(%a, %low), direction=LT
  %rest.1 = s32[8]{0} select(%sign, %less, %low), metadata={op_name="rem"}
  ROOT %out = s32[8]{0} multiply(%rest.1, %b)
}
"""


def test_no_operand_of_a_select_is_read_instead_of_a_divisor(read: Read) -> None:
    pairing = match(read(_REMAINDER), read(_MASKED)).pairing_before(Place("main", "eights"))
    assert pairing is not None
    assert "instead" not in str(pairing.reason)


_SCALED = """
ENTRY %main (a: f32[8], s: f32[]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %s = f32[] parameter(1)
  %count = f32[] constant(64)
  %counts = f32[8]{0} broadcast(%count), dimensions={}
  %mean = f32[8]{0} divide(%a, %counts)
  %rate = f32[8]{0} broadcast(%s), dimensions={}
  ROOT %out = f32[8]{0} multiply(%rate, %mean)
}
"""
_SCALED_RATE = """
ENTRY %main (a: f32[8], s: f32[]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %s = f32[] parameter(1)
  %part = f32[] constant(0.015625)
  %small = f32[] multiply(%s, %part)
  %rates = f32[8]{0} broadcast(%small), dimensions={}
  ROOT %out = f32[8]{0} multiply(%a, %rates)
}
"""


def test_what_took_the_place_of_two_factors_is_told_by_what_they_were_made_of(read: Read) -> None:
    change = step(read(_SCALED), read(_SCALED_RATE))
    reasons = {row.before.instruction: str(row.reason) for row in change.removed if row.before}
    assert reasons["mean"] == "%out uses %a instead"
    assert not any("%a instead of %rate" in str(row.details) for row in change.modified)


_CARRIED = """
HloModule m

%body (p: (f32[8], f32[8])) -> (f32[8], f32[8]) {
  %p = (f32[8], f32[8]) parameter(0)
  %x = f32[8] get-tuple-element(%p), index=0
  %number = f32[8] get-tuple-element(%p), index=1
  %turned = f32[8] sine(%x)
  ROOT %out = (f32[8], f32[8]) tuple(%turned, %number)
}

%condition (q: (f32[8], f32[8])) -> pred[] {
  %q = (f32[8], f32[8]) parameter(0)
  ROOT %ends = pred[] constant(true)
}

ENTRY %main (a: f32[8], b: s32[8]) -> (f32[8], f32[8]) {
  %a = f32[8] parameter(0)
  %b = s32[8] parameter(1)
  %wide.1 = f32[8] convert(%b)
  %in = (f32[8], f32[8]) tuple(%a, %wide.1)
  ROOT %while = (f32[8], f32[8]) while(%in), condition=%condition, body=%body
}
"""
_RECOMPUTED = """
HloModule m

%body (p: (f32[8], f32[8], s32[8])) -> (f32[8], f32[8], s32[8]) {
  %p = (f32[8], f32[8], s32[8]) parameter(0)
  %x = f32[8] get-tuple-element(%p), index=0
  %turned = f32[8] sine(%x)
  %given = s32[8] get-tuple-element(%p), index=2
  %wide.2 = f32[8] convert(%given)
  ROOT %out = (f32[8], f32[8], s32[8]) tuple(%turned, %wide.2, %given)
}

%condition (q: (f32[8], f32[8], s32[8])) -> pred[] {
  %q = (f32[8], f32[8], s32[8]) parameter(0)
  ROOT %ends = pred[] constant(true)
}

ENTRY %main (a: f32[8], b: s32[8]) -> (f32[8], f32[8]) {
  %a = f32[8] parameter(0)
  %b = s32[8] parameter(1)
  %wide.1 = f32[8] convert(%b)
  %in = (f32[8], f32[8], s32[8]) tuple(%a, %wide.1, %b)
  %while = (f32[8], f32[8], s32[8]) while(%in), condition=%condition, body=%body
  %first = f32[8] get-tuple-element(%while), index=0
  %second = f32[8] get-tuple-element(%while), index=1
  ROOT %all = (f32[8], f32[8]) tuple(%first, %second)
}
"""


def test_a_tuple_uses_what_the_loop_does_again_instead_of_what_it_carries(read: Read) -> None:
    pairing = match(read(_CARRIED), read(_RECOMPUTED)).pairing_before(Place("body", "number"))
    assert pairing is not None
    assert pairing.relation is Relation.REMOVED
    assert pairing.reason == "%out uses %wide.2 instead"


_CONSTANT_FIRST = """HloModule m

ENTRY %main (x: f32[8], y: f32[8]) -> (f32[8], f32[8]) {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %half = f32[] constant(0.5)
  %halves = f32[8]{0} broadcast(%half), dimensions={}
  %multiply.1 = f32[8]{0} multiply(%x, %halves)
  %erf.1 = f32[8]{0} erf(%multiply.1)
  %two = f32[] constant(2)
  %twos = f32[8]{0} broadcast(%two), dimensions={}
  %divide.1 = f32[8]{0} divide(%x, %twos)
  %erf.2 = f32[8]{0} erf(%divide.1)
  %one = f32[] constant(1)
  %ones = f32[8]{0} broadcast(%one), dimensions={}
  %add.1 = f32[8]{0} add(%ones, %erf.2)
  %multiply.2 = f32[8]{0} multiply(%y, %add.1)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%erf.1, %multiply.2)
}
"""
_CONSTANT_LAST = """HloModule m

ENTRY %main (x: f32[8], y: f32[8]) -> (f32[8], f32[8]) {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %half = f32[] constant(0.5)
  %halves = f32[8]{0} broadcast(%half), dimensions={}
  %multiply.1 = f32[8]{0} multiply(%x, %halves)
  %erf.1 = f32[8]{0} erf(%multiply.1)
  %one.9 = f32[] constant(1)
  %ones.9 = f32[8]{0} broadcast(%one.9), dimensions={}
  %add.9 = f32[8]{0} add(%erf.1, %ones.9)
  %multiply.9 = f32[8]{0} multiply(%y, %add.9)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%erf.1, %multiply.9)
}
"""


def test_a_sum_reads_at_the_other_place_what_is_not_its_other_operand(read: Read) -> None:
    matching = match(read(_CONSTANT_FIRST), read(_CONSTANT_LAST))
    pairing = matching.pairing_before(Place("main", "erf.2"))
    assert pairing is not None
    assert str(pairing.reason) == "%add.9 uses %erf.1 instead"


def test_places_of_a_tuple_in_another_order_say_nothing(read: Read) -> None:
    text = """
ENTRY %main (a: f32[8,4], b: c64[8], c: f32[2,4], d: c64[2]) -> (f32[8,4], c64[8]) {
  %a = f32[8,4]{1,0} parameter(0)
  %b = c64[8]{0} parameter(1)
  %c = f32[2,4]{1,0} parameter(2)
  %d = c64[2]{0} parameter(3)
  %turned = (c64[2]{0}, f32[2,4]{1,0}) tuple(%d, %c)
  %in.order = (f32[2,4]{1,0}, c64[2]{0}) tuple(%c, %d)
  ROOT %out = (f32[8,4]{1,0}, c64[8]{0}) tuple(%a, %b)
}
"""
    search = start(read(text), read(""), same_program=True)
    nodes = {node.instruction.name: node for node in search.before.open()}
    assert has_other_operands(nodes["out"], nodes["turned"])
    assert not has_other_operands(nodes["out"], nodes["in.order"])
