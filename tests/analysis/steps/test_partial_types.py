from collections.abc import Callable

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.partial_types import with_partial_types
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_BEFORE = """
ENTRY %main (x: TYPE[24,384], w: TYPE[384,64]) -> TYPE[24,64] {
  %x = TYPE[24,384]{1,0} parameter(0)
  %w = TYPE[384,64]{1,0} parameter(1)
  ROOT %dot = TYPE[24,64]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
_AFTER = """
%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add = f32[] add(%a, %b)
}

ENTRY %main (x: TYPE[24,384], w: TYPE[384,64]) -> TYPE[24,64] {
  %x = TYPE[24,384]{1,0} parameter(0)
  %w = TYPE[384,64]{1,0} parameter(1)
  %bitcast = TYPE[24,8,48]{2,1,0} bitcast(%x)
  %bitcast.1 = TYPE[8,48,64]{2,1,0} bitcast(%w)
  %dot.1 = f32[8,24,64]{2,1,0} dot(%bitcast, %bitcast.1), lhs_batch_dims={1}, \
lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  %zero = f32[] constant(0)
  LAST
}
"""
_REDUCE = "reduce(%dot.1, %zero), dimensions={0}, to_apply=%sum"


def _kinds(read: Read, element_type: str, last: str) -> tuple[Kind, ...]:
    texts = _BEFORE, _AFTER.replace("LAST", last)
    change = step(*(read(text.replace("TYPE", element_type)) for text in texts))
    [split] = [row for row in change.changes if row.kind is Kind.SPLIT]
    return split.kinds


def test_a_split_product_whose_parts_have_another_type_says_so(read: Read) -> None:
    last = (
        f"%reduce = f32[24,64]{{1,0}} {_REDUCE}\n"
        "  ROOT %convert = bf16[24,64]{1,0} convert(%reduce)"
    )
    assert _kinds(read, "bf16", last) == (Kind.SPLIT, Kind.TYPE)
    assert _kinds(read, "f32", f"ROOT %reduce = f32[24,64]{{1,0}} {_REDUCE}") == (Kind.SPLIT,)


def test_parts_of_a_tuple_have_no_type_of_their_own(read: Read) -> None:
    whole = '(bf16[8], f32[8]) custom-call(%x), custom_call_target="both"'
    text = (
        "ENTRY %main (x: f32[8]) -> (bf16[8], f32[8]) {\n  %x = f32[8]{0} parameter(0)\n"
        f"  ROOT %w = {whole}\n}}\n"
    )
    module = read(text)
    place = Place("main", "x")
    row = Change(
        Kind.SPLIT, Place("main", "w"), place, Grade.EXACT, "", "", ("", ""), (Kind.SPLIT,)
    )
    matching = Matching(module, module, {}, ())
    assert with_partial_types(matching, [row]) == [row]
