"""Operations that give an operand as it is, and copies that do no other work."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_ONES = """
HloModule m
ENTRY %main (x: f32[8,4], p: f32[4], b: f32[8,4]) -> f32[8,4] {
  %x = f32[8,4]{1,0} parameter(0)
  %p = f32[4]{0} parameter(1)
  %b = f32[8,4]{1,0} parameter(2)
  %broadcast.1 = f32[8,4]{1,0} broadcast(%p), dimensions={1}
  %multiply.1 = f32[8,4]{1,0} multiply(%x, %broadcast.1)
  %one = f32[] constant(1)
  %broadcast.2 = f32[8,4]{1,0} broadcast(%one), dimensions={}
  %multiply.2 = f32[8,4]{1,0} multiply(%multiply.1, %broadcast.2)
  ROOT %add.1 = f32[8,4]{1,0} add(%b, %multiply.2)
}
"""
_WITHOUT_ONES = """
HloModule m
%fused (q: f32[8,4], r: f32[4], s: f32[8,4]) -> f32[8,4] {
  %q = f32[8,4]{1,0} parameter(0)
  %r = f32[4]{0} parameter(1)
  %s = f32[8,4]{1,0} parameter(2)
  %broadcast.681 = f32[8,4]{1,0} broadcast(%r), dimensions={1}
  %multiply.212 = f32[8,4]{1,0} multiply(%q, %broadcast.681)
  ROOT %add.301 = f32[8,4]{1,0} add(%s, %multiply.212)
}
ENTRY %main (x: f32[8,4], p: f32[4], b: f32[8,4]) -> f32[8,4] {
  %x = f32[8,4]{1,0} parameter(0)
  %p = f32[4]{0} parameter(1)
  %b = f32[8,4]{1,0} parameter(2)
  %turned = f32[8,4]{1,0} negate(%x)
  ROOT %fusion = f32[8,4]{1,0} fusion(%turned, %p, %b), kind=kLoop, calls=%fused
}
"""


def test_a_product_with_one_goes_and_the_inner_product_goes_on(read: Read) -> None:
    matching = match(read(_ONES), read(_WITHOUT_ONES))
    assert matching.partner_after(Place("main", "multiply.1")) == Place("fused", "multiply.212")
    assert matching.partner_after(Place("main", "broadcast.1")) == Place("fused", "broadcast.681")
    for name in ("multiply.2", "broadcast.2"):
        assert matching.partner_after(Place("main", name)) is None


def test_ones_never_become_a_repeated_array(read: Read) -> None:
    before = _ONES.replace("multiply(%x, %broadcast.1)", "negate(%x)").replace(
        "  %broadcast.1 = f32[8,4]{1,0} broadcast(%p), dimensions={1}\n", ""
    )
    matching = match(read(before), read(_WITHOUT_ONES))
    assert matching.partner_before(Place("fused", "broadcast.681")) is None


_MOVED = """
HloModule m
%sum (l: f32[], r: f32[]) -> f32[] {
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %add.9 = f32[] add(%l, %r)
}
ENTRY %main (x: f32[8,4], w: f32[6,4]) -> (f32[8,6], f32[4]) {
  %x = f32[8,4]{1,0} parameter(0)
  %w = f32[6,4]{1,0} parameter(1)
  %transpose.1 = f32[4,6]{0,1} transpose(%w), dimensions={1,0}
  %dot.1 = f32[8,6]{1,0} dot(%x, %transpose.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %zero = f32[] constant(0)
  %reduce.1 = f32[4]{0} reduce(%x, %zero), dimensions={0}, to_apply=%sum
  %reshape.1 = f32[1,4]{1,0} reshape(%reduce.1)
  %reshape.2 = f32[4]{0} reshape(%reshape.1)
  ROOT %tuple.1 = (f32[8,6]{1,0}, f32[4]{0}) tuple(%dot.1, %reshape.2)
}
"""
_COPIED = """
HloModule m
%sum (l: f32[], r: f32[]) -> f32[] {
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %add.9 = f32[] add(%l, %r)
}
ENTRY %main (x: f32[8,4], w: f32[6,4]) -> (f32[8,6], f32[4]) {
  %x = f32[8,4]{1,0} parameter(0)
  %w = f32[6,4]{1,0} parameter(1)
  %copy.1 = f32[6,4]{1,0} copy(%w)
  %dot.1 = f32[8,6]{1,0} dot(%x, %copy.1), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  %zero = f32[] constant(0)
  %reduce.1 = f32[4]{0} reduce(%x, %zero), dimensions={0}, to_apply=%sum
  %copy.2 = f32[4]{0} copy(%reduce.1)
  ROOT %tuple.2 = (f32[8,6]{1,0}, f32[4]{0}) tuple(%dot.1, %copy.2)
}
"""


def test_copies_in_the_same_layout_are_added(read: Read) -> None:
    matching = match(read(_MOVED), read(_COPIED))
    assert {"copy.1", "copy.2"} <= {place.instruction for place in matching.added}
    for name in ("transpose.1", "reshape.1", "reshape.2"):
        assert matching.partner_after(Place("main", name)) is None


def test_a_copy_to_another_layout_can_be_a_transpose(read: Read) -> None:
    other = _COPIED.replace("%copy.1 = f32[6,4]{1,0} copy", "%copy.1 = f32[6,4]{0,1} copy")
    matching = match(read(_MOVED), read(other))
    assert matching.partner_after(Place("main", "transpose.1")) == Place("main", "copy.1")


_IDENTITY = """
HloModule m
ENTRY %main (x: f32[4,8,1], w: f32[3,3]) -> (f32[4,8,1], f32[3,3]) {
  %x = f32[4,8,1]{2,1,0} parameter(0)
  %w = f32[3,3]{1,0} parameter(1)
  %reshape.1 = f32[4,8,1]{2,1,0} reshape(%x)
  %sine.1 = f32[4,8,1]{2,1,0} sine(%reshape.1)
  %made.1 = f32[3,3]{1,0} custom-call(%reshape.1, %w), custom_call_target="c"
  ROOT %out = (f32[4,8,1]{2,1,0}, f32[3,3]{1,0}) tuple(%sine.1, %made.1)
}
"""


def test_an_identity_does_not_become_a_transpose(read: Read) -> None:
    after = _IDENTITY.replace("sine(%reshape.1)", "sine(%x)").replace(
        "%reshape.1 = f32[4,8,1]{2,1,0} reshape(%x)",
        "%transpose.1 = f32[1,8,4]{2,1,0} transpose(%x), dimensions={2,1,0}",
    )
    matching = match(read(_IDENTITY), read(after.replace("(%reshape.1, %w)", "(%transpose.1, %w)")))
    assert matching.partner_after(Place("main", "reshape.1")) is None


_TURNED_AND_RESHAPED = """
HloModule m
ENTRY %main (a: f32[2,8,4], w: f32[16,4]) -> f32[4,4] {
  %a = f32[2,8,4]{2,1,0} parameter(0)
  %w = f32[16,4]{1,0} parameter(1)
  %wide = f32[2,8,4]{2,1,0} exponential(%a)
  %transpose.1 = f32[4,2,8]{0,2,1} transpose(%wide), dimensions={2,0,1}
  %reshape.1 = f32[4,16]{1,0} reshape(%transpose.1)
  ROOT %dot.1 = f32[4,4]{1,0} dot(%reshape.1, %w), lhs_contracting_dims={1}, FOLD
}
""".replace("FOLD", "rhs_contracting_dims={0}")
_ONE_BITCAST = """
HloModule m
%bitcast_fusion (i: f32[4,16]) -> f32[4,16] {
  %i = f32[4,16]{0,1} parameter(0)
  ROOT %bitcast.9 = f32[4,16]{0,1} bitcast(%i)
}
%fused (p: f32[4,16], q: f32[16,4]) -> f32[4,4] {
  %p = f32[4,16]{0,1} parameter(0)
  %q = f32[16,4]{1,0} parameter(1)
  %fusion.2 = f32[4,16]{0,1} fusion(%p), kind=kLoop, calls=%bitcast_fusion
  ROOT %convolution.3 = f32[4,4]{1,0} convolution(%fusion.2, %q), dim_labels=bf_io->bf
}
ENTRY %main (a: f32[2,8,4], w: f32[16,4]) -> f32[4,4] {
  %a = f32[2,8,4]{2,1,0} parameter(0)
  %w = f32[16,4]{1,0} parameter(1)
  %wide = f32[2,8,4]{2,1,0} exponential(%a)
  %bitcast.1 = f32[4,16]{0,1} bitcast(%wide)
  ROOT %fusion.1 = f32[4,4]{1,0} fusion(%bitcast.1, %w), kind=kOutput, calls=%fused
}
"""


def test_a_bitcast_that_changes_nothing_is_added_and_what_it_reads_goes_on(read: Read) -> None:
    """The bitcast of a transpose and a reshape gives what the reshape gave."""
    matching = match(read(_TURNED_AND_RESHAPED), read(_ONE_BITCAST))
    assert matching.partner_after(Place("main", "reshape.1")) == Place("main", "bitcast.1")
    assert Place("bitcast_fusion", "bitcast.9") in matching.added
