"""What new moves give in the place of what readers read before."""

from collections.abc import Callable

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.given_results import given_result
from xlareport.analysis.history.instruction import SnapshotSequence, ancestors, history
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.reasons import TakenOut
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_PLAIN = """
ENTRY %main (a: f32[8,4]) -> f32[8,4] {
  %a = f32[8,4]{1,0} parameter(0)
  %sine = f32[8,4]{1,0} sine(%a)
  ROOT %log = f32[8,4]{1,0} log(%sine)
}
"""
_FLAT = """
ENTRY %main (a: f32[8,4]) -> f32[8,4] {
  %a = f32[8,4]{1,0} parameter(0)
  %sine = f32[8,4]{1,0} sine(%a)
  %near = f32[32]{0} reshape(%sine)
  %log = f32[32]{0} log(%near)
  ROOT %back = f32[8,4]{1,0} reshape(%log)
}
"""
_PREFETCHED = """
ENTRY %main (a: f32[8,4]) -> f32[32] {
  %a = f32[8,4]{1,0} parameter(0)
  %sine = f32[8,4]{1,0} sine(%a)
  %flat = f32[32]{0} bitcast(%sine)
  ROOT %log = f32[32]{0} log(%flat)
}
"""
_PREFETCHED_AFTER = _PREFETCHED.replace(
    "  ROOT %log = f32[32]{0} log(%flat)",
    """\
  %copy-start = (f32[8,4]{1,0:S(1)}, f32[8,4]{1,0}, u32[]) copy-start(%sine)
  %copy-done = f32[8,4]{1,0:S(1)} copy-done(%copy-start)
  %flat.1 = f32[32]{0:S(1)} bitcast(%copy-done)
  ROOT %log = f32[32]{0} log(%flat.1)""",
)


def test_a_reshape_that_was_put_on_an_operand_names_it_and_begins_there(read: Read) -> None:
    modules = read(_PLAIN), read(_FLAT)
    near, sine = Place("main", "near"), Place("main", "sine")
    given = given_result(match(*modules), near)
    assert given is not None
    assert given.source == sine
    assert given.why == "%log reads it in place of %sine, whose value it has"
    shots = SnapshotSequence(modules)
    event, *later = history(shots, 1, near)
    assert (event.event, event.sources) == (Event.ADDED, (sine,))
    assert [known.event for known in later] == [Event.LAST]
    assert ancestors(shots, 1, [near]) == ()


def test_a_bitcast_of_a_prefetch_continues_the_bitcast_of_the_value(read: Read) -> None:
    matching = match(read(_PREFETCHED), read(_PREFETCHED_AFTER))
    flat = Place("main", "flat.1")
    given = given_result(matching, flat)
    source = matching.partner_before(flat) if given is None else given.source
    assert source == Place("main", "flat")


def test_a_bitcast_of_a_slice_of_a_joined_reduction_gives_the_result_of_one(
    read: Read,
) -> None:
    held = """
ENTRY %main (a: f32[8,4]) -> f32[8,4] {
  %a = f32[8,4]{1,0} parameter(0)
  %whole = f32[64]{0} constant({...})
  %slice = f32[32]{0} slice(%whole), slice={[0:32]}
  ROOT %bitcast = f32[8,4]{1,0} bitcast(%slice)
}
"""
    module = read(held)
    reason = TakenOut("main", "all-reduce.1", "whole")
    pairing = Pairing((), (Place("main", "slice"),), Grade.MATCHED, reason, Relation.ADDED)
    bitcast = Pairing((), (Place("main", "bitcast"),), Grade.MATCHED, "new", Relation.ADDED)
    given = given_result(Matching(module, module, {}, (pairing, bitcast)), bitcast.after[0])
    assert given is not None
    assert given.source == Place("main", "all-reduce.1")


_HALF = """
ENTRY %main (a: bf16[8]) -> bf16[8] {
  %a = bf16[8]{0} parameter(0)
  %half = bf16[] constant(0.5)
  %halves = bf16[8]{0} broadcast(%half), dimensions={}
  ROOT %product = bf16[8]{0} multiply(%a, %halves)
}
"""
_CONVERTED = """
ENTRY %main (a: bf16[8]) -> bf16[8] {
  %a = bf16[8]{0} parameter(0)
  %convert.1 = f32[8]{0} convert(%a)
  %half = bf16[] constant(0.5)
  %halves = bf16[8]{0} broadcast(%half), dimensions={}
  %convert.2 = f32[8]{0} convert(%halves)
  %product = f32[8]{0} multiply(%convert.1, %convert.2)
  ROOT %convert.3 = bf16[8]{0} convert(%product)
}
"""


def test_a_convert_of_a_constant_continues_it_and_that_of_a_value_does_not(read: Read) -> None:
    matching = match(read(_HALF), read(_CONVERTED))
    given = given_result(matching, Place("main", "convert.2"))
    assert given is not None
    assert given.source == Place("main", "halves")
    assert given_result(matching, Place("main", "convert.1")) is None


_STARTED = """
ENTRY %main (a: bf16[128]) -> bf16[1024] {
  %a = bf16[128]{0} parameter(0)
  %c = bf16[128]{0} negate(%a)
  %gs = (bf16[128]{0}, bf16[1024]{0}) all-gather-start(%c), replica_groups={}, dimensions={0}
  %gd = bf16[1024]{0} all-gather-done(%gs)
  ROOT %o = bf16[1024]{0} negate(%gd)
}
"""
_OFFLOADED = """
%called (p: bf16[128]) -> bf16[1024] {
  %p = bf16[128]{0} parameter(0)
  ROOT %g = bf16[1024]{0} all-gather(%p), replica_groups={}, dimensions={0}
}

%wrapped (q: bf16[128]) -> bf16[1024] {
  %q = bf16[128]{0} parameter(0)
  ROOT %g.cloned = bf16[1024]{0} call(%q), to_apply=%called
}

ENTRY %main (a: bf16[128]) -> bf16[1024] {
  %a = bf16[128]{0} parameter(0)
  %c = bf16[128]{0} negate(%a)
  %s = ((bf16[128]{0}), bf16[1024]{0}) async-start(%c), calls=%wrapped
  %d = bf16[1024]{0} async-done(%s)
  ROOT %o = bf16[1024]{0} negate(%d)
}
"""


def test_a_start_that_runs_what_another_started_continues_that(read: Read) -> None:
    """The offload to a SparseCore: the collective is called by a start of its own."""
    matching = match(read(_STARTED), read(_OFFLOADED))
    given = given_result(matching, Place("main", "s"))
    assert given is not None
    assert given.source == Place("main", "gs")
    assert given.why == "it runs %g, which was %gs"


def test_the_step_tells_of_the_start_and_not_that_it_is_synchronous(read: Read) -> None:
    change = step(read(_STARTED), read(_OFFLOADED))
    assert "replaced 1 all-gather-start with an async-start" in change.headline
    assert "`%gs` in `main` became the async-start `%s` and runs as `%g`" in change.headline
    told = " ".join((change.headline, *change.account))
    assert "synchronous" not in told
    assert "added 1 async-start" not in told.lower()
