"""Copies by name in fused computations: what is too different to be one."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_RESULT = "(bf16[8,128], bf16[8,128], bf16[8,128])"
_HELD = "kind=kLoop, calls=%held"
_OTHER = "kind=kLoop, calls=%other"
_OP = 'metadata={op_name="f/conv"}'
_TILED = "{1,0:T(8,128)(2,1)}"
_RETILED = "{1,0:T(16,128)(2,1)}"


def _module(inner: str, more: str = "", *, root: str = "%neg", tiling: str = _TILED) -> str:
    """Return a fusion that holds a fusion of `inner`, and another one."""
    return f"""
{more}
%move.1 (p.1: bf16[8,128]) -> bf16[8,128] {{
  %p.1 = bf16[8,128]{tiling} parameter(0)
{inner}
}}

%held (p.2: bf16[8,128]) -> bf16[8,128] {{
  %p.2 = bf16[8,128]{tiling} parameter(0)
  %fusion.1 = bf16[8,128]{_TILED} fusion(%p.2), kind=kLoop, calls=%move.1
  ROOT %exp = bf16[8,128]{_TILED} exponential(%fusion.1)
}}

%other (p.3: bf16[8,128]) -> bf16[8,128] {{
  %p.3 = bf16[8,128]{_TILED} parameter(0)
  %copy.1 = bf16[8,128]{{0,1:T(8,128)(2,1)}} copy(%p.3), {_OP}
  %neg = bf16[8,128]{{0,1:T(8,128)(2,1)}} negate(%copy.1)
  ROOT %tanh = bf16[8,128]{{0,1:T(8,128)(2,1)}} tanh(%neg)
}}

%third (p.4: bf16[8,128]) -> bf16[8,128] {{
  %p.4 = bf16[8,128]{_TILED} parameter(0)
  %max = bf16[8,128]{_TILED} maximum(%p.4, %p.4), {_OP}
{root}
}}

ENTRY %main (a: bf16[8,128]) -> {_RESULT} {{
  %a = bf16[8,128]{tiling} parameter(0)
  %held_fusion.2 = bf16[8,128]{_TILED} fusion(%a), {_HELD}
  %other_fusion.3 = bf16[8,128]{{0,1:T(8,128)(2,1)}} fusion(%held_fusion.2), {_OTHER}
  %third_fusion.4 = bf16[8,128]{_TILED} fusion(%held_fusion.2), kind=kLoop, calls=%third
  ROOT %out = {_RESULT} tuple(%held_fusion.2, %other_fusion.3, %third_fusion.4)
}}
"""


_BITCAST = f"  ROOT %bitcast.1 = bf16[8,128]{_TILED} bitcast(%p.1)"
_ROOT = f"  ROOT %abs = bf16[8,128]{_TILED} abs(%max)"
_BEFORE = _module(_BITCAST, root=_ROOT)
_COPY = f"""
%move.2 (p.5: bf16[8,128]) -> bf16[8,128] {{
  %p.5 = bf16[8,128]{_RETILED} parameter(0)
  ROOT %copy.2 = bf16[8,128]{_TILED} copy(%p.5)
}}
"""
_INSIDE = f"""  %fusion.5 = bf16[8,128]{_TILED} fusion(%p.1), kind=kLoop, calls=%move.2
  ROOT %bitcast.1 = bf16[8,128]{_TILED} bitcast(%fusion.5)"""


def _relation(read: Read, after: str, place: Place) -> Relation | None:
    pairing = match(read(_BEFORE), read(after)).pairing_after(place)
    return None if pairing is None else pairing.relation


def test_a_new_fusion_in_what_a_fusion_calls_is_no_clone_of_it(read: Read) -> None:
    after = _module(_INSIDE, _COPY, root=_ROOT, tiling=_RETILED)
    assert _relation(read, after, Place("move.1", "fusion.5")) is Relation.ADDED


def test_a_new_fusion_of_other_work_is_no_clone(read: Read) -> None:
    held = f"""  %fusion.5 = bf16[8,128]{_TILED} fusion(%p.4), kind=kLoop, calls=%move.2
  %max = bf16[8,128]{_TILED} maximum(%fusion.5, %fusion.5)"""
    after = _module(_INSIDE, _COPY, root=_ROOT, tiling=_RETILED).replace(
        f"  %max = bf16[8,128]{_TILED} maximum(%p.4, %p.4)", held
    )
    assert _relation(read, after, Place("third", "fusion.5")) is Relation.ADDED


def test_a_copy_of_another_value_to_another_layout_is_no_clone(read: Read) -> None:
    root = f"  %abs = bf16[8,128]{_TILED} abs(%max)\n"
    root += f"  ROOT %copy.3 = bf16[8,128]{_RETILED} copy(%abs), {_OP}"
    after = _module(_INSIDE, _COPY, root=root, tiling=_RETILED)
    assert _relation(read, after, Place("third", "copy.3")) is Relation.ADDED
