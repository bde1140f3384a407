"""What no counterpart was found for, where whole pipelines ran between two snapshots."""

from collections.abc import Callable

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import ChangeCause, Place, Relation
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_MANY = 24


def _module(first: str, second: str, count: int = _MANY, gathered: str = "") -> str:
    """Return a chain of so many pairs of operations, each on what the one before made."""
    lines, last = [], "%a"
    for number in range(count):
        lines.append(f"  %{first}.{number} = f32[4]{{0}} {first}({last})")
        lines.append(f"  %{second}.{number} = f32[{number + 5}]{{0}} {second}(%{first}.{number})")
        last = f"%{second}.{number}"
    body = "\n".join(lines)
    return f"""
HloModule m

ENTRY %main (a: f32[4]) -> (f32[4], f32[{count + 4}]) {{
  %a = f32[4]{{0}} parameter(0)
{body}
{gathered}  ROOT %out = (f32[4]{{0}}, f32[{count + 4}]{{0}}) tuple(%a, {last})
}}
"""


_BEFORE = _module("sine", "exponential")
_AFTER = _module("tanh", "cosine", _MANY + 2)


def test_what_whole_pipelines_rewrote_is_not_said_to_be_removed(read: Read) -> None:
    matching = match(read(_BEFORE), read(_AFTER))
    gone = [known for known in matching.pairings if known.relation is Relation.REMOVED]
    new = [known for known in matching.pairings if known.relation is Relation.ADDED]
    assert len(gone) > 30
    assert len(new) > 30
    for pairing in (*gone, *new):
        assert pairing.cause is ChangeCause.UNTRACED
        assert pairing.grade is Grade.GUESSED


def test_the_account_says_that_it_is_not_known(read: Read) -> None:
    change = step(read(_BEFORE), read(_AFTER))
    told = " ".join((change.headline, *change.account))
    assert "removed or rewrote" in told
    assert "added or rewrote" in told
    assert "is not known" in told
    assert "was removed" not in told
    assert not {known.kind for known in change.changes} & {Kind.REMOVED, Kind.ADDED}
    assert sum(known.balance for known in change.changes) == 4


def test_the_history_ends_with_a_guess(read: Read) -> None:
    known = history(SnapshotSequence([read(_BEFORE), read(_AFTER)]), 0, Place("main", "sine.3"))
    assert known[-1].event is Event.UNTRACED
    assert known[-1].confidence is Grade.GUESSED
    assert "no counterpart was found" in known[-1].reason


def test_the_collectives_of_a_partitioner_are_new(read: Read) -> None:
    collective = "  %all-reduce.1 = f32[4]{0} all-reduce(%tanh.3), to_apply=%sum\n"
    after = _module("tanh", "cosine", _MANY + 2, collective).replace(
        "tuple(%a,", "tuple(%all-reduce.1,"
    )
    known = match(read(_BEFORE), read(after)).pairing_after(Place("main", "all-reduce.1"))
    assert known is not None
    assert known.cause is None


def _with_sum(module: str, name: str, operand: str) -> str:
    """Return a module whose first result is a sum over devices."""
    collective = f"  %{name} = f32[4]{{0}} all-reduce({operand}), to_apply=%sum\n  ROOT"
    return module.replace("  ROOT", collective).replace("tuple(%a,", f"tuple(%{name},")


def test_beside_a_collective_that_stayed_the_new_ones_are_a_partitioner_s(read: Read) -> None:
    before = _with_sum(_BEFORE, "psum", "%a")
    more = "  %further = f32[4]{0} all-reduce(%tanh.3), to_apply=%sum\n  ROOT"
    after = _with_sum(_AFTER, "psum", "%a").replace("  ROOT", more)
    after = after.replace("(f32[4], f32[30])", "(f32[4], f32[30], f32[4])")
    after = after.replace("(f32[4]{0}, f32[30]{0})", "(f32[4]{0}, f32[30]{0}, f32[4]{0})")
    after = after.replace("%cosine.25)", "%cosine.25, %further)")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "psum")) == Place("main", "psum")
    known = matching.pairing_after(Place("main", "further"))
    assert known is not None
    assert known.cause is None


def test_a_pass_that_adds_or_removes_much_is_told_so(read: Read) -> None:
    only = _module("sine", "exponential", 1)
    removed = match(read(_BEFORE), read(only))
    assert ChangeCause.UNTRACED not in {known.cause for known in removed.pairings}
    added = match(read(only), read(_BEFORE))
    assert ChangeCause.UNTRACED not in {known.cause for known in added.pairings}


def test_the_prefetches_of_a_compiler_are_new(read: Read) -> None:
    lines = """  %start = ((f32[8]), f32[4], s32[]) async-start(%w), calls=%part
  %done = f32[4]{0} async-done(%start)
  %joined = f32[4]{0} custom-call(%done), custom_call_target="ConcatBitcast"
"""
    part = """
%part (p: f32[8]) -> f32[4] {
  %p = f32[8]{0} parameter(0)
  ROOT %first = f32[4]{0} slice(%p), slice={[0:4]}
}

ENTRY"""
    after = _module("tanh", "cosine", _MANY + 2, lines).replace("tuple(%a,", "tuple(%joined,")
    after = after.replace("ENTRY", part).replace("(a: f32[4])", "(a: f32[4], w: f32[8])")
    after = after.replace(
        "parameter(0)\n  %tanh", "parameter(0)\n  %w = f32[8] parameter(1)\n  %tanh"
    )
    matching = match(read(_BEFORE), read(after))
    names = [("main", "start"), ("main", "done"), ("main", "joined"), ("part", "first")]
    for place in names:
        known = matching.pairing_after(Place(*place))
        assert known is not None
        assert (known.relation, known.cause) == (Relation.ADDED, None)


def test_a_fusion_of_only_what_a_compiler_adds_is_new(read: Read) -> None:
    for inner, cause in (("bitcast", None), ("negate", ChangeCause.UNTRACED)):
        fused = f"""
%fused (p: f32[4]) -> f32[4] {{
  %p = f32[4]{{0}} parameter(0)
  ROOT %inner = f32[4]{{0}} {inner}(%p)
}}

ENTRY"""
        line = "  %fusion.1 = f32[4]{0} fusion(%tanh.3), kind=kLoop, calls=%fused\n"
        after = _module("tanh", "cosine", _MANY + 2, line).replace("tuple(%a,", "tuple(%fusion.1,")
        matching = match(read(_BEFORE), read(after.replace("ENTRY", fused)))
        known = matching.pairing_after(Place("main", "fusion.1"))
        assert known is not None
        assert (known.relation, known.cause) == (Relation.ADDED, cause)


def _loop(work: str, number: int, carried: str, read: str) -> str:
    """Return a loop of which each iteration reads an element for its work."""
    return f"""
%cond (c: {carried}) -> pred[] {{
  %c = {carried} parameter(0)
  %step = s32[] get-tuple-element(%c), index=0
  %last = s32[] constant(9)
  ROOT %more = pred[] compare(%step, %last), direction=LT
}}

%body (b: {carried}) -> {carried} {{
  %b = {carried} parameter(0)
  %count = s32[] get-tuple-element(%b), index=0
  %read.{number} = {read} get-tuple-element(%b), index={number}
  %work = {read} {work}(%read.{number})
  ROOT %next = {carried} tuple(%count, %work, %work)
}}
"""


def _with_loop(text: str, work: str, number: int, read: str, given: str) -> str:
    carried = f"(s32[], {read}, {read})"
    run = (
        f"  %zero = s32[] constant(0)\n  %start = {carried} tuple(%zero, {given}, {given})\n"
        f"  %loop = {carried} while(%start), condition=%cond, body=%body\n"
        f"  %given = {read} get-tuple-element(%loop), index=1\n  ROOT"
    )
    text = text.replace("ENTRY", f"{_loop(work, number, carried, read)}\nENTRY")
    text = text.replace("  ROOT %out", f"{run} %out").replace(
        "(f32[4]{0}, f32[28]", f"({read}, f32[28]"
    )
    return text.replace("tuple(%a, %", "tuple(%given, %")


def test_an_element_that_a_lasting_loop_carries_is_not_said_to_be_removed(read: Read) -> None:
    before = _with_loop(_BEFORE, "sine", 1, "f32[4]{0}", "%a")
    after = _with_loop(_AFTER, "tanh", 2, "f32[5]{0}", "%cosine.0")
    known = match(read(before), read(after)).pairing_before(Place("body", "read.1"))
    assert known is not None
    assert known.relation is Relation.REMOVED
    assert known.cause is ChangeCause.UNTRACED
