"""Changes that together are a clone, a merged duplicate, a leftover or a product in parts."""

from collections.abc import Callable

from tests.modules import parse_module

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.refinements import with_removed_duplicates
from xlareport.analysis.steps.step import StepChange, step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_TWO_TUPLES = """
%first (p: (f32[8])) -> f32[8] {
  %p = (f32[8]{0}) parameter(0)
  ROOT %e = f32[8]{0} get-tuple-element(%p), index=0
}
%second (q: (f32[8])) -> f32[8] {
  %q = (f32[8]{0}) parameter(0)
  %f = f32[8]{0} get-tuple-element(%q), index=0
  ROOT %n = f32[8]{0} negate(%f)
}
ENTRY %main (a: f32[8], i: s32[]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %i = s32[] parameter(1)
  %s = f32[8]{0} sine(%a)
  %both = (f32[8]{0}, f32[8]{0}) tuple(%s, %a)
  %t.1 = (f32[8]{0}) tuple(%both#1)
  %t.2 = (f32[8]{0}) tuple(%both#1)
  ROOT %c = f32[8]{0} conditional(%i, %t.1, %t.2), branch_computations={%first, %second}
}
"""


def test_a_tuple_whose_user_uses_an_equal_one_was_merged(read: Read) -> None:
    after = _TWO_TUPLES.replace("  %t.2 = (f32[8]{0}) tuple(%both#1)\n", "").replace("%t.2", "%t.1")
    change = step(read(_TWO_TUPLES), read(after))
    assert [(row.kind, str(row.before), str(row.after)) for row in change.removed] == [
        (Kind.MERGED, "main/%t.2", "main/%t.1")
    ]


def test_a_tuple_of_something_else_was_removed(read: Read) -> None:
    before = _TWO_TUPLES.replace(
        "%t.2 = (f32[8]{0}) tuple(%both#1)", "%t.2 = (f32[8]{0}) tuple(%both#0)"
    )
    after = before.replace("  %t.2 = (f32[8]{0}) tuple(%both#0)\n", "").replace("%t.2", "%t.1")
    assert [row.kind for row in step(read(before), read(after)).removed] == [Kind.REMOVED]


_ELEMENT = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %s = (f32[8]{0}, f32[8]{0}) custom-call(%a), custom_call_target="both"
  %e.2 = f32[8]{0} get-tuple-element(%s), index=1
  %t = (f32[8]{0}) tuple(%e.2)
  %e.1 = f32[8]{0} get-tuple-element(%t), index=0
  %n = f32[8]{0} negate(%e.1)
  ROOT %m = f32[8]{0} add(%n, %e.1)
}
"""


def test_an_element_is_merged_into_what_was_put_in_and_takes_its_name(read: Read) -> None:
    lines = _ELEMENT.replace("%e.2 = ", "%e.1 = ").splitlines(keepends=True)
    after = read("".join(lines[:5] + lines[7:]))
    change = step(read(_ELEMENT), after)
    assert {row.kind for row in change.removed if "%t" not in str(row.before)} == {Kind.MERGED}


_SUM = """
%{name} (p{name}: f32[], q{name}: f32[]) -> f32[] {{
  %p{name} = f32[] parameter(0)
  %q{name} = f32[] parameter(1)
  ROOT %r{name} = f32[] add(%p{name}, %q{name})
}}
"""
_NAMES = ("one", "two", "three")


def _module(*calls: str) -> str:
    """Return a module whose three reductions call the named computations."""
    sums = "".join(_SUM.format(name=name) for name in dict.fromkeys(calls))
    reduces = "".join(
        f"  %s{number} = f32[] reduce(%v{number}, %z), dimensions={{0}}, to_apply=%{name}\n"
        f"  %v{number} = f32[8]{{0}} parameter({number})\n"
        for number, name in enumerate(calls)
    )
    return (
        f"HloModule m\n{sums}\nENTRY %main (v0: f32[8], v1: f32[8], v2: f32[8]) -> "
        "(f32[], f32[], f32[]) {\n  %z = f32[] constant(0)\n"
        f"{reduces}  ROOT %t = (f32[], f32[], f32[]) tuple(%s0, %s1, %s2)\n}}\n"
    )


def _pairs(change: StepChange, kind: Kind) -> dict[tuple[str, str], set[str]]:
    """Return the reasons of changes of a kind, by the computations before and after."""
    result: dict[tuple[str, str], set[str]] = {}
    for each in change.changes:
        if each.kind is kind and each.before and each.after:
            places = each.before.computation, each.after.computation
            result.setdefault(places, set()).add(each.reason)
    return result


def test_merged_computations_are_counted_and_each_has_its_own_reason(read: Read) -> None:
    change = step(read(_module(*_NAMES)), read(_module("one", "one", "one")))
    assert "merged 2 duplicate computations of 6 instructions" in change.headline
    assert _pairs(change, Kind.UNIFIED) == {
        ("two", "one"): {"%two held the same as %one"},
        ("three", "one"): {"%three held the same as %one"},
    }


def test_cloned_computations_are_counted_and_each_has_its_own_reason(read: Read) -> None:
    change = step(read(_module("one", "one", "one")), read(_module(*_NAMES)))
    assert "cloned 1 computation of 3 instructions (2 clones)" in change.headline
    assert _pairs(change, Kind.COPIED) == {
        ("one", "two"): {"%two is a copy of %one"},
        ("one", "three"): {"%three is a copy of %one"},
    }


_CALLED = """
%body (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %t = f32[8]{0} tanh(%p)
  ROOT %n = f32[8]{0} negate(%t)
}

ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %shared = f32[8]{0} fusion(%a), kind=kLoop, calls=%body
  %s = f32[8]{0} sine(%shared)
  %c = f32[8]{0} cosine(%shared)
  ROOT %r = (f32[8]{0}, f32[8]{0}) tuple(%s, %c)
}
"""
_UNCALLED = """
%body (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %t = f32[8]{0} tanh(%p)
  ROOT %n = f32[8]{0} negate(%t)
}

%first (p.1: f32[8]) -> f32[8] {
  %p.1 = f32[8]{0} parameter(0)
  %t.1 = f32[8]{0} tanh(%p.1)
  %n.1 = f32[8]{0} negate(%t.1)
  ROOT %s.1 = f32[8]{0} sine(%n.1)
}

%second (p.2: f32[8]) -> f32[8] {
  %p.2 = f32[8]{0} parameter(0)
  %t.2 = f32[8]{0} tanh(%p.2)
  %n.2 = f32[8]{0} negate(%t.2)
  ROOT %c.2 = f32[8]{0} cosine(%n.2)
}

ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %f = f32[8]{0} fusion(%a), kind=kLoop, calls=%first
  %g = f32[8]{0} fusion(%a), kind=kLoop, calls=%second
  ROOT %r = (f32[8]{0}, f32[8]{0}) tuple(%f, %g)
}
"""


def test_what_is_left_without_callers_is_counted(read: Read) -> None:
    change = step(read(_CALLED), read(_UNCALLED))
    assert "1 computation of 3 instructions has no live callers after the step." in change.account
    assert not any(
        "no live callers" in line for line in step(read(_UNCALLED), read(_UNCALLED)).account
    )


def test_a_fusion_that_two_others_hold_was_merged_into_both(read: Read) -> None:
    change = step(read(_CALLED), read(_UNCALLED))
    account = " ".join((change.headline, *change.account))
    assert "`%shared` in `main` was merged into `%f` and `%g`" in account


def test_what_stays_as_it_was_is_no_change(read: Read) -> None:
    changes = step(read(_CALLED), read(_UNCALLED)).changes
    assert not [change for change in changes if change.kind is Kind.PART]


_ABANDONED = _UNCALLED.replace(
    "ENTRY",
    """%attempt (p.3: f32[8]) -> f32[8] {
  %p.3 = f32[8]{0} parameter(0)
  %t.3 = f32[8]{0} tanh(%p.3)
  ROOT %n.3 = f32[8]{0} negate(%t.3)
}

ENTRY""",
)


def test_what_a_dead_computation_gains_is_a_leftover_and_no_clone(read: Read) -> None:
    change = step(read(_CALLED), read(_ABANDONED))
    left = [c for c in change.added if c.after and c.after.computation == "attempt"]
    assert [c.kind for c in left] == [Kind.LEFTOVER] * 3
    sentence = "Added 3 instructions to a computation without live callers"
    assert any(line.startswith(sentence) for line in change.account)
    assert len(change.added) - len(change.removed) == 7 + 3


_EXTENDED = _UNCALLED.replace(
    "ROOT %n = f32[8]{0} negate(%t)", "%n = f32[8]{0} negate(%t)\n  ROOT %e = f32[8]{0} exp(%n)"
).replace(" exp(", " exponential(")


def test_a_fusion_whose_computation_was_abandoned_goes_on_in_others(read: Read) -> None:
    change = step(read(_CALLED), read(_EXTENDED))
    account = " ".join((change.headline, *change.account))
    assert "`%shared` in `main` was merged into `%f` and `%g`" in account
    assert "inlined" not in account


_PREPENDED = _UNCALLED.replace(
    "%t = f32[8]{0} tanh(%p)", "%e = f32[8]{0} exponential(%p)\n  %t = f32[8]{0} tanh(%e)"
)


def test_what_stays_in_a_computation_that_lost_its_callers_was_not_added(read: Read) -> None:
    change = step(read(_CALLED), read(_PREPENDED))
    here = [c for c in change.changes if c.after and c.after.computation == "body"]
    assert {c.after.instruction: c.kind for c in here if c.after} == {"e": Kind.LEFTOVER}
    account = " ".join((change.headline, *change.account))
    assert "Added 1 instruction to a computation without" in account
    assert "without live users" not in account  # its callers are gone, and it has all its users
    assert "1 computation of 4 instructions, 1 of them new, has no live callers" in account
    assert len(change.added) - len(change.removed) == change.after.instructions - (
        change.before.instructions
    )


_OF_CLONE = """
HloModule m
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

%sum.clone (x.1: f32[], y.1: f32[]) -> f32[] {
  %x.1 = f32[] parameter(0)
  %y.1 = f32[] parameter(1)
  ROOT %s.1 = f32[] add(%x.1, %y.1)
}

ENTRY %main (a: f32[8,8], z: f32[]) -> f32[8] {
  %a = f32[8,8]{1,0} parameter(0)
  %z = f32[] parameter(1)
  ROOT %r = f32[8]{0} reduce(%a, %z), dimensions={0}, to_apply=%sum.clone
}
"""


def test_a_computation_that_lost_its_caller_to_its_clone_was_cloned(read: Read) -> None:
    clone = _OF_CLONE[_OF_CLONE.index("%sum.clone") : _OF_CLONE.index("ENTRY")]
    before = _OF_CLONE.replace(clone, "").replace("=%sum.clone", "=%sum")
    change = step(read(before), read(_OF_CLONE))
    account = " ".join((change.headline, *change.account))
    assert "cloned 1 computation of 3 instructions; `%sum` was cloned to `%sum.clone`" in account
    assert "without live callers" not in account
    assert len(change.added) - len(change.removed) == 3


def test_an_element_that_takes_the_name_of_its_duplicate_says_so(read: Read) -> None:
    before = """
ENTRY %main (p: (f32[8], f32[8], f32[8])) -> (f32[8], f32[8]) {
  %p = (f32[8]{0}, f32[8]{0}, f32[8]{0}) parameter(0)
  %x = f32[8]{0} get-tuple-element(%p), index=1, metadata={op_name="w"}
  %y = f32[8]{0} get-tuple-element(%p), index=2, metadata={op_name="w"}
  %t = (f32[8]{0}, f32[8]{0}) tuple(%x, %y)
  %e = f32[8]{0} get-tuple-element(%t), index=0
  %f = f32[8]{0} get-tuple-element(%t), index=1
  %sine = f32[8]{0} sine(%e)
  %cosine = f32[8]{0} cosine(%f)
  ROOT %r = (f32[8]{0}, f32[8]{0}) tuple(%sine, %cosine)
}
"""
    lines = before.splitlines(keepends=True)
    after = "".join(line for line in lines if "(%t), index" not in line and "tuple(%x" not in line)
    after = after.replace("%x = ", "%e = ").replace("%y = ", "%f = ")
    reasons = {str(row.reason) for row in step(read(before), read(after)).removed}
    assert "a duplicate of %x, which has the name %e now" in reasons


def test_an_element_of_a_removed_tuple_is_no_duplicate_of_what_the_tuple_held(read: Read) -> None:
    before = """
ENTRY %main (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %sine = f32[8]{0} sine(%p)
  %cosine = f32[8]{0} cosine(%p)
  %t = (f32[8]{0}, f32[8]{0}) tuple(%sine, %cosine)
  %e = f32[8]{0} get-tuple-element(%t), index=1
  ROOT %r = f32[8]{0} negate(%e)
}
"""
    after = "".join(line for line in before.splitlines(keepends=True) if "%t" not in line)
    change = step(read(before), read(after.replace("negate(%e)", "negate(%cosine)")))
    assert "merged" not in change.headline
    assert "%r uses %cosine instead" in {str(row.reason) for row in change.removed}


def test_a_further_counterpart_of_another_opcode_is_a_replacement(read: Read) -> None:
    module = read("ENTRY %main {\n  ROOT %x = f32[] constant(1)\n}")
    kind, place = Kind.CLONED, Place("main", "x")
    row = Change(kind, place, place, Grade.EXACT, "", "", ("select", "constant"), (kind,))
    [changed] = with_removed_duplicates(Matching(module, module, {}, ()), [row])
    assert (changed.kind, changed.details) == (Kind.REPLACED, ("select → constant",))


_LOST = """
HloModule m
%used (u: f32[4]) -> f32[4] {
  %u = f32[4] parameter(0)
  ROOT %sine = f32[4] sine(%u)
}
ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4] parameter(0)
  ROOT %call = f32[4] call(%a), to_apply=%used
}
"""


def test_a_computation_that_lost_its_callers_counts_with_what_was_added_to_it(read: Read) -> None:
    before = read(_LOST)
    after = read(
        _LOST.replace("  ROOT %sine", "  %more = f32[4] cosine(%u)\n  ROOT %sine").replace(
            "call(%a), to_apply=%used", "negate(%a)"
        )
    )
    account = " ".join(step(before, after).account)
    words = "1 computation of 3 instructions, 1 of them new, has no live callers after the step"
    assert words in account


_CONDITION = """
%cond (c: (s32[], f32[8,8], f32[8,8])) -> pred[] {
  %c = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}) parameter(0)
  %count = s32[] get-tuple-element(%c), index=0
  %most = s32[] constant(9)
  ROOT %less = pred[] compare(%count, %most), direction=LT
}
"""
_SHIFT = """
%shift (s: f32[8,8]) -> f32[8,8] {
  %s = f32[8,8]{1,0} parameter(0)
  ROOT %flipped = f32[8,8]{1,0} reverse(%s), dimensions={1}
}
"""
_BODY = """
%body (p: (s32[], f32[8,8], f32[8,8])) -> (s32[], f32[8,8], f32[8,8]) {
  %p = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8,8]{1,0} get-tuple-element(%p), index=1
  %w = f32[8,8]{1,0} get-tuple-element(%p), index=2
  %turned = f32[8,8]{1,0} call(%w), to_apply=%shift
  %sine = f32[8,8]{1,0} sine(%turned)
  %dot = f32[8,8]{1,0} dot(%x, %sine), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  ROOT %out = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%next, %dot, %w)
}
"""
_LOOP = """
ENTRY %main (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  %zero = s32[] constant(0)
  %start = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%zero, %a, %b)
  %while = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}) while(%start), condition=%cond, body=%body
  ROOT %result = f32[8,8]{1,0} get-tuple-element(%while), index=1
}
"""
_WIDE_CONDITION = (
    _CONDITION.replace("%cond ", "%wide.cond ")
    .replace("f32[8,8])) ->", "f32[8,8], f32[8,8])) ->")
    .replace("%c = (s32[], f32[8,8]{1,0},", "%c = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0},")
)
_WIDE_BODY = """
%wide.body (q: (s32[], f32[8,8], f32[8,8], f32[8,8])) -> (s32[], f32[8,8], f32[8,8], f32[8,8]) {
  %q = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}, f32[8,8]{1,0}) parameter(0)
  %narrow.0 = s32[] get-tuple-element(%q), index=0
  %narrow.1 = f32[8,8]{1,0} get-tuple-element(%q), index=1
  %narrow.2 = f32[8,8]{1,0} get-tuple-element(%q), index=2
  %narrow = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%narrow.0, %narrow.1, %narrow.2)
  %i.1 = s32[] get-tuple-element(%narrow), index=0
  %x.1 = f32[8,8]{1,0} get-tuple-element(%narrow), index=1
  %w.1 = f32[8,8]{1,0} get-tuple-element(%narrow), index=2
  %wide = f32[8,8]{1,0} get-tuple-element(%q), index=3
  %dot.1 = f32[8,8]{1,0} dot(%x.1, %wide), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %one.1 = s32[] constant(1)
  %next.1 = s32[] add(%i.1, %one.1)
  %out.1 = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%next.1, %dot.1, %w.1)
  %out.0 = s32[] get-tuple-element(%out.1), index=0
  %out.2 = f32[8,8]{1,0} get-tuple-element(%out.1), index=1
  %out.3 = f32[8,8]{1,0} get-tuple-element(%out.1), index=2
  ROOT %all = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%out.0, %out.2, %out.3, \
%wide)
}
"""
_WIDE_LOOP = """
ENTRY %main (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  %zero = s32[] constant(0)
  %turned.1 = f32[8,8]{1,0} call(%b), to_apply=%shift
  %sine.1 = f32[8,8]{1,0} sine(%turned.1)
  %start.1 = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%zero, %a, %b, %sine.1)
  %while.1 = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}, f32[8,8]{1,0}) while(%start.1), \
condition=%wide.cond, body=%wide.body
  ROOT %result = f32[8,8]{1,0} get-tuple-element(%while.1), index=1
}
"""


def _widened(read: Read) -> StepChange:
    narrow = _SHIFT + _CONDITION + _BODY
    wide = narrow + _WIDE_CONDITION + _WIDE_BODY
    return step(read(narrow + _LOOP), read(wide + _WIDE_LOOP), "`while-loop-motion`")


def test_a_body_that_lost_its_loop_to_a_copy_was_cloned(read: Read) -> None:
    """What `while-loop-expensive-invariant-code-motion` leaves to dead code elimination."""
    change = _widened(read)
    kinds = {row.after.instruction: row.kind for row in change.changes if row.after}
    assert kinds["dot.1"] is kinds["out.1"] is Kind.COPIED
    assert kinds["sine.1"] is Kind.HOISTED
    assert not {"dot", "sine", "turned"} & kinds.keys()
    assert Kind.RENAMED not in kinds.values()
    assert change.after.instructions - change.before.instructions == len(change.added)


def test_what_a_body_calls_stays_where_a_copy_calls_it_too(read: Read) -> None:
    matching = _widened(read).matching
    assert matching is not None
    flipped = Place("shift", "flipped")
    assert matching.partner_after(flipped) == flipped
    assert matching.partner_after(Place("body", "dot")) == Place("wide.body", "dot.1")


DEAD_REVERSE = """HloModule m

ENTRY e {
  a = f32[8] parameter(0)
  r = f32[8] reverse(a), dimensions={0}
  ROOT n = f32[8] negate(a)
}"""


def test_a_copy_of_a_dead_instruction_beside_it_is_an_addition_without_users() -> None:
    again = DEAD_REVERSE.replace("  ROOT", "  r.2 = f32[8] reverse(a), dimensions={0}\n  ROOT")
    change = step(parse_module(DEAD_REVERSE), parse_module(again))
    (row,) = change.changes
    assert (row.kind, row.before, row.balance) == (Kind.UNUSED, None, 1)
    assert "added 1 reverse without live users" in change.headline
    once = DEAD_REVERSE.replace("negate(a)", "add(r, r)")
    twice = again.replace("negate(a)", "add(r, r.2)")
    (clone,) = step(parse_module(once), parse_module(twice)).added
    assert clone.kind is Kind.CLONED


_TWO_ZEROS = """
ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %zero.1 = f32[8]{0} constant({1,2,3,4,5,6,7,8})
  %add.1 = f32[8]{0} add(%a, %zero.1)
  %zero.2 = f32[8]{0} constant({1,2,3,4,5,6,7,8})
  %add.2 = f32[8]{0} add(%a, %zero.2)
  %n = f32[8]{0} negate(%add.1)
  ROOT %t = (f32[8]{0}, f32[8]{0}) tuple(%n, %add.2)
}
"""


def test_of_equal_constants_the_one_whose_line_is_left_has_stayed(read: Read) -> None:
    """XLA gives the constant that it keeps the name of the one that it removes."""
    lines = [line for line in _TWO_ZEROS.splitlines(keepends=True) if "%zero.2 =" not in line]
    after = "".join(line for line in lines if "%add.1 =" not in line)
    after = after.replace("%add.1", "%add.2").replace("(%a, %zero.2)", "(%a, %zero.1)")
    change = step(read(_TWO_ZEROS), read(after))
    merged = {str(row.before): str(row.after) for row in change.changes if row.kind is Kind.MERGED}
    assert merged == {"main/%zero.2": "main/%zero.1", "main/%add.1": "main/%add.2"}
    assert not [row for row in change.changes if row.kind is Kind.RENAMED]


_SCALE = """%scale.N (p.N: f32[8]) -> f32[8] {
  %p.N = f32[8]{0} parameter(0)
  %two.N = f32[] constant(2)
  %twos.N = f32[8]{0} broadcast(%two.N), dimensions={}, metadata={op_name="twos"}
  %m.N = f32[8]{0} multiply(%p.N, %twos.N)
  ROOT %s.N = f32[8]{0} sine(%m.N)
}

"""
_PREPENDED_SCALE = _SCALE.replace("multiply(%p.N", "multiply(%e.N").replace(
    "  %two.N", "  %e.N = f32[8]{0} cosine(%p.N)\n  %two.N"
)
_EXTENDED_SCALE = _SCALE.replace("  ROOT %s.N", "  %s.N").replace(
    "}\n\n", "  ROOT %n.N = f32[8]{0} negate(%s.N)\n}\n\n"
)
_TWO_SCALES = """ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %f.1 = f32[8]{0} fusion(%a), kind=kLoop, calls=%scale.1
  %f.2 = f32[8]{0} fusion(%b), kind=kLoop, calls=%scale.2
  %n.3 = f32[8]{0} negate(%f.1)
  %n.4 = f32[8]{0} negate(%f.2)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%n.3, %n.4)
}
"""


def test_what_stays_in_a_computation_without_callers_is_no_clone_of_its_equal(read: Read) -> None:
    computations = _SCALE.replace(".N", ".1") + _SCALE.replace(".N", ".2")
    left = "".join(_PREPENDED_SCALE.replace(".N", number) for number in (".1", ".2"))
    new = "".join(_EXTENDED_SCALE.replace(".N", number) for number in (".3", ".4"))
    lines = [line for line in _TWO_SCALES.splitlines(keepends=True) if " negate" not in line]
    called = "".join(lines).replace("f.1", "n.3").replace("f.2", "n.4")
    called = called.replace("scale.1", "scale.3").replace("scale.2", "scale.4")
    change = step(read(computations + _TWO_SCALES), read(left + new + called))
    added = [row.after for row in change.changes if row.kind is Kind.LEFTOVER]
    assert added == [Place("scale.1", "e.1"), Place("scale.2", "e.2")]
    assert len(change.added) - len(change.removed) == change.after.instructions - (
        change.before.instructions
    )


_OF_ARITHMETIC = """
ENTRY %main (a: f32[64]) -> (f32[64], f32[64]) {
  %a = f32[64]{0} parameter(0)
  %i = f32[64]{0} iota(), iota_dimension=0
  %s = f32[64]{0} sine(%i)
  %x = f32[64]{0} add(%a, %s)
  ROOT %t = (f32[64], f32[64]) tuple(%x, %s)
}
"""
_FUSED_ANEW = """
%fused () -> f32[64] {
  %i.1 = f32[64]{0} iota(), iota_dimension=0
  ROOT %s.1 = f32[64]{0} sine(%i.1)
}
"""


def test_a_fusion_of_further_copies_is_no_clone_of_the_computation_they_come_from(
    read: Read,
) -> None:
    fusion = "%f = f32[64]{0} fusion(), kind=kLoop, calls=%fused\n  ROOT"
    after = _OF_ARITHMETIC.replace("ROOT", fusion).replace("tuple(%x, %s)", "tuple(%x, %f)")
    change = step(read(_OF_ARITHMETIC), read(_FUSED_ANEW + after))
    account = " ".join((change.headline, *change.account))
    assert "was cloned to `%fused`" not in account
    assert "cloned 1 sine and 1 iota" in account
