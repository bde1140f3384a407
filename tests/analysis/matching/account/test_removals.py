"""What is said of instructions that are only before."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import ChangeCause, Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


def _fused(name: str, lines: str) -> str:
    return (
        f"%{name} (p.{name}: f32[8]) -> f32[8] {{\n  %p.{name} = f32[8]{{0}} parameter(0)\n"
        f"{lines}}}\n\n"
    )


def _module(first: str, second: str) -> str:
    return (
        _fused("one", first)
        + _fused("two", second)
        + "ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {\n  %a = f32[8]{0} parameter(0)\n"
        "  %f = f32[8]{0} fusion(%a), kind=kLoop, calls=%one\n"
        "  %g = f32[8]{0} fusion(%a), kind=kLoop, calls=%two\n"
        "  ROOT %r = (f32[8]{0}, f32[8]{0}) tuple(%f, %g)\n}\n"
    )


def _twice(name: str) -> str:
    return (
        f"  %c.{name} = f32[] constant(2)\n"
        f"  %b.{name} = f32[8]{{0}} broadcast(%c.{name}), dimensions={{}}\n"
        f"  %e.{name} = f32[8]{{0}} exponential(%p.{name})\n"
        f"  %m.{name} = f32[8]{{0}} multiply(%e.{name}, %b.{name})\n"
        f"  %b.{name}.2 = f32[8]{{0}} broadcast(%c.{name}), dimensions={{}}\n"
        f"  %e.{name}.2 = f32[8]{{0}} exponential(%p.{name})\n"
        f"  %m.{name}.2 = f32[8]{{0}} multiply(%e.{name}.2, %b.{name}.2)\n"
        f"  ROOT %s.{name} = f32[8]{{0}} subtract(%m.{name}, %m.{name}.2)\n"
    )


def _once(name: str) -> str:
    lines = _twice(name).splitlines(keepends=True)
    root = lines[-1].replace(f", %m.{name}.2", f", %m.{name}")
    return "".join((*lines[:4], root))


def test_duplicates_are_merged_with_those_of_their_own_fusion(read: Read) -> None:
    before = read(_module(_twice("one"), _twice("two")))
    after = read(_module(_once("one"), _once("two")))
    merged = [one for one in match(before, after).pairings if one.relation is Relation.MERGED]
    pairs = {
        (place, pairing.after[0])
        for pairing in merged
        for place in pairing.before
        if place.instruction.endswith(".2")
    }
    assert pairs == {
        (Place(name, f"{letter}.{name}.2"), Place(name, f"{letter}.{name}"))
        for name in ("one", "two")
        for letter in "bem"
    }


def _calling(lines: str, callee: str = "") -> str:
    return (
        "HloModule m\n\n"
        + callee
        + "ENTRY %main (a: f32[8]) -> f32[8] {\n  %a = f32[8]{0} parameter(0)\n"
        + lines
        + "}\n\n"
    )


_CALLEE = """%callee (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %sine = f32[8]{0} sine(%p)
}

"""
_OUTER = """%outer (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  ROOT %inner = f32[8]{0} call(%q), to_apply=%callee
}

"""
_ROOT = "  ROOT %out = f32[8]{0} negate(%a)\n"


def _cause(before: HloModule, after: HloModule, place: Place) -> ChangeCause | None:
    pairing = match(before, after).pairing_before(place)
    return None if pairing is None else pairing.cause


def test_what_only_uncalled_computations_call_is_uncalled(read: Read) -> None:
    before, after = read(_calling(_ROOT, _CALLEE + _OUTER)), read(_calling(_ROOT))
    assert _cause(before, after, Place("callee", "sine")) is ChangeCause.UNCALLED


def test_an_unused_parameter_of_an_inlined_computation_was_inlined_with_it(read: Read) -> None:
    callee = (
        "%called (p: f32[8], q: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n"
        "  %q = f32[8]{0} parameter(1)\n  ROOT %s = f32[8]{0} sine(%p)\n}\n\n"
    )
    call = "  ROOT %out = f32[8]{0} call(%a, %a), to_apply=%called\n"
    before = read(_calling(call, callee))
    after = read(_calling("  ROOT %s.1 = f32[8]{0} sine(%a)\n"))
    assert _cause(before, after, Place("called", "q")) is ChangeCause.ARGUMENT


def test_what_lost_its_users_is_unread_and_what_it_read_unused(read: Read) -> None:
    dead = "  %first = f32[8]{0} sine(%a)\n  %second = f32[8]{0} cosine(%first)\n"
    before, after = read(_calling(dead + _ROOT)), read(_calling(_ROOT))
    assert _cause(before, after, Place("main", "second")) is ChangeCause.UNREAD
    assert _cause(before, after, Place("main", "first")) is ChangeCause.UNUSED


def test_a_call_of_what_is_gone_was_inlined_though_nothing_of_it_is_found(read: Read) -> None:
    call = "  %c = f32[8]{0} call(%a), to_apply=%callee\n  ROOT %out = f32[8]{0} negate(%c)\n"
    other = "  %d = f32[8]{0} tanh(%a)\n  ROOT %out = f32[8]{0} negate(%d)\n"
    matching = match(read(_calling(call, _CALLEE)), read(_calling(other)))
    pairing = matching.pairing_before(Place("main", "c"))
    assert pairing is not None
    assert pairing.relation is Relation.INLINED


def test_duplicates_behind_one_tuple_and_of_swapped_operands_are_merged(read: Read) -> None:
    head = (
        "  %t = (f32[8]{0}, f32[8]{0}) tuple(%a, %a)\n  %one = f32[8]{0} sine(%t#1)\n"
        "  %two = f32[8]{0} multiply(%one, %a)\n"
    )
    again = "  %one.2 = f32[8]{0} sine(%t#1)\n  %two.2 = f32[8]{0} multiply(%a, %one)\n"
    before = _calling(head + again + "  ROOT %out = f32[8]{0} map(%one.2, %two, %two.2)\n")
    after = _calling(head + "  ROOT %out = f32[8]{0} map(%one, %two, %two)\n")
    matching = match(read(before), read(after))
    for name in ("one.2", "two.2"):
        pairing = matching.pairing_before(Place("main", name))
        assert pairing is not None
        assert pairing.relation is Relation.MERGED


def test_a_fusion_of_a_value_that_many_read_is_merged_with_its_like(read: Read) -> None:
    def module(reader: str) -> HloModule:
        many = "".join(f"  %m.{n} = f32[8]{{0}} {UNARY[n % 4]}(%a#1)\n" for n in range(20))
        names = ", ".join(f"%m.{n}" for n in range(20))
        shapes = ", ".join(["f32[8]{0}"] * 21)
        one = "  ROOT %s.{0} = f32[8]{{0}} sine(%p.{0})\n"
        return read(
            "HloModule m\n"
            + _fused("one", one.format("one"))
            + _fused("two", one.format("two"))
            + "ENTRY %main (a: (s32[], f32[8])) -> (f32[8]) {\n"
            "  %a = (s32[], f32[8]{0}) parameter(0)\n"
            "  %f = f32[8]{0} fusion(%a#1), kind=kLoop, calls=%one\n"
            + ("  %g = f32[8]{0} fusion(%a#1), kind=kLoop, calls=%two\n" if reader == "g" else "")
            + f"{many}  %n = f32[8]{{0}} dot(%f, %{reader}), lhs_contracting_dims={{0}}\n"
            f"  ROOT %r = ({shapes}) tuple({names}, %n)\n}}\n"
        )

    pairing = match(module("g"), module("f")).pairing_before(Place("main", "g"))
    assert pairing is not None
    assert pairing.relation is Relation.MERGED
    assert pairing.after == (Place("main", "f"),)


UNARY = ("tanh", "cosine", "exponential", "sqrt")

ASYNC = """
HloModule m
ENTRY %main (x: f32[8]) -> f32[16] {
  %x = f32[8]{0} parameter(0)
  %go = (f32[8]{0}, f32[16]{0}) all-gather-start(%x), dimensions={0}
  %end = f32[16]{0} all-gather-done(%go)
  ROOT %out = f32[16]{0} negate(%end)
}
"""


def test_a_done_is_part_of_what_begins_and_ends_at_once(read: Read) -> None:
    pair = ASYNC[ASYNC.index("  %go") : ASYNC.index("  ROOT")]
    at_once = "  %all = f32[16]{0} all-gather(%x), dimensions={0}\n"
    after = ASYNC.replace(pair, at_once).replace("negate(%end)", "negate(%all)")
    matching = match(read(ASYNC), read(after))
    for name in ("go", "end"):
        assert matching.partner_after(Place("main", name)) == Place("main", "all")


def test_a_computation_goes_with_the_call_that_is_gone(read: Read) -> None:
    before = read(
        "HloModule m\n"
        "%sum (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n"
        "  %b = f32[] parameter(1)\n  ROOT %s = f32[] add(%a, %b)\n}\n"
        "ENTRY %main (x: f32[8], y: f32[]) -> f32[] {\n  %x = f32[8]{0} parameter(0)\n"
        "  %y = f32[] parameter(1)\n  %zero = f32[] constant(0)\n"
        "  %r = f32[] reduce(%x, %zero), dimensions={0}, to_apply=%sum\n"
        "  ROOT %out = f32[] multiply(%r, %y)\n}\n"
    )
    after = read(
        "HloModule m\nENTRY %main (x: f32[8], y: f32[]) -> f32[] {\n"
        "  %x = f32[8]{0} parameter(0)\n  %y = f32[] parameter(1)\n"
        "  ROOT %out = f32[] multiply(%y, %y)\n}\n"
    )
    pairing = match(before, after).pairing_before(Place("sum", "s"))
    assert pairing is not None
    assert pairing.reason == "%r called its computation, and is gone"


def test_a_broadcast_is_merged_with_one_of_the_same_constant_of_another_shape(read: Read) -> None:
    text = """
HloModule m
ENTRY %main (x: f32[SIZE], y: f32[SIZE]) -> (f32[SIZE], f32[SIZE]) {
  %x = f32[SIZE]{0} parameter(0)
  %y = f32[SIZE]{0} parameter(1)
  %half = f32[] constant(0.5)
  %one = f32[SIZE]{0} broadcast(%half), dimensions={}
OTHER  %left = f32[SIZE]{0} multiply(%x, %one)
  %right = f32[SIZE]{0} divide(%y, %READ)
  ROOT %out = (f32[SIZE]{0}, f32[SIZE]{0}) tuple(%left, %right)
}
"""
    other = "  %two = f32[SIZE]{0} broadcast(%half), dimensions={}\n"
    before = text.replace("OTHER", other).replace("READ", "two").replace("SIZE", "8")
    after = text.replace("OTHER", "").replace("READ", "one").replace("SIZE", "4")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "one")) == Place("main", "one")
    assert matching.partner_after(Place("main", "two")) == Place("main", "one")


def _told_removed(read: Read, before: str, after: str, name: str) -> str:
    pairing = match(read(before), read(after)).pairing_before(Place("main", name))
    assert pairing is not None
    assert pairing.relation is Relation.REMOVED
    return pairing.reason


_CARRIED = """
ENTRY %main (a: f32[8]) -> (f32[8], f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %sine = f32[8]{0} sine(%a)
  %lost = f32[8]{0} tan(%a)
  %cosine = f32[8]{0} cosine(%a)
  ROOT %out = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%sine, %lost, %cosine)
}
"""


def test_the_next_element_of_a_shorter_tuple_is_not_used_instead(read: Read) -> None:
    shorter = _CARRIED.replace("(f32[8], f32[8], f32[8])", "(f32[8], f32[8])").replace(
        "(f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%sine, %lost, %cosine)",
        "(f32[8]{0}, f32[8]{0}) tuple(%sine, %cosine)",
    )
    shorter = shorter.replace("  %lost = f32[8]{0} tan(%a)\n", "")
    assert _told_removed(read, _CARRIED, shorter, "lost") == "%out no longer uses it"


_ELEMENT_READ = """
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %slice.8 = f32[8]{0} reverse(%a), dimensions={0}
  %held = (f32[8]{0}, f32[8]{0}) tuple(%slice.8, %b)
  %element = f32[8]{0} get-tuple-element(%held), index=0
  ROOT %sum = f32[8]{0} add(%element, %b)
}
"""


def test_what_reads_the_value_of_an_element_itself_is_named_with_it(read: Read) -> None:
    lines = _ELEMENT_READ.splitlines()
    after = "\n".join(line for line in lines if "%held" not in line).replace("%element", "%slice.8")
    assert _told_removed(read, _ELEMENT_READ, after, "element") == "%sum uses %slice.8 instead"


def test_a_user_whose_name_another_has_now_is_not_said_to_be_there(read: Read) -> None:
    before = _CARRIED.replace("%lost = f32[8]{0} tan(%a)", "%x = f32[8]{0} tan(%a)\n  LOST")
    before = before.replace("LOST", "%lost = f32[4,2]{1,0} reshape(%x)").replace(
        "f32[8], f32[8], f32[8]", "f32[8], f32[4,2], f32[8]"
    )
    before = before.replace(
        "f32[8]{0}, f32[8]{0}, f32[8]{0}", "f32[8]{0}, f32[4,2]{1,0}, f32[8]{0}"
    )
    after = _CARRIED.replace("tan(%a)", "reverse(%sine), dimensions={0}")
    reason = _told_removed(read, before, after, "x")
    assert str(reason) == (
        "its user %lost, whose name another has now, was removed, and %out uses %lost now"
    )


_TAKEN_TWICE = """
ENTRY %main (p: (f32[8], f32[8]), b: f32[8]) -> (f32[8], f32[8], f32[8]) {
  %p = (f32[8]{0}, f32[8]{0}) parameter(0)
  %b = f32[8]{0} parameter(1)
  %one = f32[8]{0} get-tuple-element(%p), index=1
  %two = f32[8]{0} get-tuple-element(%p), index=1
  %sine = f32[8]{0} sine(%one)
  ROOT %out = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%sine, %two, %b)
}
"""


def _without_two(other: str) -> str:
    lines = [line for line in _TAKEN_TWICE.splitlines() if "%two =" not in line]
    return "\n".join(lines).replace("%two", other)


def test_an_element_that_was_taken_twice_is_merged(read: Read) -> None:
    pairing = match(read(_TAKEN_TWICE), read(_without_two("%one"))).pairing_before(
        Place("main", "two")
    )
    assert pairing is not None
    assert pairing.relation is Relation.MERGED
    assert pairing.after == (Place("main", "one"),)


def test_an_element_of_a_tuple_that_was_read_through_takes_in_what_stood_there(
    read: Read,
) -> None:
    before = """
ENTRY %main (p: (f32[8], f32[8]), b: f32[8]) -> (f32[8], f32[8]) {
  %p = (f32[8]{0}, f32[8]{0}) parameter(0)
  %b = f32[8]{0} parameter(1)
  %get.1 = f32[8]{0} get-tuple-element(%p), index=1
  %held = (f32[8]{0}, f32[8]{0}) tuple(%b, %get.1)
  %get.2 = f32[8]{0} get-tuple-element(%held), index=1
  %sine = f32[8]{0} sine(%get.2)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%get.2, %sine)
}
"""
    gone = ("%get.1 =", "%held =")
    lines = [line for line in before.splitlines() if not any(name in line for name in gone)]
    after = "\n".join(lines).replace("get-tuple-element(%held)", "get-tuple-element(%p)")
    pairing = match(read(before), read(after)).pairing_before(Place("main", "get.1"))
    assert pairing is not None
    assert pairing.after == (Place("main", "get.2"),)
    other = match(read(before), read(after.replace("index=1", "index=0")))
    pairing = other.pairing_before(Place("main", "get.1"))
    assert pairing is not None
    assert not pairing.after


def test_an_element_that_nothing_takes_any_more_is_not_merged(read: Read) -> None:
    pairing = match(read(_TAKEN_TWICE), read(_without_two("%b"))).pairing_before(
        Place("main", "two")
    )
    assert pairing is not None
    assert pairing.relation is Relation.REMOVED


_CHAINED = """
HloModule m

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %exp.1 = f32[8]{0} exponential(%a)
  %bitcast.1 = f32[2,4]{1,0} bitcast(%exp.1)
  %bitcast.2 = f32[4,2]{1,0} bitcast(%bitcast.1)
  %bitcast.3 = f32[8]{0} bitcast(%bitcast.2)
  ROOT %out = f32[8]{0} negate(%bitcast.3)
}
"""
_SHORTENED = "\n".join(
    line for line in _CHAINED.replace("%bitcast.3)", "%exp.1)").split("\n") if "bitcast" not in line
)


def test_a_removed_chain_says_what_its_end_was_replaced_by(read: Read) -> None:
    matching = match(read(_CHAINED), read(_SHORTENED))
    pairing = matching.pairing_before(Place("main", "bitcast.1"))
    assert pairing is not None
    assert str(pairing.reason) == "its user %bitcast.2 was removed, and %out uses %exp.1 now"


def test_a_fusion_of_nothing_is_told_by_what_its_reader_reads_now(read: Read) -> None:
    before = (
        _fused("nothing", "").replace("  %p.nothing", "  ROOT %p.nothing")
        + "ENTRY %main (a: f32[8]) -> f32[8] {\n  %a = f32[8]{0} parameter(0)\n"
        "  %f = f32[8]{0} fusion(%a), kind=kLoop, calls=%nothing\n"
        "  ROOT %r = f32[8]{0} exponential(%f)\n}\n"
    )
    after = before[before.index("ENTRY") :].replace("(%f)", "(%a)")
    after = "\n".join(line for line in after.splitlines() if " %f =" not in line)
    pairing = match(read(before), read(after)).pairing_before(Place("main", "f"))
    assert pairing is not None
    assert pairing.reason == "%r uses %a instead"


_CARRIED_TWICE = """
%body (p: (s32[], s32[])) -> (s32[], s32[]) {
  %p = (s32[], s32[]) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %in = s32[] get-tuple-element(%p), index=1
  %through = s32[] get-tuple-element(%p), index=1
  %more = s32[] add(%n, %in)
  ROOT %t = (s32[], s32[]) tuple(%more, %through)
}

%condition (q: (s32[], s32[])) -> pred[] {
  %q = (s32[], s32[]) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: s32[], b: s32[]) -> s32[] {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  %start = (s32[], s32[]) tuple(%a, %b)
  %while.1 = (s32[], s32[]) while(%start), condition=%condition, body=%body
  ROOT %out = s32[] get-tuple-element(%while.1), index=0
}
"""


def test_an_element_that_was_taken_twice_is_merged_in_a_tuple_that_grew(read: Read) -> None:
    wide = _CARRIED_TWICE.replace("(s32[], s32[])", "(s32[], s32[], f32[])")
    wide = wide.replace("%through = s32[]", "%new = f32[]").replace(
        "index=1\n  %more", "index=2\n  %more"
    )
    wide = wide.replace("tuple(%more, %through)", "tuple(%more, %in, %new)")
    wide = wide.replace("tuple(%a, %b)", "tuple(%a, %b, %c)")
    wide = wide.replace("  %start", "  %c = f32[] convert(%b)\n  %start")
    pairing = match(read(_CARRIED_TWICE), read(wide)).pairing_before(Place("body", "through"))
    assert pairing is not None
    assert pairing.relation is Relation.MERGED
    assert Place("body", "in") in pairing.after


def test_a_comparator_goes_with_the_dead_sort_that_called_it(read: Read) -> None:
    lines = """
%later (a: f32[], b: f32[], i: s32[], j: s32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  %i = s32[] parameter(2)
  %j = s32[] parameter(3)
  %a.up = f32[] abs(%a)
  ROOT %is.later = pred[] compare(%a.up, %b), direction=GT
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %n = s32[8]{0} iota(), iota_dimension=0
  %sort.1 = (f32[8]{0}, s32[8]{0}) sort(%x, %n), dimensions={0}, to_apply=%later
  %at = s32[8]{0} get-tuple-element(%sort.1), index=1
  ROOT %out = f32[8]{0} negate(%x)
}
"""
    after = lines[lines.index("ENTRY") :]
    dead = "%n ", "%sort.1 ", "%at "
    kept = [line for line in after.splitlines() if not any(name in line for name in dead)]
    matching = match(read(lines), read("\n".join(kept)))
    for name in ("a", "a.up", "is.later"):
        said = matching.pairing_before(Place("later", name))
        assert said is not None
        assert said.cause is ChangeCause.UNCALLED


def test_a_parameter_without_an_operand_was_not_inlined(read: Read) -> None:
    """Its fusion is there as before, with one operand fewer."""
    fused = (
        "%fused (p: f32[8], q: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n"
        "  %q = f32[8]{0} parameter(1)\n  %e = f32[8]{0} exponential(%p)\n"
        "  ROOT %m = f32[8]{0} multiply(%e, %q)\n}\n\n"
    )
    entry = (
        "ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {\n  %a = f32[8]{0} parameter(0)\n"
        "  %b = f32[8]{0} parameter(1)\n"
        "  ROOT %f = f32[8]{0} fusion(%a, %b), kind=kLoop, calls=%fused\n}\n"
    )
    after = fused.replace(", q: f32[8])", ")").replace("  %q = f32[8]{0} parameter(1)\n", "")
    after = (after + entry).replace("multiply(%e, %q)", "multiply(%e, %p)")
    result = match(read(fused + entry), read(after.replace("fusion(%a, %b)", "fusion(%a)")))
    gone = [pairing for pairing in result.pairings if pairing.before == (Place("fused", "q"),)]
    assert [pairing.cause for pairing in gone] == [ChangeCause.OPERAND]


def test_a_reduction_of_dimensions_of_one_element_says_that_it_did_nothing(read: Read) -> None:
    head = (
        "HloModule m\n\n%sum (x: f32[], y: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n"
        "  %y = f32[] parameter(1)\n  ROOT %s = f32[] add(%x, %y)\n}\n\n"
        "ENTRY %main (a: f32[4,1,SIZE]) -> f32[2,4] {\n  %a = f32[4,1,SIZE]{2,1,0} parameter(0)\n"
        "  %zero = f32[] constant(0)\n"
    )
    before = head + (
        "  %total = f32[4]{0} reduce(%a, %zero), dimensions={1,2}, to_apply=%sum\n"
        "  ROOT %wide = f32[2,4]{1,0} broadcast(%total), dimensions={1}\n}\n"
    )
    after = head + "  ROOT %wide = f32[2,4]{1,0} broadcast(%zero), dimensions={}\n}\n"
    reasons = []
    for size in "13":
        texts = (text.replace("SIZE", size) for text in (before, after))
        pairing = match(*map(read, texts)).pairing_before(Place("main", "total"))
        assert pairing is not None
        reasons.append(pairing.reason)
    assert reasons[0] == "it only reduced dimensions of one element"
    assert "one element" not in reasons[1]


_LOOPS = """
%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]{0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %more = s32[] add(%n, %n)
  %y = f32[8]{0} sine(%x)
  ROOT %t = (s32[], f32[8]{0}) tuple(%more, %y)
}

%condition (q: (s32[], f32[8])) -> pred[] {
  %q = (s32[], f32[8]{0}) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: f32[8], i: s32[]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %i = s32[] parameter(1)
  %e = f32[8]{0} exponential(%a)
PUT
  %loop = (s32[], f32[8]{0}) while(%start), condition=%condition, body=%body
  ROOT %out = f32[8]{0} get-tuple-element(%loop), index=1
}
"""
_PUT_AGAIN = """  %held = (f32[8]{0}, s32[]) tuple(%e, %i)
  %e.1 = f32[8]{0} get-tuple-element(%held), index=0
  %i.1 = s32[] get-tuple-element(%held), index=1
  %start = (s32[], f32[8]{0}) tuple(%i.1, %e.1)"""


def test_an_element_that_a_tuple_took_says_what_the_tuple_takes_now(read: Read) -> None:
    before = read(_LOOPS.replace("PUT", _PUT_AGAIN))
    after = read(_LOOPS.replace("PUT", "  %start = (s32[], f32[8]{0}) tuple(%i, %e)"))
    matching = match(before, after)
    reasons = [matching.pairing_before(Place("main", name)) for name in ("e.1", "i.1")]
    assert [pairing and pairing.reason for pairing in reasons] == [
        "%start uses %e instead",
        "%start uses %i instead",
    ]


def test_an_iota_that_was_repeated_says_that_the_repeated_one_counts_itself(read: Read) -> None:
    before = """
ENTRY %main (a: s32[2,8]) -> pred[2,8] {
  %a = s32[2,8]{1,0} parameter(0)
  %iota.1 = s32[8]{0} iota(), iota_dimension=0
  %wide.1 = s32[2,8]{1,0} broadcast(%iota.1), dimensions={1}
  ROOT %less = pred[2,8]{1,0} compare(%a, %wide.1), direction=LT
}
"""
    after = before.replace("  %iota.1 = s32[8]{0} iota(), iota_dimension=0\n", "")
    after = after.replace("%wide.1 = s32[2,8]{1,0} broadcast(%iota.1), dimensions={1}", "IOTA")
    after = after.replace("IOTA", "%iota.2 = s32[2,8]{1,0} iota(), iota_dimension=1")
    after = after.replace("%wide.1", "%iota.2")
    pairing = match(read(before), read(after)).pairing_before(Place("main", "iota.1"))
    assert pairing is not None
    assert pairing.reason == "its user %wide.1 became %iota.2, which has no operands"


def test_of_what_a_value_led_to_a_user_that_reads_something_is_named_first(read: Read) -> None:
    """What became a constant is no user of an index that is some instructions before it."""
    before = """
ENTRY %main (a: s32[1,1], t: f32[4,8], i: s32[]) -> f32[1,1] {
  %a = s32[1,1]{1,0} parameter(0)
  %t = f32[4,8]{1,0} parameter(1)
  %i = s32[] parameter(2)
  %zero = s32[] constant(0)
  %none = s32[1]{0} constant({0})
  %wide = s32[1]{0} broadcast(%i), dimensions={}
  %index = s32[] reshape(%wide)
  %taken = s32[1,1]{1,0} dynamic-slice(%a, %index, %zero), dynamic_slice_sizes={1,1}
  %flat = s32[1]{0} reshape(%taken)
  %both = s32[2]{0} concatenate(%none, %flat), dimensions={0}
  %first = s32[1]{0} slice(%both), slice={[0:1]}
  %row = s32[] reshape(%first)
  %second = s32[1]{0} slice(%both), slice={[1:2]}
  %column = s32[] reshape(%second)
  ROOT %out = f32[1,1]{1,0} dynamic-slice(%t, %row, %column), dynamic_slice_sizes={1,1}
}
"""
    after = """
ENTRY %main (a: s32[1,1], t: f32[4,8], i: s32[]) -> f32[1,1] {
  %a = s32[1,1]{1,0} parameter(0)
  %t = f32[4,8]{1,0} parameter(1)
  %i = s32[] parameter(2)
  %constant.2 = s32[] constant(0)
  %column = s32[] reshape(%a)
  ROOT %out = f32[1,1]{1,0} dynamic-slice(%t, %constant.2, %column), dynamic_slice_sizes={1,1}
}
"""
    pairing = match(read(before), read(after)).pairing_before(Place("main", "wide"))
    assert pairing is not None
    assert str(pairing.reason) == "its user %index was removed, and %column uses %a now"


_PACKED = """
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %c = f32[8]{0} cosine(%b)
  %pack = (f32[8]{0}, f32[8]{0}) tuple(%a, %c)
  %first = f32[8]{0} get-tuple-element(%pack), index=0
  ROOT %out = f32[8]{0} negate(%first)
}
"""


def test_a_tuple_does_not_lead_from_an_element_to_who_takes_another(read: Read) -> None:
    text = "\n".join(
        line
        for line in _PACKED.replace("negate(%first)", "negate(%a)").splitlines()
        if not line.startswith(("  %c", "  %pack", "  %first"))
    )
    after = read(text)
    pairing = match(read(_PACKED), after).pairing_before(Place("main", "c"))
    assert pairing is not None
    assert "%out" not in str(pairing.reason)


def test_the_removed_root_of_a_fusion_says_what_is_the_root_now(read: Read) -> None:
    before = """
HloModule step
%fused (p: f32[8]) -> f32[4] {
  %p = f32[8]{0} parameter(0)
  %part = f32[4]{0} slice(%p), slice={[0:4]}
  ROOT %most = f32[4]{0} abs(%part)
}

ENTRY %main (a: f32[8]) -> f32[4] {
  %a = f32[8]{0} parameter(0)
  %f = f32[4]{0} fusion(%a), kind=kLoop, calls=%fused
  ROOT %sine = f32[4]{0} sine(%f)
}
"""
    after = before.replace("  ROOT %most = f32[4]{0} abs(%part)\n", "").replace(
        "  %part = ", "  ROOT %part = "
    )
    removed = match(read(before), read(after)).pairing_before(Place("fused", "most"))
    assert removed is not None
    assert str(removed.reason) == "%part is the root of its computation instead"


def _split_words(kept: int) -> str:
    """Return a fusion that reads one parameter many times; the last lines are duplicates."""
    names = [f"b.{number}" for number in range(kept)]
    lines = [f"  %{name} = u32[] bitcast(%p.one)\n" for name in names]
    lines += [f"  %n.{name} = u32[] negate(%{name})\n" for name in names]
    elements = ", ".join(f"%n.b.{min(number, kept - 1)}" for number in range(_MANY))
    shapes = ", ".join(["u32[]"] * _MANY)
    return (
        "%one (p.one: u32[1]) -> (" + shapes + ") {\n  %p.one = u32[1]{0} parameter(0)\n"
        f"{''.join(lines)}  ROOT %r.one = ({shapes}) tuple({elements})\n}}\n\n"
        f"ENTRY %main (a: u32[1]) -> ({shapes}) {{\n  %a = u32[1]{{0}} parameter(0)\n"
        f"  ROOT %f = ({shapes}) fusion(%a), kind=kLoop, calls=%one\n}}\n"
    )


_MANY = 20


def test_duplicates_that_read_a_much_read_parameter_of_a_fusion_are_merged(read: Read) -> None:
    result = match(read(_split_words(_MANY)), read(_split_words(1)))
    removed = {
        place.instruction: pairing.relation
        for pairing in result.pairings
        for place in pairing.before
        if place.instruction.startswith(("b.", "n.")) and not place.instruction.endswith(".0")
    }
    assert len(removed) == 2 * (_MANY - 1)
    assert set(removed.values()) == {Relation.MERGED}


def test_what_gave_its_name_to_what_it_read_says_so(read: Read) -> None:
    before = """
ENTRY %main (a: f32[4,2], b: f32[1,8]) -> f32[1,8] {
  %a = f32[4,2]{1,0} parameter(0)
  %b = f32[1,8]{1,0} parameter(1)
  %first = f32[1,8]{1,0} reshape(%a), metadata={op_name="f"}
  %again = f32[1,8]{1,0} reshape(%first), metadata={op_name="g"}
  ROOT %out = f32[1,8]{1,0} add(%again, %b)
}
"""
    lines = [line for line in before.splitlines() if "%again =" not in line]
    after = "\n".join(lines).replace("%first", "%again")
    reasons = {str(row.reason) for row in step(read(before), read(after)).removed}
    assert reasons == {"%out uses what was %first, which has its name now"}


def test_several_users_of_what_gave_its_name_away_use_what_has_it(read: Read) -> None:
    before = """
ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %sum = f32[8]{0} add(%a, %b), metadata={op_name="f"}
  %again = f32[8]{0} reshape(%sum), metadata={op_name="g"}
  %u = f32[8]{0} negate(%again)
  %v = f32[8]{0} tanh(%again)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%u, %v)
}
"""
    lines = [line for line in before.splitlines() if "%again =" not in line]
    after = "\n".join(lines).replace("%sum", "%again")
    reasons = [str(row.reason) for row in step(read(before), read(after)).removed]
    assert "its 2 users use what was %sum, which has its name now" in reasons
    assert not [reason for reason in reasons if "no longer" in reason]


def test_a_merged_duplicate_is_that_which_its_merged_reader_reads(read: Read) -> None:
    before = """
ENTRY %main (x: f32[8]) -> (f32[8], f32[8], f32[8]) {
  %x = f32[8]{0} parameter(0)
  %c.1 = f32[] constant(1)
  %c.2 = f32[] constant(1)
  %c.3 = f32[] constant(1)
  %f.1 = f32[8]{0} broadcast(%c.1), dimensions={}
  %f.2 = f32[8]{0} broadcast(%c.2), dimensions={}
  %f.3 = f32[8]{0} broadcast(%c.3), dimensions={}
  %sum = f32[8]{0} add(%x, %f.1)
  %product = f32[8]{0} multiply(%x, %f.2)
  %power = f32[8]{0} power(%x, %f.3)
  ROOT %out = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%sum, %product, %power)
}
"""
    gone = ("  %c.3", "  %f.3")
    lines = [line for line in before.splitlines() if not line.startswith(gone)]
    change = step(read(before), read("\n".join(lines).replace("(%x, %f.3)", "(%x, %f.2)")))
    merged = {row.before: row.after for row in change.removed}
    assert merged == {Place("main", f"{name}.3"): Place("main", f"{name}.2") for name in "cf"}
