"""What a replacement says besides the new opcode."""

from collections.abc import Callable

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.replacements import operation, place_of
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_FUSED = """
HloModule m

%fused (p.0: f32[4,8], p.1: f32[8,8]) -> f32[2,2,8] {
  %p.0 = f32[4,8]{1,0} parameter(0)
  %reshape.1 = f32[2,2,8]{2,1,0} reshape(%p.0)
  %p.1 = f32[8,8]{1,0} parameter(1)
  ROOT %dot.1 = f32[2,2,8]{2,1,0} dot(%reshape.1, %p.1), lhs_contracting_dims={2}, \
rhs_contracting_dims={0}
}

ENTRY %main (a: f32[4,8], b: f32[8,8]) -> f32[2,2,8] {
  %a = f32[4,8]{1,0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  ROOT %fusion = f32[2,2,8]{2,1,0} fusion(%a, %b), kind=kCustom, calls=%fused
}
"""
_OUTSIDE = (
    _FUSED.replace("p.0: f32[4,8]", "p.0: f32[2,2,8]")
    .replace("%p.0 = f32[4,8]{1,0}", "%p.0 = f32[2,2,8]{2,1,0}")
    .replace("  %reshape.1 = f32[2,2,8]{2,1,0} reshape(%p.0)\n", "")
    .replace("dot(%reshape.1", "dot(%p.0")
    .replace("  ROOT %fusion", "  %bitcast.1 = f32[2,2,8]{2,1,0} bitcast(%a)\n  ROOT %fusion")
    .replace("fusion(%a", "fusion(%bitcast.1")
)
_COPY = """
ENTRY %main (a: f32[4,8]) -> f32[4,8] {
  %a = f32[4,8]{1,0} parameter(0)
  %copy.1 = f32[4,8]{1,0} copy(%a)
  ROOT %tanh.1 = f32[4,8]{1,0} tanh(%copy.1)
}
"""


def test_a_reshape_that_left_its_fusion_as_a_bitcast(read: Read) -> None:
    change = step(read(_FUSED), read(_OUTSIDE), "`hoist-fused-bitcasts`")
    account = " ".join((change.headline, *change.account))
    became = "`%reshape.1` in `fused` became `%bitcast.1` and moved out of `%fusion`"
    assert became in account
    assert "moved 1 reshape out of a fusion" in change.headline
    row = next(known for known in change.modified if known.kind is Kind.REPLACED)
    assert row.reason == "%dot.1 uses its value instead"


def test_another_layout_is_told_beside_another_opcode(read: Read) -> None:
    after = _COPY.replace("%copy.1 = f32[4,8]{1,0} copy", "%bitcast.1 = f32[4,8]{0,1} bitcast")
    change = step(read(_COPY), read(after.replace("%copy.1", "%bitcast.1")), "`algsimp`")
    assert change.headline == (
        "`algsimp` replaced 1 copy with a bitcast and changed the layout of 1 copy; "
        "`%copy.1` in `main` became `%bitcast.1`."
    )
    changed = "`%copy.1` in `main` changed layout: `{1,0}` → `{0,1}` (now `%bitcast.1`)."
    assert change.account == (f"Changed the layout of 1 copy: {changed}",)


def test_a_place_is_found_among_the_details(read: Read) -> None:
    kinds = (Kind.REPLACED, Kind.MOVED)
    assert place_of(kinds, ("copy → bitcast", "moved out of %x")) == "moved out of %x"
    assert not place_of(kinds, ())
    line = '  ROOT %c = f32[] custom-call(), custom_call_target="t"'
    root = read(f"ENTRY %m () -> f32[] {{\n{line}\n}}\n").computations[0].root
    assert root is not None
    assert operation(root) == "t"


_STARTED = """HloModule m

ENTRY %main (a: bf16[4]) -> bf16[8] {
  %a = bf16[4]{0} parameter(0)
  %start.1 = (bf16[4]{0}, bf16[8]{0}) all-gather-start(%a), channel_id=1, \
replica_groups={{0,1}}, dimensions={0}
  %done.1 = bf16[8]{0} all-gather-done(%start.1)
  ROOT %neg.1 = bf16[8]{0} negate(%done.1)
}
"""
_DIVIDED = """HloModule m

%begins (p: bf16[4]) -> (bf16[4], bf16[8], u32[]) {
  %p = bf16[4]{0} parameter(0)
  %all-gather.1 = bf16[8]{0} all-gather(%p), channel_id=1, replica_groups={{0,1}}, \
dimensions={0}, frontend_attributes={chain_id="1"}
  ROOT %call.1 = (bf16[4]{0}, bf16[8]{0}, u32[]{:S(2)}) custom-call(%all-gather.1), \
custom_call_target="AsyncCollectiveStart"
}

%ends (p0: bf16[4], p1: bf16[8], p2: u32[]) -> bf16[8] {
  %p0 = bf16[4]{0} parameter(0)
  %p1 = bf16[8]{0} parameter(1)
  %p2 = u32[]{:S(2)} parameter(2)
  %all-gather.2 = bf16[8]{0} all-gather(%p0), channel_id=1, replica_groups={{0,1}}, \
dimensions={0}, frontend_attributes={chain_id="1"}
  ROOT %call.2 = bf16[8]{0} custom-call(%p0, %all-gather.2, %p1, %p2), \
custom_call_target="AsyncCollectiveDone"
}

ENTRY %main (a: bf16[4]) -> bf16[8] {
  %a = bf16[4]{0} parameter(0)
  %begin.1 = (bf16[4]{0}, bf16[8]{0}, u32[]{:S(2)}) fusion(%a), kind=kCustom, calls=%begins
  %g0 = bf16[4]{0} get-tuple-element(%begin.1), index=0
  %g1 = bf16[8]{0} get-tuple-element(%begin.1), index=1
  %g2 = u32[]{:S(2)} get-tuple-element(%begin.1), index=2
  %end.1 = bf16[8]{0} fusion(%g0, %g1, %g2), kind=kCustom, calls=%ends
  ROOT %neg.1 = bf16[8]{0} negate(%end.1)
}
"""


def test_a_collective_that_fusions_carry_out_is_not_synchronous(read: Read) -> None:
    change = step(read(_STARTED), read(_DIVIDED), "`async-collective-fusion`")
    account = " ".join((change.headline, *change.account))
    assert "synchronous," not in account.replace("asynchronous,", "")
    assert "divided 1 all-gather among async collective fusions" in change.headline
    assert "`%start.1` in `main` and its done became" in account
    assert "became `%all-gather.1`, still asynchronous, and moved into `%begin.1`" in account


_TURNED = """
ENTRY %main (a: bf16[2,4,8]) -> f32[4,2,8] {
  %a = bf16[2,4,8]{2,1,0} parameter(0)
  %neg = bf16[2,4,8]{2,1,0} negate(%a)
  %transpose.1 = bf16[4,2,8]{2,0,1} transpose(%neg), dimensions={1,0,2}
  %convert.1 = f32[4,2,8]{2,0,1} convert(%transpose.1)
  ROOT %out = f32[4,2,8]{2,0,1} sine(%convert.1)
}
"""
_LAID_OUT = _TURNED.replace(
    "%transpose.1 = bf16[4,2,8]{2,0,1} transpose(%neg), dimensions={1,0,2}",
    "%convert.2 = f32[2,4,8]{2,1,0} convert(%neg)",
).replace("%convert.1 = f32[4,2,8]{2,0,1} convert(%transpose.1)", "%bitcast.1 = OUT")


def test_a_move_past_a_convert_has_no_other_element_type_by_itself(read: Read) -> None:
    """What layout normalization does to a transpose that only changes the layout."""
    after = _LAID_OUT.replace("OUT", "f32[4,2,8]{2,0,1} bitcast(%convert.2)")
    change = step(read(_TURNED), read(after.replace("sine(%convert.1)", "sine(%bitcast.1)")))
    (moved,) = (known for known in change.changes if "transpose" in known.opcodes)
    assert moved.kinds == (Kind.REPLACED,)
    assert str(moved.reason) == "past %convert.1"
