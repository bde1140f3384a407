from collections.abc import Callable

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules.heavy.collectives import same_reducer
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

SUM = """
%add.1.clone (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}
"""
APART = f"""{SUM}
ENTRY %main (a: f32[64], b: f32[32]) -> (f32[64], f32[32]) {{
  %a = f32[64]{{0}} parameter(0)
  %b = f32[32]{{0}} parameter(1)
  %all-reduce.1 = f32[64]{{0}} all-reduce(%a), channel_id=1, to_apply=%add.1.clone
  %all-reduce.2 = f32[32]{{0}} all-reduce(%b), channel_id=2, to_apply=%add.1.clone
  %neg.1 = f32[64]{{0}} negate(%all-reduce.1)
  %neg.2 = f32[32]{{0}} negate(%all-reduce.2)
  ROOT %out = (f32[64]{{0}}, f32[32]{{0}}) tuple(%neg.1, %neg.2)
}}
"""
TOGETHER = f"""{SUM}
ENTRY %main (a: f32[64], b: f32[32]) -> (f32[64], f32[32]) {{
  %a = f32[64]{{0}} parameter(0)
  %b = f32[32]{{0}} parameter(1)
  %all-reduce.3 = (f32[64]{{0}}, f32[32]{{0}}) all-reduce(%a, %b), to_apply=%add.1.clone
  %get-tuple-element = f32[64]{{0}} get-tuple-element(%all-reduce.3), index=0
  %get-tuple-element.1 = f32[32]{{0}} get-tuple-element(%all-reduce.3), index=1
  %neg.1 = f32[64]{{0}} negate(%get-tuple-element)
  %neg.2 = f32[32]{{0}} negate(%get-tuple-element.1)
  ROOT %out = (f32[64]{{0}}, f32[32]{{0}}) tuple(%neg.1, %neg.2)
}}
"""
ASYNCHRONOUS = APART.replace(
    "%all-reduce.2 = f32[32]{0} all-reduce(%b), channel_id=2, to_apply=%add.1.clone",
    "%all-reduce-start = f32[32]{0} all-reduce-start(%b), channel_id=2, to_apply=%add.1.clone\n"
    "  %all-reduce-done = f32[32]{0} all-reduce-done(%all-reduce-start)",
).replace("negate(%all-reduce.2)", "negate(%all-reduce-done)")
WRAPPED = """
%async_computation (param_0: f32[32]) -> f32[16] {
  %param_0 = f32[32]{0} parameter(0)
  ROOT %slice.9 = f32[16]{0} slice(%param_0), slice={[0:16]}
}

ENTRY %main (b: f32[32]) -> f32[16] {
  %b = f32[32]{0} parameter(0)
  %slice-start = ((f32[32]{0}), f32[16]{0}, s32[]) async-start(%b), calls=%async_computation
  %slice-done = f32[16]{0} async-done(%slice-start)
  ROOT %neg = f32[16]{0} negate(%slice-done)
}
"""
AT_ONCE = """
ENTRY %main (b: f32[32]) -> f32[16] {
  %b = f32[32]{0} parameter(0)
  %slice.1 = f32[16]{0} slice(%b), slice={[0:16]}
  ROOT %neg = f32[16]{0} negate(%slice.1)
}
"""


def at(name: str) -> Place:
    return Place("main", name)


def test_collectives_with_one_operand_each_were_combined_into_the_one_with_all(read: Read) -> None:
    matching = match(read(APART), read(TOGETHER))
    said = matching.pairing_before(at("all-reduce.2"))
    assert said is not None
    assert (said.relation, said.grade) == (Relation.COMBINED, Grade.EXACT)
    assert said.before == (at("all-reduce.1"), at("all-reduce.2"))
    assert said.after == (at("all-reduce.3"),)
    assert matching.removed == ()
    assert {one.instruction for one in matching.added} == {
        "get-tuple-element",
        "get-tuple-element.1",
    }


def test_what_read_a_combined_collective_reads_the_same_value(read: Read) -> None:
    change = step(read(APART), read(TOGETHER))
    assert "combined 2 all-reduces into 1" in change.headline
    assert "other operands" not in " ".join((change.headline, *change.account))


def test_a_combined_collective_lacks_an_operand_and_is_not_told_of_what_it_lacks(
    read: Read,
) -> None:
    other = TOGETHER.replace("all-reduce(%a, %b)", "all-reduce(%a, %neg.0)").replace(
        "  %all-reduce.3", "  %neg.0 = f32[32]{0} sine(%b)\n  %all-reduce.3"
    )
    matching = match(read(APART), read(other))
    assert all(pairing.relation is not Relation.COMBINED for pairing in matching.pairings)


def test_the_history_of_a_combined_collective_goes_on(read: Read) -> None:
    events = history(SnapshotSequence([read(APART), read(TOGETHER)]), 0, at("all-reduce.2"))
    assert [one.event for one in events] == [Event.FIRST, Event.COMBINED, Event.LAST]
    assert events[1].targets == (at("all-reduce.3"),)


def test_a_collective_became_a_start_and_a_done(read: Read) -> None:
    matching = match(read(APART), read(ASYNCHRONOUS))
    said = matching.pairing_before(at("all-reduce.2"))
    assert said is not None
    assert said.relation is Relation.ASYNC
    assert said.after == (at("all-reduce-start"), at("all-reduce-done"))
    assert matching.added == matching.removed == ()
    assert matching.partner_before(at("all-reduce-done")) == at("all-reduce.2")


def test_the_opcode_of_a_wrapped_asynchronous_instruction_is_that_of_its_computation(
    read: Read,
) -> None:
    said = match(read(AT_ONCE), read(WRAPPED)).pairing_before(at("slice.1"))
    assert said is not None
    wrapped = Place("async_computation", "slice.9")
    assert said.relation is Relation.ASYNC
    assert said.after == (at("slice-start"), at("slice-done"), wrapped)


def test_an_asynchronous_slice_reads_what_was_evicted_before(read: Read) -> None:
    evicted = WRAPPED.replace("async-start(%b)", "async-start(%copy-done)").replace(
        "  %slice-start",
        "  %copy-start = (f32[32]{0}, f32[32]{0:S(1)}, u32[]) copy-start(%b)\n"
        "  %copy-done = f32[32]{0} copy-done(%copy-start)\n  %slice-start",
    )
    matching = match(read(AT_ONCE), read(evicted))
    said = matching.pairing_before(at("slice.1"))
    assert said is not None
    assert said.relation is Relation.ASYNC
    assert at("slice-start") == said.after[0]
    assert {at("copy-start"), at("copy-done")} <= set(matching.added)


def test_what_is_wrapped_in_a_call_as_well_became_all_of_these(read: Read) -> None:
    called = WRAPPED.replace(
        "%async_computation (param_0", "%called_computation (param_1", 1
    ).replace(
        "ENTRY",
        """%async_computation (param_0: f32[32]) -> f32[16] {
  %param_0 = f32[32]{0} parameter(0)
  ROOT %slice.9.cloned = f32[16]{0} call(%param_0), to_apply=%called_computation
}

ENTRY""",
    )
    matching = match(read(AT_ONCE), read(called))
    said = matching.pairing_before(at("slice.1"))
    assert said is not None
    assert said.relation is Relation.ASYNC
    assert said.after == (
        at("slice-start"),
        at("slice-done"),
        Place("async_computation", "slice.9.cloned"),
        Place("called_computation", "slice.9"),
    )
    assert not any(known.relation is Relation.OUTLINED for known in matching.pairings)


_ONE_AFTER_THE_OTHER = """
ENTRY %main (b: f32[32]) -> f32[16] {
  %b = f32[32]{0} parameter(0)
  %copy.1 = f32[32]{0} copy(%b)
  ROOT %slice.1 = f32[16]{0} slice(%copy.1), slice={[0:16]}
}
"""
_BEGUN_ONE_AFTER_THE_OTHER = """
%of_copy (p: f32[32]) -> f32[32] {
  %p = f32[32]{0} parameter(0)
  ROOT %copy.9 = f32[32]{0} copy(%p)
}

%of_slice (q: f32[32]) -> f32[16] {
  %q = f32[32]{0} parameter(0)
  ROOT %slice.9 = f32[16]{0} slice(%q), slice={[0:16]}
}

ENTRY %main (b: f32[32]) -> f32[16] {
  %b = f32[32]{0} parameter(0)
  %copy-start = ((f32[32]{0}), f32[32]{0}, s32[]) async-start(%b), calls=%of_copy
  %copy-done = f32[32]{0} async-done(%copy-start)
  %slice-start = ((f32[32]{0}), f32[16]{0}, s32[]) async-start(%copy-done), calls=%of_slice
  ROOT %slice-done = f32[16]{0} async-done(%slice-start)
}
"""


def test_what_read_one_that_is_asynchronous_now_may_be_asynchronous_too(read: Read) -> None:
    matching = match(read(_ONE_AFTER_THE_OTHER), read(_BEGUN_ONE_AFTER_THE_OTHER))
    for name in "copy", "slice":
        said = matching.pairing_before(at(f"{name}.1"))
        assert said is not None
        assert said.relation is Relation.ASYNC
        inner = Place(f"of_{name}", f"{name}.9")
        assert said.after == (at(f"{name}-start"), at(f"{name}-done"), inner)


def test_a_copy_before_which_another_is_begun_and_ended_goes_on_itself(read: Read) -> None:
    """Memory space assignment fetches what a copy of another layout reads."""
    text = """
HloModule m, is_scheduled=true
ENTRY %main (x: f32[8,4]) -> f32[8,4] {
  %x = f32[8,4]{0,1} parameter(0)
PAIR  %copy.1 = f32[8,4]{1,0} copy(SOURCE)
  ROOT %out = f32[8,4]{1,0} negate(%copy.1)
}
"""
    pair = (
        "  %start = (f32[8,4]{0,1:S(1)}, f32[8,4]{0,1}, u32[]{:S(2)}) copy-start(%x)\n"
        "  %done = f32[8,4]{0,1:S(1)} copy-done(%start)\n"
    )
    before = read(text.replace("PAIR", "").replace("SOURCE", "%x"))
    after = read(text.replace("PAIR", pair).replace("SOURCE", "%done"))
    matching = match(before, after)
    assert matching.partner_after(Place("main", "copy.1")) == Place("main", "copy.1")
    assert matching.partner_before(Place("main", "start")) is None


_GROUPS = (", replica_groups={{0,1},{2,3}}", ", replica_groups={{0,2},{1,3}}")
_SUMMED_TWICE = f"""{SUM}
ENTRY %main (a: f32[64]) -> f32[64] {{
  %a = f32[64]{{0}} parameter(0)
  %neg = f32[64]{{0}} negate(%a)
  %inner = f32[64]{{0}} all-reduce(%neg){_GROUPS[0]}, to_apply=%add.1.clone
  %outer = f32[64]{{0}} all-reduce(%inner){_GROUPS[1]}, to_apply=%add.1.clone
  ROOT %out = f32[64]{{0}} tanh(%outer)
}}
"""
_SUMMED_AT_ONCE = f"""{SUM}
ENTRY %main (a: f32[64]) -> f32[64] {{
  %a = f32[64]{{0}} parameter(0)
  %neg = f32[64]{{0}} negate(%a)
  %whole = f32[64]{{0}} all-reduce(%neg), replica_groups={{{{0,1,2,3}}}}, to_apply=%add.1.clone
  ROOT %out = f32[64]{{0}} tanh(%whole)
}}
"""


def test_an_all_reduce_of_an_all_reduce_is_folded_into_one(read: Read) -> None:
    pairing = match(read(_SUMMED_TWICE), read(_SUMMED_AT_ONCE)).pairing_after(
        Place("main", "whole")
    )
    assert pairing is not None
    assert pairing.relation is Relation.COMBINED
    assert {place.instruction for place in pairing.before} == {"inner", "outer"}
    assert pairing.grade is Grade.MATCHED


def test_an_all_reduce_whose_sum_others_read_is_not_folded(read: Read) -> None:
    kept = _SUMMED_TWICE.replace("tanh(%outer)", "add(%outer, %inner)")
    after = _SUMMED_AT_ONCE.replace("tanh(%whole)", "add(%whole, %neg)")
    pairing = match(read(kept), read(after)).pairing_after(Place("main", "whole"))
    assert pairing is not None
    assert pairing.relation is not Relation.COMBINED


SENT = """
ENTRY %main (a: f32[8], b: f32[4]) -> (f32[8], f32[8], f32[4]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %sent = f32[8] collective-permute(%a), channel_id=1, source_target_pairs={{1,3}}
  %sent.1 = f32[8] collective-permute(%a), channel_id=2, source_target_pairs={{2,1}}
  %sent.2 = f32[4] collective-permute(%b), channel_id=3, source_target_pairs={{2,1}}
  ROOT %out = (f32[8], f32[8], f32[4]) tuple(%sent, %sent.1, %sent.2)
}
"""
SENT_TOGETHER = """
ENTRY %main (a: f32[8], b: f32[4]) -> (f32[8], f32[8], f32[4]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %start = (f32[8], f32[8]) collective-permute-start(%a), channel_id=1, source_target_pairs={{1,3}}
  %done = f32[8] collective-permute-done(%start)
  %sent.3 = (f32[8], f32[4]) collective-permute(%a, %b), channel_id=2, source_target_pairs={{2,1}}
  %gte = f32[8] get-tuple-element(%sent.3), index=0
  %gte.1 = f32[4] get-tuple-element(%sent.3), index=1
  ROOT %out = (f32[8], f32[8], f32[4]) tuple(%done, %gte, %gte.1)
}
"""


def test_permutes_of_one_operand_are_told_apart_by_who_sends_to_whom(read: Read) -> None:
    matching = match(read(SENT), read(SENT_TOGETHER))
    for name, after in (("sent", "start"), ("sent.1", "sent.3"), ("sent.2", "sent.3")):
        pairing = matching.pairing_before(at(name))
        assert pairing is not None
        assert pairing.after[0] == at(after)


TWICE = """
ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %sent = f32[8] collective-permute(%a), channel_id=1, source_target_pairs={{2,1}}
  %sent.1 = f32[8] collective-permute(%a), channel_id=2, source_target_pairs={{2,1}}
  ROOT %out = (f32[8], f32[8]) tuple(%sent, %sent.1)
}
"""
TWICE_STARTED = """
ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %start = (f32[8], f32[8]) collective-permute-start(%a), channel_id=2, source_target_pairs={{2,1}}
  %done = f32[8] collective-permute-done(%start)
  %begun = (f32[8], f32[8]) collective-permute-start(%a), channel_id=1, source_target_pairs={{2,1}}
  %ended = f32[8] collective-permute-done(%begun)
  ROOT %out = (f32[8], f32[8]) tuple(%ended, %done)
}
"""


def test_of_two_equal_collectives_each_start_has_the_channel_of_its_own(read: Read) -> None:
    matching = match(read(TWICE), read(TWICE_STARTED))
    for name, after in (("sent", "begun"), ("sent.1", "start")):
        pairing = matching.pairing_before(at(name))
        assert pairing is not None
        assert pairing.after[0] == at(after)


_TWO_SUMS = """
%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

ENTRY %main (a: f32[8,8], i: s32[]) -> f32[4,4] {
  %a = f32[8,8]{1,0} parameter(0)
  %i = s32[] parameter(1)
  %zero = s32[] constant(0)
  %sum.1 = f32[8,8]{1,0} all-reduce(%a), replica_groups={{0,2},{1,3}}, to_apply=%add
  %share.1 = f32[4,8]{1,0} dynamic-slice(%sum.1, %i, %zero), dynamic_slice_sizes={4,8}
  %sum.2 = f32[4,8]{1,0} all-reduce(%share.1), replica_groups={{0,1},{2,3}}, to_apply=%add
  %share.2 = f32[4,4]{1,0} dynamic-slice(%sum.2, %zero, %i), dynamic_slice_sizes={4,4}
  ROOT %out = f32[4,4]{1,0} negate(%share.2)
}
"""


def test_each_of_two_sums_in_a_row_becomes_the_reduce_scatter_in_its_place(read: Read) -> None:
    scattered = """
  %part.1 = f32[4,8]{1,0} reduce-scatter(%a), replica_groups={{0,2},{1,3}}, dimensions={0}, to_apply=%add
  %part.2 = f32[4,4]{1,0} reduce-scatter(%part.1), replica_groups={{0,1},{2,3}}, dimensions={1}, to_apply=%add
"""  # noqa: E501 - lines as XLA writes them
    lines = _TWO_SUMS.replace("negate(%share.2)", "negate(%part.2)").splitlines(keepends=True)
    gone = ("  %sum.", "  %share.")
    after = "".join(line for line in lines if not line.startswith(gone))
    after = after.replace("  ROOT %out", scattered.strip("\n") + "\n  ROOT %out")
    matching = match(read(_TWO_SUMS), read(after))
    for number in (1, 2):
        old, new = Place("main", f"sum.{number}"), Place("main", f"part.{number}")
        assert matching.partner_after(old) == new
        assert matching.partner_after(Place("main", f"share.{number}")) is None


_SECOND_DIMENSION = """
%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

ENTRY %main (a: f32[6,8], i: s32[]) -> f32[6,4] {
  %a = f32[6,8]{1,0} parameter(0)
  %i = s32[] parameter(1)
  %zero = s32[] constant(0)
  %bitcast.1 = f32[6,8]{1,0} bitcast(%a)
  %sum.1 = f32[6,8]{1,0} all-reduce(%bitcast.1), replica_groups={{0,1}}, to_apply=%add
  %share.1 = f32[6,4]{1,0} dynamic-slice(%sum.1, %zero, %i), dynamic_slice_sizes={6,4}
  ROOT %out = f32[6,4]{1,0} negate(%share.1)
}
"""
_FIRST_DIMENSION = """  %copy.1 = f32[6,8]{0,1} copy(%bitcast.1)
  %turned.1 = f32[8,6]{1,0} bitcast(%copy.1)
  %part.1 = f32[4,6]{1,0} reduce-scatter(%turned.1), replica_groups={{0,1}}, dimensions={0}, to_apply=%add
  %back.1 = f32[6,4]{0,1} bitcast(%part.1)
  %copy.2 = f32[6,4]{1,0} copy(%back.1)
  ROOT %out = f32[6,4]{1,0} negate(%copy.2)
}
"""  # noqa: E501 - lines as XLA writes them


def test_an_all_reduce_becomes_a_reduce_scatter_of_its_transposed_operand(read: Read) -> None:
    """What `reduce-scatter-legalizer` does: a TPU scatters along the first dimension."""
    after = _SECOND_DIMENSION.partition("  %sum.1 =")[0] + _FIRST_DIMENSION
    pairing = match(read(_SECOND_DIMENSION), read(after)).pairing_before(at("sum.1"))
    assert pairing is not None
    assert (pairing.after, pairing.relation) == ((at("part.1"),), Relation.REPLACED)
    assert "the share that %share.1 took" in str(pairing.reason)


_OWN_SUMS = "".join(
    f"""%sum.{number} (x: f32[], y: f32[]) -> f32[] {{
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}}

"""
    for number in (1, 2)
)
_IN_A_LOOP = f"""HloModule m

{_OWN_SUMS}%cond (q: (s32[], f32[8], f32[8])) -> pred[] {{
  %q = (s32[], f32[8], f32[8]) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %four = s32[] constant(4)
  ROOT %less = pred[] compare(%j, %four), direction=LT
}}

%body (p: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {{
  %p = (s32[], f32[8], f32[8]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %a = f32[8] get-tuple-element(%p), index=1
  %b = f32[8] get-tuple-element(%p), index=2
  BODY
}}

ENTRY %main (c: f32[8], d: f32[8]) -> (f32[8], f32[8]) {{
  %c = f32[8] parameter(0)
  %d = f32[8] parameter(1)
  %zero = s32[] constant(0)
  %start = (s32[], f32[8], f32[8]) tuple(%zero, %c, %d)
  %loop = (s32[], f32[8], f32[8]) while(%start), condition=%cond, body=%body
  %e = f32[8] get-tuple-element(%loop), index=1
  %f = f32[8] get-tuple-element(%loop), index=2
  END
}}
"""
_STEP = """%u.N = bf16[8] sine(%m)
  SUM%w.N = f32[8] convert(%FROM.N)
  %x.N = f32[8] add(%STATE, %w.N)
  """
_SUM = "%r.N = bf16[8] all-reduce(%u.N), replica_groups={}, to_apply=%sum.N\n  "
_BODY = """%k = f32[8] add(%a, %b)
  %m = bf16[8] convert(%k)
  ONE  TWO  ROOT %t = (s32[], f32[8], f32[8]) tuple(%next, %x.1, %x.2)"""
_BEHIND = """%g.N = bf16[8] convert(%LOOPED)
  %r.7N = bf16[8] all-reduce(%g.N), replica_groups={}, to_apply=%sum.N
  %h.N = f32[8] convert(%r.7N)
  %o.N = f32[8] add(%GIVEN, %h.N)
  """


def _summed(*, within: bool) -> str:
    """Return a loop that adds up two sums over devices, or has them behind it."""
    steps = []
    for number, state in (("1", "a"), ("2", "b")):
        line = _STEP.replace("SUM", _SUM if within else "").replace("FROM", "r" if within else "u")
        steps.append(line.replace("N", number).replace("STATE", state))
    text = _IN_A_LOOP.replace("BODY", _BODY.replace("ONE", steps[0]).replace("TWO", steps[1]))
    if within:
        return text.replace("END", "ROOT %out = (f32[8], f32[8]) tuple(%e, %f)")
    behind = "".join(
        _BEHIND.replace("N", number).replace("LOOPED", looped)
        for number, looped in (("2", "f"), ("1", "e"))
    )
    behind = behind.replace("GIVE1", "c").replace("GIVE2", "d")
    return text.replace("END", f"{behind}ROOT %out = (f32[8], f32[8]) tuple(%o.1, %o.2)")


def test_reductions_that_left_a_loop_are_told_apart_by_what_they_alone_apply(read: Read) -> None:
    before, after = read(_summed(within=True)), read(_summed(within=False))
    matching = match(before, after)
    for number in ("1", "2"):
        place = matching.partner_after(Place("body", f"r.{number}"))
        assert place == Place("main", f"r.7{number}")
    assert "moved 2 all-reduces out of loops" in step(before, after).headline


def test_all_reduces_with_reducers_of_their_own_are_paired_in_their_order(read: Read) -> None:
    """The order of pairs decides between equal copies, so it is the same in each process."""
    names = [f"own.{number}" for number in range(8)]
    regions = "".join(
        f"%{name} (p: f32[], q: f32[]) -> f32[] {{\n"
        "  %p = f32[] parameter(0)\n  %q = f32[] parameter(1)\n"
        "  ROOT %add = f32[] add(%p, %q)\n}\n\n"
        for name in names
    )
    lines = "".join(
        f"  %reduce.{name} = f32[4]{{0}} all-reduce(%OPCODE), replica_groups={{}}, "
        f"to_apply=%{name}\n"
        for name in names
    )
    results = ", ".join(["f32[4]{0}"] * len(names))
    given = ", ".join(f"%reduce.{name}" for name in names)
    text = (
        f"HloModule step\n\n{regions}ENTRY %main (a: f32[4]) -> ({results}) {{\n"
        "  %a = f32[4]{0} parameter(0)\n  %OPCODE = f32[4]{0} OPCODE(%a)\n"
        f"{lines}  ROOT %out = ({results}) tuple({given})\n}}\n"
    )
    before, after = text.replace("OPCODE", "sine"), text.replace("OPCODE", "tanh")
    search = start(read(before), read(after.replace("%reduce.", "%all.")))
    same_reducer(search)
    assert [link.before.instruction.name for link in search.links] == [
        f"reduce.{name}" for name in names
    ]
