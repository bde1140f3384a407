from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules import identity
from xlareport.analysis.matching.rules.loops import hoisting
from xlareport.analysis.matching.rules.loops.hoisting import loops_given
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search_start import start
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

LOOP = """
%body.N (p.N: (s32[], s32[])) -> (s32[], s32[]) {
  %p.N = (s32[], s32[]) parameter(0)
  %n.N = s32[] get-tuple-element(%p.N), index=0
  %m.N = s32[] get-tuple-element(%p.N), index=1
  %one.N = s32[] constant(1)
  %less.N = s32[] negate(%one.N)
  %more.N = s32[] add(%n.N, %less.N)
  ROOT %out.N = (s32[], s32[]) tuple(%more.N, %m.N)
}

%condition.N (q.N: (s32[], s32[])) -> pred[] {
  %q.N = (s32[], s32[]) parameter(0)
  %k.N = s32[] get-tuple-element(%q.N), index=0
  ROOT %ends.N = pred[] compare(%k.N, %k.N), direction=LT
}
"""
ENTRY = """
ENTRY %main (a: s32[], b: s32[]) -> (s32[], s32[]) {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  %in.1 = (s32[], s32[]) tuple(%a, %b)
  %while.1 = (s32[], s32[]) while(%in.1), condition=%condition.1, body=%body.1
  %in.2 = (s32[], s32[]) tuple(%b, %a)
  %while.2 = (s32[], s32[]) while(%in.2), condition=%condition.2, body=%body.2
  %x = s32[] get-tuple-element(%while.1), index=0
  %y = s32[] get-tuple-element(%while.2), index=0
  ROOT %result = (s32[], s32[]) tuple(%x, %y)
}
"""
BEFORE = LOOP.replace(".N", ".1") + LOOP.replace(".N", ".2") + ENTRY


def hoisted(text: str) -> str:
    """Return the same with what is made of constants beside the loops."""
    lines = [line for line in text.splitlines() if "%one." not in line.partition("=")[0]]
    lines = [line for line in lines if "%less." not in line.partition("=")[0]]
    text = "\n".join(lines).replace("(s32[], s32[])", "(s32[], s32[], s32[])")
    for n in "12":
        text = text.replace(
            f"  %m.{n} =",
            f"  %given.{n} = s32[] get-tuple-element(%p.{n}), index=2\n  %m.{n} =",
        )
        text = text.replace(f"add(%n.{n}, %less.{n})", f"add(%n.{n}, %given.{n})")
        text = text.replace(f"tuple(%more.{n}, %m.{n})", f"tuple(%more.{n}, %m.{n}, %given.{n})")
        made = f"  %c.{n}7 = s32[] constant(1)\n  %d.{n}7 = s32[] negate(%c.{n}7)\n"
        text = text.replace(f"  %in.{n} =", f"{made}  %in.{n} =")
    text = text.replace("tuple(%a, %b)", "tuple(%a, %b, %d.17)").replace(
        "tuple(%b, %a)", "tuple(%b, %a, %d.27)"
    )
    return text.replace("-> (s32[], s32[], s32[]) {\n  %a", "-> (s32[], s32[]) {\n  %a").replace(
        "%result = (s32[], s32[], s32[])", "%result = (s32[], s32[])"
    )


def test_equal_constants_move_out_of_their_loops(read: Read) -> None:
    matching = match(read(BEFORE), read(hoisted(BEFORE)))
    for n in "12":
        for old, new in (("one", "c"), ("less", "d")):
            partner = matching.partner_after(Place(f"body.{n}", f"{old}.{n}"))
            assert partner is not None
            assert partner.computation == "main"
            assert partner.instruction.startswith(f"{new}.")
    assert not any(place.instruction.startswith(("c.", "d.")) for place in matching.added)


def test_a_constant_that_no_loop_is_given_was_in_none(read: Read) -> None:
    other = hoisted(BEFORE).replace("%d.17", "%a").replace("%d.27", "%b")
    other = other.replace("  %a = s32[] negate(%c.17)\n", "").replace(
        "  %b = s32[] negate(%c.27)\n", ""
    )
    matching = match(read(BEFORE), read(other))
    for n in "12":
        partner = matching.partner_after(Place(f"body.{n}", f"one.{n}"))
        assert partner is None


WORK = """
%body (p: (s32[], bf16[8])) -> (s32[], bf16[8]) {
  %p = (s32[], bf16[8]) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %w = bf16[8] get-tuple-element(%p), index=1
  %wide = f32[8] convert(%w)
  %again = f32[8] convert(%w)
  %read = s32[] custom-call(%n, %wide), custom_call_target="first"
  %next = s32[] custom-call(%read, %again), custom_call_target="second"
  ROOT %out = (s32[], bf16[8]) tuple(%next, %w)
}

%condition (q: (s32[], bf16[8])) -> pred[] {
  %q = (s32[], bf16[8]) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: s32[], b: bf16[8]) -> s32[] {
  %a = s32[] parameter(0)
  %b = bf16[8] parameter(1)
  %in = (s32[], bf16[8]) tuple(%a, %b)
  %while = (s32[], bf16[8]) while(%in), condition=%condition, body=%body
  ROOT %x = s32[] get-tuple-element(%while), index=0
}
"""


def test_equal_work_on_what_a_loop_never_changes_moves_out_of_it(read: Read) -> None:
    four = WORK.replace("(s32[], bf16[8])", "(s32[], bf16[8], f32[8], f32[8])")
    four = four.replace("%w = bf16[8] get", "%w = bf16[8] get", 1)
    for name, number, given in (("wide", 2, "c.1"), ("again", 3, "c.2")):
        four = four.replace(
            f"%{name} = f32[8] convert(%w)",
            f"%{name}.in = f32[8] get-tuple-element(%p), index={number}",
        ).replace(f"%{name})", f"%{name}.in)")
        four = four.replace("  %in =", f"  %{given} = f32[8] convert(%b)\n  %in =")
    four = four.replace("tuple(%next, %w)", "tuple(%next, %w, %wide.in, %again.in)")
    four = four.replace("tuple(%a, %b)", "tuple(%a, %b, %c.1, %c.2)")
    matching = match(read(WORK), read(four))
    for name, given in (("wide", "c.1"), ("again", "c.2")):
        assert matching.partner_after(Place("body", name)) == Place("main", given)


def test_equal_constants_of_one_loop_go_where_their_clones_are(read: Read) -> None:
    two = LOOP.replace(
        "  %less.N = s32[] negate(%one.N)\n  %more.N = s32[] add(%n.N, %less.N)\n",
        "  %also.N = s32[] constant(1)\n  %more.N = s32[] add(%n.N, %one.N)\n"
        "  %most.N = s32[] add(%m.N, %also.N)\n",
    ).replace("tuple(%more.N, %m.N)", "tuple(%more.N, %most.N)")
    before = two.replace(".N", ".1") + two.replace(".N", ".2") + ENTRY
    wide = two.replace("(s32[], s32[])", "(s32[], s32[], s32[], s32[])")
    wide = wide.replace(
        "%one.N = s32[] constant(1)", "%one.N.in = s32[] get-tuple-element(%p.N), index=2"
    )
    wide = wide.replace(
        "%also.N = s32[] constant(1)", "%also.N.in = s32[] get-tuple-element(%p.N), index=3"
    )
    wide = wide.replace("add(%n.N, %one.N)", "add(%n.N, %one.N.in)").replace(
        "add(%m.N, %also.N)", "add(%m.N, %also.N.in)"
    )
    wide = wide.replace("tuple(%more.N, %most.N)", "tuple(%more.N, %most.N, %one.N.in, %also.N.in)")
    entry = ENTRY.replace("= (s32[], s32[])", "= (s32[], s32[], s32[], s32[])").replace(
        "%result = (s32[], s32[], s32[], s32[])", "%result = (s32[], s32[])"
    )
    entry = entry.replace(
        "  %in.1",
        "".join(
            f"  %{name}.1.clone = s32[] constant(1)\n  %{name}.2.clone = s32[] constant(1)\n"
            for name in ("also", "one")
        )
        + "  %in.1",
    )
    entry = entry.replace("tuple(%a, %b)", "tuple(%a, %b, %one.1.clone, %also.1.clone)").replace(
        "tuple(%b, %a)", "tuple(%b, %a, %one.2.clone, %also.2.clone)"
    )
    matching = match(
        read(before), read(wide.replace(".N", ".1") + wide.replace(".N", ".2") + entry)
    )
    for n in "12":
        for name in ("one", "also"):
            place = Place(f"body.{n}", f"{name}.{n}")
            assert matching.partner_after(place) == Place("main", f"{name}.{n}.clone")


def test_what_a_loop_starts_with_goes_on_in_a_longer_tuple(read: Read) -> None:
    after = hoisted(BEFORE).replace("%in.", "%wide.")
    matching = match(read(BEFORE), read(after))
    for n in "12":
        assert matching.partner_after(Place("main", f"in.{n}")) == Place("main", f"wide.{n}")


def test_equal_constants_of_one_loop_go_where_their_readers_read_them(read: Read) -> None:
    before = WORK.replace("%wide = f32[8] convert(%w)", "%wide = f32[] constant(3)").replace(
        "%again = f32[8] convert(%w)", "%again = f32[] constant(3)"
    )
    four = before.replace("(s32[], bf16[8])", "(s32[], bf16[8], f32[], f32[])")
    for name, number in (("wide", 3), ("again", 2)):
        four = four.replace(
            f"%{name} = f32[] constant(3)",
            f"%{name}.in = f32[] get-tuple-element(%p), index={number}",
        ).replace(f"%{name})", f"%{name}.in)")
    four = four.replace("tuple(%next, %w)", "tuple(%next, %w, %again.in, %wide.in)")
    given = "  %c.1 = f32[] constant(3)\n  %c.2 = f32[] constant(3)\n  %in ="
    four = four.replace("  %in =", given).replace("tuple(%a, %b)", "tuple(%a, %b, %c.1, %c.2)")
    matching = match(read(before), read(four))
    assert matching.partner_after(Place("body", "wide")) == Place("main", "c.2")
    assert matching.partner_after(Place("body", "again")) == Place("main", "c.1")


def test_a_constant_that_arithmetic_reads_is_not_given_to_a_loop(read: Read) -> None:
    module = read(
        """
ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  %zeros = f32[8]{0} broadcast(%zero), dimensions={}
  %one = f32[] constant(1)
  %ones = f32[8]{0} broadcast(%one), dimensions={}
  %sum = f32[8]{0} add(%a, %ones)
  %two = f32[8]{0} constant({2, 2, 2, 2, 2, 2, 2, 2})
  %in = (f32[8]{0}, f32[8]{0}) tuple(%zeros, %sum)
  %loop = (f32[8]{0}, f32[8]{0}) while(%in), condition=%condition, body=%body
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%two, %sum)
}
"""
    )
    home = module.by_name["main"]
    assert loops_given(home.by_name["zero"], home) == ["body"]
    assert loops_given(home.by_name["one"], home) == []
    assert loops_given(home.by_name["two"], home) == []


def test_a_constant_that_another_loop_is_given_was_not_in_this_one(read: Read) -> None:
    kept = LOOP.replace(".N", ".2") + ENTRY
    lost = LOOP.replace(".N", ".1").replace("  %one.1 = s32[] constant(1)\n", "")
    other = kept.replace(
        "  %in.2 =", "  %c = s32[] constant(1)\n  %d = s32[] negate(%c)\n  %in.2 ="
    )
    other = other.replace("tuple(%b, %a)", "tuple(%b, %d)")
    matching = match(read(BEFORE), read(lost.replace("negate(%one.1)", "negate(%m.1)") + other))
    assert matching.partner_after(Place("body.1", "one.1")) is None


def test_a_loop_that_lost_its_operand_is_given_nothing(read: Read) -> None:
    match(read(BEFORE), read(hoisted(BEFORE).replace("while(%in.1)", "while()")))


_MERGED = """
%cond (q: (s32[], f32[4], f32[4])) -> pred[] {
  %q = (s32[], f32[4], f32[4]) parameter(0)
  %n = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%n, %n), direction=LT
}
%body (p: (s32[], f32[4], f32[4])) -> (s32[], f32[4], f32[4]) {
  %p = (s32[], f32[4], f32[4]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[4] get-tuple-element(%p), index=1
  %y = f32[4] get-tuple-element(%p), index=2
  %zero.1 = f32[] constant(0)
  %fill.1 = f32[4] broadcast(%zero.1), dimensions={}
  %zero.2 = f32[] constant(0)
  %fill.2 = f32[4] broadcast(%zero.2), dimensions={}
  %more = f32[4] maximum(%x, %fill.1)
  %less = f32[4] minimum(%y, %fill.2)
  ROOT %out = (s32[], f32[4], f32[4]) tuple(%i, %more, %less)
}
ENTRY %main (i0: s32[]) -> f32[4] {
  %i0 = s32[] parameter(0)
  %zero.3 = f32[] constant(0)
  %fill.3 = f32[4] broadcast(%zero.3), dimensions={}
  %zero.4 = f32[] constant(0)
  %fill.4 = f32[4] broadcast(%zero.4), dimensions={}
  %start = (s32[], f32[4], f32[4]) tuple(%i0, %fill.3, %fill.4)
  %loop = (s32[], f32[4], f32[4]) while(%start), condition=%cond, body=%body
  ROOT %result = f32[4] get-tuple-element(%loop), index=1
}
"""


def test_a_constant_that_was_merged_in_its_loop_did_not_move_out_of_it(read: Read) -> None:
    after = _MERGED.replace("minimum(%y, %fill.2)", "minimum(%y, %fill.1)")
    after = "\n".join(
        line for line in after.splitlines() if not line.lstrip().startswith(("%zero.2", "%fill.2"))
    )
    after = after.replace("fill.3", "fill.9").replace("zero.3", "zero.9")
    search = start(read(_MERGED), read(after))
    identity.same_name(search)
    hoisting.hoisted(search)
    pairs = {link.before.instruction.name: link.after.instruction.name for link in search.links}
    assert "fill.2" not in pairs
    assert "zero.2" not in pairs
