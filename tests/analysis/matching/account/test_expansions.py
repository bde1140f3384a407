"""Instructions that became several smaller ones."""

from collections.abc import Callable

from xlareport.analysis.history.instruction import SnapshotSequence, descendants, history
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_WHOLE = """
HloModule m

ENTRY %main (a: f32[4], b: f32[4]) -> f32[8] {
  %a = f32[4]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %concatenate.1 = f32[8]{0} concatenate(%a, %b), dimensions={0}
  ROOT %out = f32[8]{0} negate(%concatenate.1)
}
"""
_APART = _WHOLE.replace(
    "  %concatenate.1 = f32[8]{0} concatenate(%a, %b), dimensions={0}\n",
    """  %zero = f32[] constant(0)
  %pad.1 = f32[8]{0} pad(%a, %zero), padding=0_4
  %pad.2 = f32[8]{0} pad(%b, %zero), padding=4_0
  %add.1 = f32[8]{0} add(%pad.1, %pad.2)
""",
).replace("%concatenate.1", "%add.1")


def _at(name: str) -> Place:
    return Place("main", name)


def test_one_became_several_of_which_one_gives_its_result(read: Read) -> None:
    pairing = match(read(_WHOLE), read(_APART)).pairing_before(_at("concatenate.1"))
    assert pairing is not None
    assert pairing.relation is Relation.EXPANDED
    assert pairing.after[0] == _at("add.1")
    assert {*pairing.after} == {_at(name) for name in ("zero", "pad.1", "pad.2", "add.1")}


def test_the_account_has_no_added_instruction(read: Read) -> None:
    made = step(read(_WHOLE), read(_APART), "`concat-decomposer`")
    assert made.headline.startswith(
        "`concat-decomposer` expanded 1 concatenate into 4 instructions"
    )
    assert not [change for change in made.changes if change.kind is Kind.ADDED]
    assert sum(change.balance for change in made.changes) == 3


def test_what_reads_something_else_is_no_expansion(read: Read) -> None:
    other = _APART.replace("pad(%b, %zero)", "pad(%c, %zero)").replace(
        "  %zero", "  %c = f32[4]{0} parameter(2)\n  %zero"
    )
    pairing = match(read(_WHOLE), read(other)).pairing_before(_at("concatenate.1"))
    assert pairing is not None
    assert pairing.relation is not Relation.EXPANDED


def test_an_operation_replaced_with_another_one_is_no_expansion(read: Read) -> None:
    before = _WHOLE.replace("concatenate(%a, %b), dimensions={0}", "subtract(%a, %b)")
    after = before.replace("subtract(%a, %b)", "add(%a, %b)").replace("%concatenate", "%add")
    pairing = match(read(before), read(after)).pairing_before(_at("concatenate.1"))
    assert pairing is not None
    assert pairing.relation is Relation.REPLACED


def test_the_history_of_a_part_leads_to_what_was_expanded(read: Read) -> None:
    shots = SnapshotSequence([read(_WHOLE), read(_APART)])
    events = [(str(event.event), event.sources) for event in history(shots, 1, _at("pad.2"))]
    assert ("expanded", (_at("concatenate.1"),)) in events


def test_what_was_expanded_goes_on_as_what_gives_its_result(read: Read) -> None:
    shots = SnapshotSequence([read(_WHOLE), read(_APART)])
    events = history(shots, 0, _at("concatenate.1"))
    assert [event.targets for event in events if event.event == "expanded"] == [(_at("add.1"),)]


_RESIDUAL = """
HloModule m

ENTRY %main (x: f32[8,4], w: f32[4,4], r: f32[8,4]) -> f32[8,4] {
  %x = f32[8,4]{1,0} parameter(0)
  %w = f32[4,4]{1,0} parameter(1)
  %r = f32[8,4]{1,0} parameter(2)
  %dot.1 = f32[8,4]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/dot_general"}
  %add.1 = f32[8,4]{1,0} add(%r, %dot.1), metadata={op_name="jit(f)/add"}
  ROOT %out = f32[8,4]{1,0} negate(%add.1), metadata={op_name="jit(f)/neg"}
}
"""
_SUMMED = """
HloModule m

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

ENTRY %main (x: f32[8,4], w: f32[4,4], r: f32[8,4]) -> f32[8,4] {
  %x = f32[8,4]{1,0} parameter(0)
  %w = f32[4,4]{1,0} parameter(1)
  %r = f32[8,4]{1,0} parameter(2)
  %convolution.1 = f32[8,4]{1,0} convolution(%x, %w), dim_labels=bf_io->bf, \
metadata={op_name="jit(f)/dot_general"}
  %all-reduce.1 = f32[8,4]{1,0} all-reduce(%convolution.1), to_apply=%sum, \
metadata={op_name="jit(f)/dot_general"}
  %copy.1 = f32[8,4]{1,0} copy(%r)
  %add.7 = f32[8,4]{1,0} add(%copy.1, %all-reduce.1), metadata={op_name="jit(f)/add"}
  ROOT %out = f32[8,4]{1,0} negate(%add.7), metadata={op_name="jit(f)/neg"}
}
"""


def test_the_sum_over_devices_of_an_operand_is_no_part_of_the_op_that_reads_it(read: Read) -> None:
    matching = match(read(_RESIDUAL), read(_SUMMED))
    pairing = matching.pairing_before(_at("add.1"))
    assert pairing is not None
    assert _at("all-reduce.1") not in pairing.after
    added = matching.pairing_after(_at("all-reduce.1"))
    assert added is not None
    assert (added.before, added.relation) == ((), Relation.ADDED)
    assert added.reason == "it combines partial results of %convolution.1"


_SCATTERED = """
HloModule m

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

ENTRY %main (x: f32[4,16]) -> f32[4,4] {
  %x = f32[4,16]{1,0} parameter(0)
  %sine.1 = f32[4,16]{1,0} sine(%x)
  %reduce_scatter.14 = f32[4,4]{1,0} reduce-scatter(%sine.1), channel_id=1, \
replica_groups={{0,2,4,6},{1,3,5,7}}, use_global_device_ids=true, dimensions={1}, to_apply=%sum, \
metadata={op_name="jit(f)/reduce_scatter"}
  ROOT %tanh.3 = f32[4,4]{1,0} tanh(%reduce_scatter.14), metadata={op_name="jit(f)/tanh"}
}
"""
_REDUCED = """
HloModule m

%sum.clone (a.1: f32[], b.1: f32[]) -> f32[] {
  %a.1 = f32[] parameter(0)
  %b.1 = f32[] parameter(1)
  ROOT %s.1 = f32[] add(%a.1, %b.1)
}

ENTRY %main (x: f32[4,16]) -> f32[4,4] {
  %x = f32[4,16]{1,0} parameter(0)
  %sine.1 = f32[4,16]{1,0} sine(%x)
  %all-reduce = f32[4,16]{1,0} all-reduce(%sine.1), channel_id=2, \
replica_groups={{0,2,4,6},{1,3,5,7}}, use_global_device_ids=true, to_apply=%sum.clone
  %constant.2 = u32[] constant(0)
  %constant.3 = u32[8]{0} constant({0, 0, 1, 1, 2, 2, 3, 3})
  %partition-id.2 = u32[] partition-id()
  %dynamic-slice = u32[1]{0} dynamic-slice(%constant.3, %partition-id.2), dynamic_slice_sizes={1}
  %reshape = u32[] reshape(%dynamic-slice)
  %constant.4 = u32[] constant(4)
  %multiply = u32[] multiply(%reshape, %constant.4)
  %dynamic-slice.1 = f32[4,4]{1,0} dynamic-slice(%all-reduce, %constant.2, %multiply), \
dynamic_slice_sizes={4,4}
  ROOT %tanh.3 = f32[4,4]{1,0} tanh(%dynamic-slice.1), metadata={op_name="jit(f)/tanh"}
}
"""


def test_a_reduce_scatter_is_decomposed_into_a_sum_and_what_takes_a_share_of_it(read: Read) -> None:
    made = step(read(_SCATTERED), read(_REDUCED), "`reduce-scatter-decomposer`")
    assert made.headline == (
        "`reduce-scatter-decomposer` expanded 1 reduce-scatter into 9 instructions; "
        "`%reduce_scatter.14` in `main` was expanded into 9 instructions, including `%all-reduce`; "
        "`%dynamic-slice.1` gives its result."
    )
    assert not [change for change in made.changes if change.kind is Kind.ADDED]


def test_a_decomposed_reduce_scatter_goes_on_as_its_all_reduce(read: Read) -> None:
    shots = SnapshotSequence([read(_SCATTERED), read(_REDUCED)])
    known = descendants(shots, 0, [_at("reduce_scatter.14")])
    assert known == (_at("dynamic-slice.1"), _at("all-reduce"))


def test_a_reshape_became_a_copy_between_bitcasts(read: Read) -> None:
    text = """
ENTRY %main (a: f32[2,4,8]) -> f32[8] {
  %a = f32[2,4,8]{2,1,0} parameter(0)
  %r = f32[64]{0} reshape(%a)
  ROOT %out = f32[64]{0} negate(%r)
}
"""
    chain = """  %b.1 = f32[8,8]{1,0} bitcast(%a)
  %c = f32[8,8]{0,1} copy(%b.1)
  %b.2 = f32[64]{0} bitcast(%c)
"""
    line = "  %r = f32[64]{0} reshape(%a)\n"
    after = text.replace(line, chain).replace("negate(%r)", "negate(%b.2)")
    pairing = match(read(text), read(after)).pairing_before(_at("r"))
    assert pairing is not None
    assert pairing.relation is Relation.EXPANDED
    assert {place.instruction for place in pairing.after} == {"b.1", "c", "b.2"}
    alone = text.replace(line, "  %b.2 = f32[64]{0} bitcast(%a)\n").replace("(%r)", "(%b.2)")
    pairing = match(read(text), read(alone)).pairing_before(_at("r"))
    assert pairing is not None
    assert pairing.relation is not Relation.EXPANDED


def test_a_reshape_became_a_bitcast_and_a_copy_that_gives_its_result(read: Read) -> None:
    text = """
ENTRY %main (a: f32[2,4,8]) -> f32[8,8] {
  %a = f32[2,4,8]{2,1,0} parameter(0)
  %r = f32[8,8]{0,1} reshape(%a)
  ROOT %out = f32[8,8]{0,1} negate(%r)
}
"""
    chain = "  %b = f32[8,8]{1,0} bitcast(%a)\n  %c = f32[8,8]{0,1} copy(%b)\n"
    after = text.replace("  %r = f32[8,8]{0,1} reshape(%a)\n", chain).replace("(%r)", "(%c)")
    pairing = match(read(text), read(after)).pairing_before(_at("r"))
    assert pairing is not None
    assert pairing.relation is Relation.EXPANDED
    assert {place.instruction for place in pairing.after} == {"b", "c"}


def test_what_others_read_too_is_no_part_of_an_expansion(read: Read) -> None:
    shared = _APART.replace(
        "ROOT %out = f32[8]{0} negate(%add.1)",
        "%more = f32[8]{0} cosine(%pad.1)\n"
        "  %out = f32[8]{0} negate(%add.1)\n  ROOT %all = f32[8]{0} multiply(%out, %more)",
    )
    pairing = match(read(_WHOLE), read(shared)).pairing_before(_at("concatenate.1"))
    assert pairing is not None
    assert {*pairing.after} == {_at(name) for name in ("pad.2", "add.1")}


_SLICES = """
HloModule m

ENTRY %main (a: f32[64,16]) -> (f32[64,1], f32[64,1]) {
  %a = f32[64,16]{1,0} parameter(0)
  %neg = f32[64,16]{1,0} negate(%a), metadata={op_name="f/neg"}
  %split.1 = f32[64,1]{1,0} slice(%neg), slice={[0:64], [8:9]}, metadata={op_name="f/split"}
  %split.2 = f32[64,1]{1,0} slice(%neg), slice={[0:64], [9:10]}, metadata={op_name="f/split"}
  %sin = f32[64,1]{1,0} sine(%split.1), metadata={op_name="f/sin"}
  %cos = f32[64,1]{1,0} cosine(%split.2), metadata={op_name="f/cos"}
  ROOT %both = (f32[64,1]{1,0}, f32[64,1]{1,0}) tuple(%sin, %cos)
}
"""
_SHARES = """
HloModule m

ENTRY %main_spmd (a: f32[32,16]) -> (f32[32,1], f32[32,1]) {
  %a.0 = f32[32,16]{1,0} parameter(0)
  %neg.0 = f32[32,16]{1,0} negate(%a.0), metadata={op_name="f/neg"}
  %part.1 = f32[32,1]{1,0} slice(%neg.0), slice={[0:32], [8:9]}, metadata={op_name="f/split"}
  %sent = f32[32,1]{1,0} collective-permute(%part.1), metadata={op_name="f/split"}
  %copy.1 = f32[32,1]{1,0} copy(%sent), metadata={op_name="f/split"}
  %sin.0 = f32[32,1]{1,0} sine(%copy.1), metadata={op_name="f/sin"}
  %part.2 = f32[32,1]{1,0} slice(%neg.0), slice={[0:32], [8:9]}, metadata={op_name="f/split"}
  %cos.0 = f32[32,1]{1,0} cosine(%part.2), metadata={op_name="f/cos"}
  ROOT %both.0 = (f32[32,1]{1,0}, f32[32,1]{1,0}) tuple(%sin.0, %cos.0)
}
"""


def test_equal_slices_of_shares_are_no_copies_of_each_other(read: Read) -> None:
    matching = match(read(_SLICES), read(_SHARES))
    kinds = {pairing.relation for pairing in matching.pairings}
    assert Relation.CLONED not in kinds
    assert Relation.REMOVED not in kinds
    assert matching.partner_after(_at("split.2")) == Place("main_spmd", "part.2")


_LOGISTIC = """
HloModule m

ENTRY %main (a: f32[2,4]) -> f32[8] {
  %a = f32[2,4]{1,0} parameter(0)
  %flat = f32[8]{0} reshape(%a)
  %logistic.1 = f32[8]{0} logistic(%flat)
  ROOT %out = f32[8]{0} custom-call(%logistic.1), custom_call_target="c"
}
"""
_IN_FUSIONS = """
HloModule m

%powers (p: f32[2,4]) -> f32[8] {
  %p = f32[2,4]{1,0} parameter(0)
  %bitcast.1 = f32[8]{0} bitcast(%p)
  %negate.1 = f32[8]{0} negate(%bitcast.1)
  ROOT %exponential.1 = f32[8]{0} exponential(%negate.1)
}

%quotients (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  %one = f32[] constant(1)
  %ones = f32[8]{0} broadcast(%one), dimensions={}
  %sum = f32[8]{0} add(%q, %ones)
  ROOT %divide.1 = f32[8]{0} divide(%ones, %sum)
}

ENTRY %main (a: f32[2,4]) -> f32[8] {
  %a = f32[2,4]{1,0} parameter(0)
  %first = f32[8]{0} fusion(%a), kind=kLoop, calls=%powers
  %second = f32[8]{0} fusion(%first), kind=kLoop, calls=%quotients
  ROOT %out = f32[8]{0} custom-call(%second), custom_call_target="c"
}
"""


def test_an_expansion_can_be_in_several_fusions_and_read_behind_a_reshape(read: Read) -> None:
    matching = match(read(_LOGISTIC), read(_IN_FUSIONS))
    pairing = matching.pairing_before(_at("logistic.1"))
    assert pairing is not None
    assert pairing.relation is Relation.EXPANDED
    assert {Place("powers", "exponential.1"), Place("powers", "negate.1")} < {*pairing.after}
    change = step(read(_LOGISTIC), read(_IN_FUSIONS))
    fused = {row.after: row for row in change.changes if row.kind is Kind.FUSED}
    assert set(fused) == {_at("first"), _at("second")}
    assert fused[_at("second")].reason == "fuses 1 instruction, as 4 (expanded)"


_OF_EQUALS = """
HloModule m

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %c = f32[] constant(3)
  %zero = f32[] constant(0)
  %equal = f32[4,8]{1,0} broadcast(%c), dimensions={}
  %reduce.1 = f32[8]{0} reduce(%equal, %zero), dimensions={0}, to_apply=%sum
  ROOT %out = f32[8]{0} multiply(%a, %reduce.1)
}
"""
_PRODUCT = """  %four = f32[] constant(4)
  %init = f32[] broadcast(%zero), dimensions={}
  %product = f32[] multiply(%c, %four)
  %sum.1 = f32[] add(%init, %product)
  %whole = f32[8]{0} broadcast(%sum.1), dimensions={}
"""


def _with(lines: str, result: str) -> str:
    start, end = _OF_EQUALS.index("  %equal"), _OF_EQUALS.index("  ROOT %out")
    return f"{_OF_EQUALS[:start]}{lines}{_OF_EQUALS[end:]}".replace("%reduce.1", f"%{result}")


def test_a_sum_of_equal_constants_is_expanded_into_their_product(read: Read) -> None:
    made = step(read(_OF_EQUALS), read(_with(_PRODUCT, "whole")), "`algsimp`")
    assert made.headline.startswith("`algsimp` expanded 1 reduce into 5 instructions")
    assert not [change for change in made.changes if change.kind is Kind.ADDED]


def test_a_sum_of_constants_that_is_a_constant_now_is_folded(read: Read) -> None:
    line = "  %whole = f32[8]{0} constant({12, 12, 12, 12, 12, 12, 12, 12})\n"
    made = step(read(_OF_EQUALS), read(_with(line, "whole")), "`constant_folding`")
    assert not [change for change in made.changes if change.kind is Kind.EXPANDED]
    line = (
        "  %twelve = f32[] constant(12)\n  %whole = f32[8]{0} broadcast(%twelve), dimensions={}\n"
    )
    made = step(read(_OF_EQUALS), read(_with(line, "whole")), "`constant_folding`")
    assert not [change for change in made.changes if change.kind is Kind.EXPANDED]


def test_a_pad_by_nothing_is_not_expanded(read: Read) -> None:
    before = """
HloModule m

ENTRY %main (a: f32[2,4]) -> f32[2,4] {
  %a = f32[2,4]{1,0} parameter(0)
  %zero = f32[] constant(0)
  %tanh.1 = f32[2,4]{1,0} tanh(%a)
  %pad.1 = f32[2,4]{1,0} pad(%tanh.1, %zero), padding=0_0x0_0
  ROOT %out = f32[2,4]{1,0} custom-call(%pad.1), custom_call_target="c"
}
"""
    after = """
HloModule m

ENTRY %main (a: f32[2,4]) -> f32[2,4] {
  %a = f32[2,4]{1,0} parameter(0)
  %turned = f32[4,2]{1,0} transpose(%a), dimensions={1,0}
  %tanh.2 = f32[4,2]{1,0} tanh(%turned)
  %back = f32[2,4]{0,1} transpose(%tanh.2), dimensions={1,0}
  %copy.1 = f32[2,4]{1,0} copy(%back)
  ROOT %out = f32[2,4]{1,0} custom-call(%copy.1), custom_call_target="c"
}
"""
    pairing = match(read(before), read(after)).pairing_before(_at("pad.1"))
    assert pairing is not None
    assert pairing.relation is not Relation.EXPANDED


_TWO_COUNTERS = """HloModule m

%body (c: (s32[], s32[], u32[1], u32[1])) -> (s32[], s32[], u32[1], u32[1]) {
  %c = (s32[], s32[], u32[1]{0}, u32[1]{0}) parameter(0)
  %i = s32[] get-tuple-element(%c), index=0
  %j = s32[] get-tuple-element(%c), index=1
  %a = u32[1]{0} get-tuple-element(%c), index=2
  %k = u32[1]{0} get-tuple-element(%c), index=3
  %one = s32[] constant(1)
  %i.1 = s32[] add(%i, %one)
  %two = s32[] constant(2)
  %j.1 = s32[] add(%j, %two)
  %xor.1 = u32[1]{0} xor(%a, %k)
  %mul.1 = u32[1]{0} multiply(%xor.1, %k)
  ROOT %t = (s32[], s32[], u32[1]{0}, u32[1]{0}) tuple(%i.1, %j.1, %mul.1, %k)
}

%cond (d: (s32[], s32[], u32[1], u32[1])) -> pred[] {
  %d = (s32[], s32[], u32[1]{0}, u32[1]{0}) parameter(0)
  %n = s32[] get-tuple-element(%d), index=0
  %five = s32[] constant(5)
  ROOT %lt = pred[] compare(%n, %five), direction=LT
}

ENTRY %main (x: u32[1], y: u32[1]) -> u32[1] {
  %x = u32[1]{0} parameter(0)
  %y = u32[1]{0} parameter(1)
  %zero = s32[] constant(0)
  %s = (s32[], s32[], u32[1]{0}, u32[1]{0}) tuple(%zero, %zero, %x, %y)
  %w = (s32[], s32[], u32[1]{0}, u32[1]{0}) while(%s), condition=%cond, body=%body
  ROOT %o = u32[1]{0} get-tuple-element(%w), index=2
}
"""
_ONE_COUNTER = """HloModule m

%body.9 (c.9: (s32[], u32[1], u32[1])) -> (s32[], u32[1], u32[1]) {
  %c.9 = (s32[], u32[1]{0}, u32[1]{0}) parameter(0)
  %i.9 = s32[] get-tuple-element(%c.9), index=0
  %a.9 = u32[1]{0} get-tuple-element(%c.9), index=1
  %k.9 = u32[1]{0} get-tuple-element(%c.9), index=2
  %one.9 = s32[] constant(1)
  %i.10 = s32[] add(%i.9, %one.9)
  %not.9 = u32[1]{0} not(%a.9)
  %and.9 = u32[1]{0} and(%not.9, %k.9)
  %or.9 = u32[1]{0} or(%and.9, %a.9)
  ROOT %t.9 = (s32[], u32[1]{0}, u32[1]{0}) tuple(%i.10, %or.9, %k.9)
}

%cond.9 (d: (s32[], u32[1], u32[1])) -> pred[] {
  %d.9 = (s32[], u32[1]{0}, u32[1]{0}) parameter(0)
  %n.9 = s32[] get-tuple-element(%d.9), index=0
  %five.9 = s32[] constant(5)
  ROOT %lt.9 = pred[] compare(%n.9, %five.9), direction=LT
}

ENTRY %main (x: u32[1], y: u32[1]) -> u32[1] {
  %x = u32[1]{0} parameter(0)
  %y = u32[1]{0} parameter(1)
  %zero = s32[] constant(0)
  %s.9 = (s32[], u32[1]{0}, u32[1]{0}) tuple(%zero, %x, %y)
  %w = (s32[], u32[1]{0}, u32[1]{0}) while(%s.9), condition=%cond.9, body=%body.9
  ROOT %o = u32[1]{0} get-tuple-element(%w), index=1
}
"""


def test_a_counter_that_a_loop_lost_did_not_become_what_stands_in_its_place(read: Read) -> None:
    pairing = match(read(_TWO_COUNTERS), read(_ONE_COUNTER)).pairing_before(Place("body", "j.1"))
    assert pairing is not None
    assert pairing.relation is Relation.REMOVED


_ONCE = """HloModule m

ENTRY %main (a: bf16[8], b: f32[8]) -> (bf16[8], bf16[8]) {
  %a = bf16[8]{0} parameter(0)
  %tanh.1 = bf16[8]{0} tanh(%a)
  %cosine.1 = bf16[8]{0} cosine(%tanh.1)
  %divide.1 = bf16[8]{0} divide(%a, %cosine.1)
  %out = bf16[8]{0} negate(%divide.1)
  ROOT %all = (bf16[8]{0}, bf16[8]{0}) tuple(%out, %cosine.1)
}
"""
_AGAIN = """HloModule m

ENTRY %main (a: bf16[8], b: f32[8]) -> (bf16[8], bf16[8]) {
  %a = bf16[8]{0} parameter(0)
  %tanh.1 = bf16[8]{0} tanh(%a)
  %cosine.1 = bf16[8]{0} cosine(%tanh.1)
  %convert.1 = f32[8]{0} convert(%a)
  %tanh.9 = f32[8]{0} tanh(%convert.1)
  %cosine.9 = f32[8]{0} cosine(%tanh.9)
  %multiply.9 = f32[8]{0} multiply(%convert.1, %cosine.9)
  %convert.2 = bf16[8]{0} convert(%multiply.9)
  %out = bf16[8]{0} negate(%convert.2)
  ROOT %all = (bf16[8]{0}, bf16[8]{0}) tuple(%out, %cosine.1)
}
"""


def test_what_computes_an_operand_again_is_no_expansion(read: Read) -> None:
    pairing = match(read(_ONCE), read(_AGAIN)).pairing_before(_at("divide.1"))
    assert pairing is not None
    assert pairing.after == (_at("convert.2"),)


_READS_KEY = """HloModule m

ENTRY %main (k: u32[4]) -> u32[4] {
  %k = u32[4]{0} parameter(0)
  %marked = u32[4]{0} custom-call(%k), custom_call_target="Sharding", sharding={replicated}
  %pairs = u32[2,2]{1,0} reshape(%marked)
  %state = u64[2]{0} bitcast-convert(%pairs)
  %rng = (u64[2]{0}, u32[4]{0}) rng-bit-generator(%state), algorithm=rng_default
  %bits = u32[4]{0} get-tuple-element(%rng), index=1
  ROOT %out = u32[4]{0} not(%bits)
}
"""
_READS_BITS = """HloModule m

ENTRY %main (k: u32[4]) -> u32[4] {
  %k = u32[4]{0} parameter(0)
  %low.9 = u32[2]{0} slice(%k), slice={[0:2]}
  %high.9 = u32[2]{0} slice(%k), slice={[2:4]}
  %both.9 = u32[2]{0} xor(%low.9, %high.9)
  %square.9 = u32[2]{0} multiply(%both.9, %both.9)
  %all.9 = u32[4]{0} concatenate(%both.9, %square.9), dimensions={0}
  ROOT %out = u32[4]{0} not(%all.9)
}
"""


def test_an_expansion_reads_behind_marks_and_casts(read: Read) -> None:
    pairing = match(read(_READS_KEY), read(_READS_BITS)).pairing_before(Place("main", "rng"))
    assert pairing is not None
    assert pairing.relation is Relation.EXPANDED
    assert len(pairing.after) > 2


def test_a_mark_is_not_expanded(read: Read) -> None:
    mark = '%marked = u32[4]{0} custom-call(%k), custom_call_target="Sharding"'
    work = (
        "%one.9 = u32[] constant(1)\n  %ones.9 = u32[4]{0} broadcast(%one.9), dimensions={}\n"
        "  %moved.9 = u32[4]{0} shift-left(%k, %ones.9)\n  %both.9 = u32[4]{0} or(%moved.9, %k)"
    )
    after = _READS_KEY.replace(f"{mark}, sharding={{replicated}}", work)
    after = after.replace("(%marked)", "(%both.9)")
    pairing = match(read(_READS_KEY), read(after)).pairing_before(Place("main", "marked"))
    assert pairing is not None
    assert pairing.relation is not Relation.EXPANDED


_SELECTED = """
HloModule m
%ge (l: f32[], r: f32[]) -> pred[] {
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %compare.1 = pred[] compare(%l, %r), direction=GE
}
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add.1 = f32[] add(%x, %y)
}
ENTRY %main (a: f32[4,4], b: f32[2,2]) -> (f32[4,4], f32[4,4]) {
  %a = f32[4,4]{1,0} parameter(0)
  %b = f32[2,2]{1,0} parameter(1)
  %zero = f32[] constant(0)
  %zeros = f32[4,4]{1,0} broadcast(%zero), dimensions={}
  %exp.1 = f32[4,4]{1,0} exponential(%a)
  %select-and-scatter.1 = f32[4,4] select-and-scatter(%exp.1, %b, %zero), WINDOW, ADDED
  %sine.1 = f32[4,4]{1,0} sine(%select-and-scatter.1)
  ROOT %out = (f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(%sine.1, %zeros)
}
"""
_IN_A_LOOP = """
HloModule m
%first (l: f32[], i: s32[], r: f32[], j: s32[]) -> (f32[], s32[]) {
  %l = f32[] parameter(0)
  %i = s32[] parameter(1)
  %r = f32[] parameter(2)
  %j = s32[] parameter(3)
  %compare.3 = pred[] compare(%l, %r), direction=GE
  %select.3 = f32[] select(%compare.3, %l, %r)
  %select.4 = s32[] select(%compare.3, %i, %j)
  ROOT %tuple.3 = (f32[], s32[]) tuple(%select.3, %select.4)
}
%body (p: (s32[], f32[4,4], s32[2,2], f32[2,2])) -> (s32[], f32[4,4], s32[2,2], f32[2,2]) {
  ROOT %p = (s32[], f32[4,4], s32[2,2], f32[2,2]) parameter(0)
}
%going (q: (s32[], f32[4,4], s32[2,2], f32[2,2])) -> pred[] {
  %q = (s32[], f32[4,4], s32[2,2], f32[2,2]) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  %four = s32[] constant(4)
  ROOT %ends = pred[] compare(%k, %four), direction=LT
}
ENTRY %main (a: f32[4,4], b: f32[2,2]) -> (f32[4,4], f32[4,4]) {
  %a = f32[4,4]{1,0} parameter(0)
  %b = f32[2,2]{1,0} parameter(1)
  %zero = f32[] constant(0)
  %zeros = f32[4,4]{1,0} broadcast(%zero), dimensions={}
  %exp.1 = f32[4,4]{1,0} exponential(%a)
  %iota = s32[4,4]{1,0} iota(), iota_dimension=0
  %less = s32[] constant(-1)
  %reduce-window = (f32[2,2], s32[2,2]) reduce-window(%exp.1, %iota, %zero, %less), WINDOW, FIRST
  %places = s32[2,2]{1,0} get-tuple-element(%reduce-window), index=1
  %start = s32[] constant(0)
  %in.1 = (s32[], f32[4,4], s32[2,2], f32[2,2]) tuple(%start, %zeros, %places, %b)
  %while = (s32[], f32[4,4], s32[2,2], f32[2,2]) while(%in.1), condition=%going, body=%body
  %get.1 = f32[4,4]{1,0} get-tuple-element(%while), index=1
  %sine.1 = f32[4,4]{1,0} sine(%get.1)
  ROOT %out = (f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(%sine.1, %zeros)
}
"""


def _with_attributes(text: str) -> str:
    text = text.replace("WINDOW", "window={size=2x2 stride=2x2}")
    return text.replace("ADDED", "select=%ge, scatter=%sum").replace("FIRST", "to_apply=%first")


def test_an_element_of_a_new_loop_is_the_result_of_an_expansion(read: Read) -> None:
    """What the CPU compiler does to a select-and-scatter, into zeros that were there."""
    matching = match(*map(read, map(_with_attributes, (_SELECTED, _IN_A_LOOP))))
    known = matching.pairing_before(Place("main", "select-and-scatter.1"))
    assert known is not None
    assert known.relation is Relation.EXPANDED
    assert {place.instruction for place in known.after} >= {"reduce-window", "while"}


_JOINED_STATE = """
HloModule m
ENTRY %main (k: u32[], n: u32[]) -> (u32[4], u32[]) {
  %k = u32[] parameter(0)
  %n = u32[] parameter(1)
  %or.1 = u32[] or(%k, %n)
  %not.1 = u32[] not(%or.1)
  %in.1 = u32[1]{0} reshape(%or.1)
  %in.2 = u32[1]{0} reshape(%n)
  %state = u32[2]{0} concatenate(%in.1, %in.2), dimensions={0}
  %rng.1 = (u32[2]{0}, u32[4]{0}) rng-bit-generator(%state), algorithm=rng_philox
  %bits = u32[4]{0} get-tuple-element(%rng.1), index=1
  %two = u32[] constant(2)
  %twos = u32[4]{0} broadcast(%two), dimensions={}
  %shift.1 = u32[4]{0} shift-right-logical(%bits, %twos)
  ROOT %out = (u32[4]{0}, u32[]) tuple(%shift.1, %not.1)
}
"""
_ROUNDS = """
HloModule m
ENTRY %main (k: u32[], n: u32[]) -> (u32[4], u32[]) {
  %k = u32[] parameter(0)
  %n = u32[] parameter(1)
  %or.1 = u32[] or(%k, %n)
  %not.1 = u32[] not(%or.1)
  %many.1 = u32[4]{0} broadcast(%or.1), dimensions={}
  %many.2 = u32[4]{0} broadcast(%n), dimensions={}
  %times = u32[4]{0} multiply(%many.1, %many.2)
  %round = u32[4]{0} xor(%times, %many.2)
  %two = u32[] constant(2)
  %twos = u32[4]{0} broadcast(%two), dimensions={}
  %shift.1 = u32[4]{0} shift-right-logical(%round, %twos)
  ROOT %out = (u32[4]{0}, u32[]) tuple(%shift.1, %not.1)
}
"""


def test_an_expansion_reads_the_parts_of_a_joined_operand(read: Read) -> None:
    """What `rng_bit_generator_expander` does: the state is taken apart again."""
    matching = match(read(_JOINED_STATE), read(_ROUNDS))
    known = matching.pairing_before(Place("main", "rng.1"))
    assert known is not None
    assert known.relation is Relation.EXPANDED
    assert known.after[0] == Place("main", "round")
    other = _ROUNDS.replace("broadcast(%n)", "broadcast(%z)").replace(
        "  %many.1 =", "  %z = u32[] parameter(2)\n  %many.1 ="
    )
    matching = match(read(_JOINED_STATE), read(other))
    known = matching.pairing_before(Place("main", "rng.1"))
    assert known is None or known.relation is not Relation.EXPANDED


_IN_HALF = """
HloModule m

ENTRY %main (a: bf16[8,96]) -> bf16[8,32] {
  %a = bf16[8,96]{1,0} parameter(0)
  %part = bf16[8,32]{1,0} slice(%a), slice={[0:8], [0:32]}
  ROOT %out = bf16[8,32]{1,0} negate(%part)
}
"""
_IN_FULL = """
HloModule m

ENTRY %main (a: bf16[8,96]) -> bf16[8,32] {
  %a = bf16[8,96]{1,0} parameter(0)
  %wide = f32[8,96]{1,0} convert(%a)
  %taken = f32[8,32]{1,0} slice(%wide), slice={[0:8], [0:32]}
  %narrow = bf16[8,32]{1,0} convert(%taken)
  ROOT %out = bf16[8,32]{1,0} negate(%narrow)
}
"""


def test_what_is_computed_in_another_type_was_not_expanded(read: Read) -> None:
    matching = match(read(_IN_HALF), read(_IN_FULL))
    pairing = matching.pairing_before(_at("part"))
    assert pairing is not None
    assert pairing.relation is not Relation.EXPANDED
    assert matching.partner_after(_at("part")) == _at("taken")


_MEAN = """
HloModule m
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}
ENTRY %main (a: f32[8]) -> (f32[], f32[]) {
  %a = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  %eight = f32[] constant(8)
  %total = f32[] reduce(%a, %zero), dimensions={0}, to_apply=%sum
  %mean = f32[] divide(%total, %eight)
  ROOT %out = (f32[], f32[]) tuple(%mean, %eight)
}
"""


def test_a_sum_over_devices_is_no_part_of_a_division(read: Read) -> None:
    """The partitioner adds it; another pass multiplies by the reciprocal."""
    scaled = _MEAN.replace(
        "  %mean = f32[] divide(%total, %eight)\n",
        """  %all = f32[] all-reduce(%total), replica_groups={}, to_apply=%sum
  %share = f32[] constant(0.015625)
  %scaled = f32[] multiply(%all, %share)
""",
    ).replace("tuple(%mean", "tuple(%scaled")
    pairing = match(read(_MEAN), read(scaled)).pairing_before(_at("mean"))
    assert pairing is not None
    assert pairing.after == (_at("scaled"),)
    assert pairing.relation is Relation.REPLACED


def test_copies_to_another_memory_are_no_part_of_what_they_bring(read: Read) -> None:
    """A dot of vectors became a sum of products, which a copy brings to its user."""
    dot = "dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    before = f"""
HloModule m
%sum (x: f32[], y: f32[]) -> f32[] {{
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}}
ENTRY %main (a: f32[8,4], b: f32[4]) -> f32[8] {{
  %a = f32[8,4]{{1,0}} parameter(0)
  %b = f32[4]{{0}} parameter(1)
  %dot = f32[8]{{0}} {dot}
  ROOT %out = f32[8]{{0}} negate(%dot)
}}
"""
    parts = """  %wide = f32[8,4]{1,0} broadcast(%b), dimensions={1}
  %products = f32[8,4]{1,0} multiply(%a, %wide)
  %zero = f32[] constant(0)
  %total = f32[8]{0} reduce(%products, %zero), dimensions={1}, to_apply=%sum
  %start = (f32[8]{0:S(1)}, f32[8]{0}, u32[]) copy-start(%total)
  %done = f32[8]{0:S(1)} copy-done(%start)
"""
    after = before.replace(f"  %dot = f32[8]{{0}} {dot}\n", parts).replace("(%dot)", "(%done)")
    pairing = match(read(before), read(after)).pairing_before(_at("dot"))
    assert pairing is not None
    assert pairing.after[0] == _at("total")
    assert {place.instruction for place in pairing.after}.isdisjoint({"start", "done"})


_SCATTER = """
HloModule m
%put (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  ROOT %y = f32[] parameter(1)
}
ENTRY %main (a: f32[8], i: s32[4,1], u: f32[4]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %i = s32[4,1]{1,0} parameter(1)
  %u = f32[4]{0} parameter(2)
  %scatter = f32[8]{0} scatter(%a, %i, %u), to_apply=%put
  ROOT %out = f32[8]{0} negate(%scatter)
}
"""
_AS_LOOP = """
HloModule m
%body (p: (s32[], f32[8], s32[4,1], f32[4])) -> (s32[], f32[8], s32[4,1], f32[4]) {
  %p = (s32[], f32[8]{0}, s32[4,1]{1,0}, f32[4]{0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %o = f32[8]{0} get-tuple-element(%p), index=1
  %j = s32[4,1]{1,0} get-tuple-element(%p), index=2
  %v = f32[4]{0} get-tuple-element(%p), index=3
  %one = s32[] constant(1)
  %next = s32[] add(%n, %one)
  %part = f32[1]{0} dynamic-slice(%v, %n), dynamic_slice_sizes={1}
  %put = f32[8]{0} dynamic-update-slice(%o, %part, %n)
  ROOT %t = (s32[], f32[8]{0}, s32[4,1]{1,0}, f32[4]{0}) tuple(%next, %put, %j, %v)
}
%condition (q: (s32[], f32[8], s32[4,1], f32[4])) -> pred[] {
  %q = (s32[], f32[8]{0}, s32[4,1]{1,0}, f32[4]{0}) parameter(0)
  %m = s32[] get-tuple-element(%q), index=0
  %four = s32[] constant(4)
  ROOT %less = pred[] compare(%m, %four), direction=LT
}
ENTRY %main (a: f32[8], i: s32[4,1], u: f32[4]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %i = s32[4,1]{1,0} parameter(1)
  %u = f32[4]{0} parameter(2)
  %none = s32[] constant(0)
  %start = (s32[], f32[8]{0}, s32[4,1]{1,0}, f32[4]{0}) tuple(%none, %a, %i, %u)
  %while = (s32[], f32[8]{0}, s32[4,1]{1,0}, f32[4]{0}) while(%start), LOOP
  %result = f32[8]{0} get-tuple-element(%while), index=1
  ROOT %out = f32[8]{0} negate(%result)
}
""".replace("LOOP", "condition=%condition, body=%body")


def test_the_body_of_a_loop_that_an_instruction_became_is_part_of_the_expansion(
    read: Read,
) -> None:
    pairing = match(read(_SCATTER), read(_AS_LOOP)).pairing_before(_at("scatter"))
    assert pairing is not None
    assert pairing.relation is Relation.EXPANDED
    inside = {Place("body", "put"), Place("body", "part"), Place("condition", "less")}
    assert {_at("while"), *inside} <= {*pairing.after}


def test_a_fusion_holds_what_goes_on_between_its_converts(read: Read) -> None:
    fused = _IN_FULL.replace("ENTRY %main", "%fused").replace("ROOT %out", "%out", 1)
    lines = [line for line in fused.splitlines() if "%out" not in line]
    body = "\n".join(lines).replace("  %narrow", "  ROOT %narrow")
    entry = _IN_HALF[_IN_HALF.index("ENTRY") :].replace("%part =", "%fusion =")
    entry = entry.replace(
        "slice(%a), slice={[0:8], [0:32]}", "fusion(%a), kind=kLoop, calls=%fused"
    )
    made = step(read(_IN_HALF), read(body + "\n" + entry.replace("(%part)", "(%fusion)")))
    assert "created 1 fusion from 1 instruction" in made.headline


_REMAINDER = """
HloModule m

ENTRY %main (x: s32[64]) -> (s32[64], s32[64]) {
  %x = s32[64]{0} parameter(0)
  %size = s32[] constant(8192)
  %sizes = s32[64]{0} broadcast(%size), dimensions={}
  %rem = s32[64]{0} remainder(%x, %sizes)
  %sum = s32[64]{0} add(%rem, %sizes)
  %next = s32[64]{0} subtract(%sum, %x)
  ROOT %out = (s32[64]{0}, s32[64]{0}) tuple(%sum, %next)
}
"""


def test_an_array_operation_whose_repeated_constant_others_read_is_expanded(read: Read) -> None:
    """A remainder by a power of two, whose divisor stays."""
    after = _REMAINDER.replace(
        "  %rem = s32[64]{0} remainder(%x, %sizes)\n",
        """  %zero = s32[] constant(0)
  %zeros = s32[64]{0} broadcast(%zero), dimensions={}
  %below = pred[64]{0} compare(%x, %zeros), direction=LT
  %negate.1 = s32[64]{0} negate(%x)
  %size.1 = s32[64]{0} select(%below, %negate.1, %x)
  %mask = s32[] constant(8191)
  %masks = s32[64]{0} broadcast(%mask), dimensions={}
  %and = s32[64]{0} and(%size.1, %masks)
  %negate.2 = s32[64]{0} negate(%and)
  %select.2 = s32[64]{0} select(%below, %negate.2, %and)
""",
    ).replace("add(%rem,", "add(%select.2,")
    pairing = match(read(_REMAINDER), read(after)).pairing_before(_at("rem"))
    assert pairing is not None
    assert pairing.relation is Relation.EXPANDED
    assert pairing.after[0] == _at("select.2")
    assert len(pairing.after) == 10


_GATHERED = """
HloModule m

ENTRY %main (x: s32[1,1]) -> s32[8,1] {
  %x = s32[1,1]{1,0} parameter(0)
  %sign = s32[1,1]{1,0} sign(%x)
  %all-gather.6 = s32[4,1]{1,0} all-gather(%sign), channel_id=1, replica_groups={{0,1,2,3}}, \
dimensions={0}, use_global_device_ids=true, metadata={op_name="g"}
  ROOT %out = s32[8,1]{1,0} concatenate(%all-gather.6, %all-gather.6), dimensions={0}
}
"""


def test_a_reshape_behind_an_expansion_gives_its_result(read: Read) -> None:
    """`all_gather_decomposer` writes the share of a device into zeros, which it sums."""
    after = """
HloModule m

%add.7 (a.1: s32[], b.1: s32[]) -> s32[] {
  %a.1 = s32[] parameter(0)
  %b.1 = s32[] parameter(1)
  ROOT %s.1 = s32[] add(%a.1, %b.1)
}

ENTRY %main (x: s32[1,1]) -> s32[8,1] {
  %x = s32[1,1]{1,0} parameter(0)
  %sign = s32[1,1]{1,0} sign(%x)
  %zero = s32[] constant(0)
  %zeros = s32[4]{0} broadcast(%zero), dimensions={}
  %share = s32[1]{0} reshape(%sign)
  %id = u32[] partition-id()
  %own = s32[4]{0} dynamic-update-slice(%zeros, %share, %id)
  %all-reduce.5 = s32[4]{0} all-reduce(%own), channel_id=1, replica_groups={{0,1,2,3}}, \
use_global_device_ids=true, to_apply=%add.7, metadata={op_name="g"}
  %reshape.9 = s32[4,1]{1,0} reshape(%all-reduce.5), metadata={op_name="g"}
  ROOT %out = s32[8,1]{1,0} concatenate(%reshape.9, %reshape.9), dimensions={0}
}
"""
    pairing = match(read(_GATHERED), read(after)).pairing_before(_at("all-gather.6"))
    assert pairing is not None
    assert pairing.relation is Relation.EXPANDED
    assert pairing.after[0] == _at("reshape.9")
    assert _at("all-reduce.5") in pairing.after


def test_what_gives_the_result_of_work_between_converts_is_still_known(read: Read) -> None:
    """The result is computed in another type; the convert behind it is new, and counts."""
    before = """
HloModule m

ENTRY %main (p: bf16[8], q: bf16[8]) -> bf16[8] {
  %p = bf16[8]{0} parameter(0)
  %q = bf16[8]{0} parameter(1)
  ROOT %x = bf16[8]{0} divide(%p, %q)
}
"""
    after = before.replace(
        "  ROOT %x = bf16[8]{0} divide(%p, %q)\n",
        """  %c.1 = f32[8]{0} convert(%p)
  %c.2 = f32[8]{0} convert(%q)
  %wide = f32[8]{0} divide(%c.1, %c.2)
  ROOT %c.3 = bf16[8]{0} convert(%wide)
""",
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(_at("x")) == _at("wide")
    assert matching.pairing_after(_at("c.3")) is not None
    made = step(read(before), read(after))
    assert len(made.added) - len(made.removed) == made.after.instructions - made.before.instructions


def test_a_constant_whose_elements_are_computed_of_an_iota_was_expanded(read: Read) -> None:
    before = """
ENTRY %main (a: s32[3]) -> pred[3] {
  %a = s32[3]{0} parameter(0)
  %limits = s32[3]{0} constant({0, 2, 4})
  ROOT %out = pred[3]{0} compare(%limits, %a), direction=GE
}
"""
    after = """
ENTRY %main (a: s32[3]) -> pred[3] {
  %a = s32[3]{0} parameter(0)
  %iota.1 = s32[3]{0} iota(), iota_dimension=0
  %two = s32[] constant(2)
  %twos = s32[3]{0} broadcast(%two), dimensions={}
  %multiply.1 = s32[3]{0} multiply(%iota.1, %twos)
  ROOT %out = pred[3]{0} compare(%multiply.1, %a), direction=GE
}
"""
    headline = step(read(before), read(after), "`algsimp`").headline
    assert "`algsimp` expanded 1 constant into 4 instructions" in headline
    assert "`%multiply.1` gives its result" in headline


def test_a_difference_is_a_sum_with_another_constant_and_no_expansion(read: Read) -> None:
    lines = """
HloModule m

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %iota.1 = f32[4]{0} iota(), iota_dimension=0
  %constant.1 = f32[] constant(2)
  %fill.1 = f32[4]{0} broadcast(%constant.1), dimensions={}
  %work.1 = f32[4]{0} subtract(%iota.1, %fill.1)
  ROOT %out = f32[4]{0} multiply(%a, %work.1)
}
"""
    sums = lines.replace("subtract(", "add(").replace("constant(2)", "constant(-2)")
    sums = sums.replace("work.1", "work.2").replace("fill.1", "fill.2")
    pairing = match(read(lines), read(sums)).pairing_before(_at("work.1"))
    assert pairing is not None
    assert pairing.relation is not Relation.EXPANDED
