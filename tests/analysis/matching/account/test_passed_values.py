"""Moves that were removed or inserted, where much else was rewritten."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import ChangeCause, Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_MANY = 24


def _module(first: str, second: str, lines: str, count: int, more: str) -> str:
    """Return a chain of so many pairs of operations, beside some lines."""
    chain, last = [], "%a"
    for number in range(count):
        chain.append(f"  %{first}.{number} = f32[4]{{0}} {first}({last})")
        chain.append(f"  %{second}.{number} = f32[{number + 5}]{{0}} {second}(%{first}.{number})")
        last = f"%{second}.{number}"
    body = "\n".join(chain)
    return f"""
HloModule m
{more}
ENTRY %main (a: f32[4], b: f32[8], w: f32[4,8]) -> (f32[4,8], f32[{count + 4}]) {{
  %a = f32[4]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  %w = f32[4,8]{{1,0}} parameter(2)
{body}
{lines}
  ROOT %out = (f32[4,8]{{1,0}}, f32[{count + 4}]{{0}}) tuple(%result, {last})
}}
"""


def _match(read: Read, before: str, after: str, *, more: str = "") -> Matching:
    old = _module("sine", "exponential", before, _MANY, "")
    return match(read(old), read(_module("tanh", "cosine", after, _MANY + 2, more)))


def _gone(matching: Matching, name: str) -> Pairing:
    known = matching.pairing_before(Place("main", name))
    assert known is not None
    assert known.relation is Relation.REMOVED
    return known


_WIDE = "  %wide = f32[4,8]{1,0} broadcast(%b), dimensions={1}\n"
_ADD = "  %result = f32[4,8]{1,0} add(%w, %wide)"


def test_a_chain_of_reshapes_that_a_user_reads_behind_now_is_removed(read: Read) -> None:
    before = """  %row = f32[1,8]{1,0} reshape(%b)
  %same = f32[1,8]{1,0} broadcast(%row), dimensions={0,1}
  %flat = f32[8]{0} reshape(%same)
  %wide = f32[4,8]{1,0} broadcast(%flat), dimensions={1}
"""
    matching = _match(read, before + _ADD, _WIDE + _ADD)
    for name in ("row", "same", "flat"):
        known = _gone(matching, name)
        assert known.cause is None
        assert known.grade is Grade.MATCHED
        assert "%wide uses" in str(known.reason)
    untraced = _gone(matching, "sine.3")
    assert untraced.cause is ChangeCause.UNTRACED


def test_operations_that_change_nothing_are_removed_with_their_constants(read: Read) -> None:
    before = """  %wide = f32[4,8]{1,0} broadcast(%b), dimensions={1}
  %one = s32[] constant(1)
  %float = f32[] convert(%one)
  %ones = f32[4,8]{1,0} broadcast(%float), dimensions={}
  %product = f32[4,8]{1,0} multiply(%wide, %ones)
  %result = f32[4,8]{1,0} add(%w, %product)"""
    matching = _match(read, before, _WIDE + _ADD)
    for name in ("one", "float", "ones", "product"):
        assert _gone(matching, name).cause is None


def test_a_multiply_by_another_number_is_not_told_as_removed(read: Read) -> None:
    before = """  %wide = f32[4,8]{1,0} broadcast(%b), dimensions={1}
  %two = f32[] constant(2)
  %twos = f32[4,8]{1,0} broadcast(%two), dimensions={}
  %product = f32[4,8]{1,0} multiply(%wide, %twos)
  %result = f32[4,8]{1,0} add(%w, %product)"""
    matching = _match(read, before, _WIDE + _ADD)
    assert _gone(matching, "product").cause is ChangeCause.UNTRACED


def test_a_transpose_that_moved_past_its_user_is_not_told_as_removed(read: Read) -> None:
    before = """  %turned = f32[8,4]{1,0} transpose(%w), dimensions={1,0}
  %root = f32[8,4]{1,0} sqrt(%turned)
  %result = f32[4,8]{1,0} custom-call(%root), custom_call_target="c\""""
    after = """  %root = f32[4,8]{1,0} sqrt(%w)
  %result = f32[4,8]{1,0} custom-call(%root), custom_call_target="c\""""
    matching = _match(read, before, after)
    assert _gone(matching, "turned").cause is ChangeCause.UNTRACED


def test_a_transpose_whose_dot_numbers_other_dimensions_is_removed(read: Read) -> None:
    before = """  %turned = f32[8,4]{1,0} transpose(%w), dimensions={1,0}
  %square = f32[4,4]{1,0} dot(%w, %turned), lhs_contracting_dims={1}, \
rhs_contracting_dims={0}
  %result = f32[4,8]{1,0} custom-call(%square), custom_call_target="c\""""
    after = """  %square = f32[4,4]{1,0} dot(%w, %w), lhs_contracting_dims={1}, \
rhs_contracting_dims={1}
  %result = f32[4,8]{1,0} custom-call(%square), custom_call_target="c\""""
    known = _gone(_match(read, before, after), "turned")
    assert known.cause is None
    assert "%square uses %w" in str(known.reason)


_MOVED = """
%moved (p: f32[4,8]) -> f32[4,8] {
  %p = f32[4,8]{1,0} parameter(0)
  %turn = f32[8,4]{1,0} transpose(%p), dimensions={1,0}
  ROOT %back = f32[4,8]{0,1} transpose(%turn), dimensions={1,0}
}
"""


def test_a_new_fusion_of_moves_between_a_value_and_its_user_is_added(read: Read) -> None:
    before = """  %result = f32[4,8]{1,0} custom-call(%w), custom_call_target="c\""""
    after = """  %laid = f32[4,8]{0,1} fusion(%w), kind=kLoop, calls=%moved
  %result = f32[4,8]{1,0} custom-call(%laid), custom_call_target="c\""""
    matching = _match(read, before, after, more=_MOVED)
    for place in (Place("moved", "turn"), Place("moved", "back"), Place("main", "laid")):
        known = matching.pairing_after(place)
        assert known is not None
        assert (known.relation, known.cause) == (Relation.ADDED, None)
    untraced = matching.pairing_after(Place("main", "tanh.3"))
    assert untraced is not None
    assert untraced.cause is ChangeCause.UNTRACED
