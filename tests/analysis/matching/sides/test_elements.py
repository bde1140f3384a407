"""What loops carry, where a pass drops an element."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

BEFORE = """
HloModule m

%body (p: (s32[], f32[4], f32[8], f32[8])) -> (s32[], f32[4], f32[8], f32[8]) {
  %p = (s32[], f32[4]{0}, f32[8]{0}, f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %unused = f32[4]{0} get-tuple-element(%p), index=1
  %x = f32[8]{0} get-tuple-element(%p), index=2
  %y = f32[8]{0} get-tuple-element(%p), index=3
  %sum = f32[8]{0} multiply(%x, %y)
  ROOT %t = (s32[], f32[4]{0}, f32[8]{0}, f32[8]{0}) tuple(%next, %unused, %sum, %y)
}

%cond (q: (s32[], f32[4], f32[8], f32[8])) -> pred[] {
  %q = (s32[], f32[4]{0}, f32[8]{0}, f32[8]{0}) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%j, %ten), direction=LT
}

ENTRY %main (a: f32[8], b: f32[8], c: f32[4]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %c = f32[4]{0} parameter(2)
  %zero = s32[] constant(0)
  %start = (s32[], f32[4]{0}, f32[8]{0}, f32[8]{0}) tuple(%zero, %c, %a, %b)
  %while.1 = (s32[], f32[4]{0}, f32[8]{0}, f32[8]{0}) while(%start), condition=%cond, body=%body
  %end = f32[8]{0} get-tuple-element(%while.1), index=2
  %last = f32[8]{0} get-tuple-element(%while.1), index=3
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%end, %last)
}
"""


def _dropped() -> str:
    text = BEFORE.replace("f32[4]{0}, ", "").replace("f32[4], ", "", 6)
    text = text.replace("  %unused = f32[4]{0} get-tuple-element(%p), index=1\n", "")
    text = text.replace("%unused, ", "").replace("%zero, %c, ", "%zero, ")
    text = text.replace("b: f32[8]) ->", "b: f32[8], c: f32[4]) ->")
    for old, new in ((2, 1), (3, 2)):
        text = text.replace(f"index={old}", f"index={new}")
    for name in ("x", "y", "end", "last", "while.1", "start", "t"):
        text = text.replace(f"%{name} ", f"%{name}.9 ").replace(f"%{name},", f"%{name}.9,")
        text = text.replace(f"%{name})", f"%{name}.9)")
    return text


def test_elements_go_on_under_another_number(read: Read) -> None:
    matching = match(read(BEFORE), read(_dropped()))
    for computation, name in (
        ("body", "x"),
        ("body", "y"),
        ("main", "end"),
        ("main", "last"),
        ("main", "while.1"),
    ):
        place = matching.partner_after(Place(computation, name))
        assert place == Place(computation, f"{name}.9")


def test_a_dropped_element_goes_on_as_no_other(read: Read) -> None:
    matching = match(read(BEFORE), read(_dropped()))
    assert matching.partner_after(Place("body", "unused")) is None


def test_elements_that_a_loop_carries_in_another_order_are_not_taken_for_one_another(
    read: Callable[[str], HloModule],
) -> None:
    """What reads the second element reads another value when a pass exchanges two of them."""

    def module(first: str, second: str, *, swapped: bool) -> HloModule:
        mine, others = ("1", "2") if not swapped else ("2", "1")
        state = f"(s32[], {first}, {second})"
        return read(
            f"""
HloModule m
%body (p: {state}) -> {state} {{
  %p = {state} parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %small.{mine} = f32[4]{{0}} get-tuple-element(%p), index={mine}
  %large.{others} = f32[8,2]{{1,0}} get-tuple-element(%p), index={others}
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %sine = f32[4]{{0}} sine(%small.{mine})
  %cosine = f32[8,2]{{1,0}} cosine(%large.{others})
  ROOT %out = {state} tuple(%next, {"%cosine, %sine" if swapped else "%sine, %cosine"})
}}
%condition (c: {state}) -> pred[] {{
  %c = {state} parameter(0)
  %j = s32[] get-tuple-element(%c), index=0
  %most = s32[] constant(9)
  ROOT %less = pred[] compare(%j, %most), direction=LT
}}
ENTRY %main (x: f32[4], y: f32[8,2]) -> {state} {{
  %x = f32[4]{{0}} parameter(0)
  %y = f32[8,2]{{1,0}} parameter(1)
  %zero = s32[] constant(0)
  %start = {state} tuple(%zero, {"%y, %x" if swapped else "%x, %y"})
  ROOT %while = {state} while(%start), condition=%condition, body=%body
}}
"""
        )

    small, large = "f32[4]{0}", "f32[8,2]{1,0}"
    before, after = module(small, large, swapped=False), module(large, small, swapped=True)
    matching = match(before, after)
    assert matching.partner_after(Place("body", "small.1")) == Place("body", "small.2")
    assert matching.partner_after(Place("body", "large.2")) == Place("body", "large.1")


def test_elements_of_one_kind_do_not_keep_their_place_where_others_moved(read: Read) -> None:
    """The start values are computed in another way: nothing tells which element is which."""

    def module(order: tuple[int, int, int], *, flipped: bool) -> HloModule:
        parts = ("f32[8]{0}", "f32[8]{0}", "f32[4,4]{1,0}")
        state = "(s32[], " + ", ".join(parts[number] for number in order) + ")"
        gate, up, table = (order.index(number) + 1 for number in range(3))
        names, tail = ("%a", "%b", "%c"), "after" if flipped else "before"
        starts = ", ".join(names[number] for number in order)
        sign = "subtract(%none, %x)" if flipped else "negate(%x)"
        other = "subtract(%none, %y)" if flipped else "negate(%y)"
        shape = "f32[8]{0}"
        return read(
            f"""
HloModule m
%body.{tail} (p: {state}) -> {state} {{
  %p.{tail} = {state} parameter(0)
  %i.{tail} = s32[] get-tuple-element(%p.{tail}), index=0
  %one.{tail} = s32[] constant(1)
  %next.{tail} = s32[] add(%i.{tail}, %one.{tail})
  %gate.{tail} = {shape} get-tuple-element(%p.{tail}), index={gate}
  %up.{tail} = {shape} get-tuple-element(%p.{tail}), index={up}
  %table.{tail} = f32[4,4]{{1,0}} get-tuple-element(%p.{tail}), index={table}
  %sine.{tail} = {shape} sine(%gate.{tail})
  %wave.{tail} = {shape} sine(%up.{tail})
  %less.{tail} = {shape} subtract(%sine.{tail}, %wave.{tail})
  %root.{tail} = {shape} sqrt(%less.{tail})
  ROOT %out.{tail} = {state} tuple(%next.{tail}, {
                ", ".join(
                    {0: f"%root.{tail}", 1: f"%up.{tail}", 2: f"%table.{tail}"}[n] for n in order
                )
            })
}}
%condition.{tail} (q: {state}) -> pred[] {{
  %q.{tail} = {state} parameter(0)
  %j.{tail} = s32[] get-tuple-element(%q.{tail}), index=0
  %most.{tail} = s32[] constant(9)
  ROOT %fewer.{tail} = pred[] compare(%j.{tail}, %most.{tail}), direction=LT
}}
ENTRY %main (x: f32[8], y: f32[8], c: f32[4,4]) -> {state} {{
  %x = f32[8]{{0}} parameter(0)
  %y = f32[8]{{0}} parameter(1)
  %c = f32[4,4]{{1,0}} parameter(2)
  %nothing = f32[] constant(0)
  %none = f32[8]{{0}} broadcast(%nothing), dimensions={{}}
  %a = f32[8]{{0}} {sign}
  %b = f32[8]{{0}} {other}
  %zero = s32[] constant(0)
  %start.{tail} = {state} tuple(%zero, {starts})
  ROOT %while.{tail} = {state} while(%start.{tail}), condition=%condition.{tail}, body=%body.{tail}
}}
"""
        )

    matching = match(module((0, 1, 2), flipped=False), module((2, 0, 1), flipped=True))
    for name in ("sine", "wave"):
        place = matching.partner_after(Place("body.before", f"{name}.before"))
        assert place in {Place("body.after", f"{name}.after"), None}


_TWICE = """
HloModule m

%body (p: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {
  %p = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %y = f32[8]{0} get-tuple-element(%p), index=2
  %half = f32[8]{0} constant({...})
  %first = f32[8]{0} multiply(%x, %half)
  %second = f32[8]{0} multiply(%y, %half)
  ROOT %t = (s32[], f32[8]{0}, f32[8]{0}) tuple(%next, %first, %second)
}

%cond (q: (s32[], f32[8], f32[8])) -> pred[] {
  %q = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%j, %ten), direction=LT
}

ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %zero = s32[] constant(0)
  %start = (s32[], f32[8]{0}, f32[8]{0}) tuple(%zero, %a, %a)
  %while.1 = (s32[], f32[8]{0}, f32[8]{0}) while(%start), condition=%cond, body=%body
  %end = f32[8]{0} get-tuple-element(%while.1), index=1
  %last = f32[8]{0} get-tuple-element(%while.1), index=2
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%end, %last)
}
"""


def _once() -> str:
    text = _TWICE.replace(", f32[8]{0}, f32[8]{0})", ", f32[8]{0})")
    text = text.replace(", f32[8], f32[8])", ", f32[8])")
    for name in ("y", "second", "last"):
        lines = text.splitlines(keepends=True)
        text = "".join(line for line in lines if not line.startswith(f"  %{name} ="))
    text = text.replace("%first, %second)", "%first)").replace("%zero, %a, %a)", "%zero, %a)")
    text = text.replace("(%end, %last)", "(%end, %end)").replace("%first", "%product.7")
    text = text.replace("ROOT %out = (f32[8]{0})", "ROOT %out = (f32[8]{0}, f32[8]{0})")
    text = text.replace("(a: f32[8]) -> (f32[8])", "(a: f32[8]) -> (f32[8], f32[8])")
    return text.replace("%half", "%half.1")


def test_of_two_duplicates_the_one_that_is_left_goes_on(read: Read) -> None:
    matching = match(read(_TWICE), read(_once()))
    assert matching.partner_before(Place("body", "product.7")) == Place("body", "first")


def test_of_two_elements_that_are_made_differently_neither_is_taken_for_the_one_left(
    read: Read,
) -> None:
    other = _TWICE.replace("multiply(%y, %half)", "multiply(%half, %y)")
    pairing = match(read(other), read(_once())).pairing_after(Place("body", "product.7"))
    assert (
        pairing is None
        or pairing.grade != "exact"
        or pairing.before[:1] != (Place("body", "second"),)
    )


def _loop_of_constants(number: str, numbers: dict[str, int], starts: str) -> str:
    shape = f"(s32[], {', '.join(['f32[8]'] * (len(numbers) - 1))})"
    results = ", ".join(f"%{name}.{number}" for name in numbers).replace("%i", "%next")
    taken = "".join(
        f"  %{name}.{number} = {'s32[]' if name == 'i' else 'f32[8]'}"
        f" get-tuple-element(%p.{number}), index={place}\n"
        for name, place in numbers.items()
    )
    head = f"""
%body.N (p.N: SHAPE) -> SHAPE {{
  %p.N = SHAPE parameter(0)
{taken}  %one.N = s32[] constant(1)
  %next.N = s32[] add(%i.N, %one.N)
  %far.N = f32[8] divide(%x.N, %z.N)
  %wide.N = f32[8] power(%y.N, %far.N)
  %sum.N = f32[8] add(%acc.N, %wide.N)
  ROOT %t.N = SHAPE tuple({results.replace("%acc", "%sum")})
}}

%cond.N (q.N: SHAPE) -> pred[] {{
  %q.N = SHAPE parameter(0)
  %j.N = s32[] get-tuple-element(%q.N), index=0
  %ten.N = s32[] constant(10)
  ROOT %less.N = pred[] compare(%j.N, %ten.N), direction=LT
}}
"""
    loop = f"  %start.N = SHAPE tuple({starts})\n"
    loop += "  %while.N = SHAPE while(%start.N), condition=%cond.N, body=%body.N\n"
    loop += f"  ROOT %end.N = f32[8] get-tuple-element(%while.N), index={numbers['acc']}\n"
    return (head + "ENTRY\n" + loop).replace("SHAPE", shape).replace(".N", f".{number}")


def test_a_repeated_element_is_dropped_where_the_former_start_values_stay(read: Read) -> None:
    entry = (
        "ENTRY %main (a: f32[8], b: f32[8], c: f32[8], d: f32[8]) -> f32[8] {\n"
        + "".join(f"  %{name} = f32[8] parameter({n})\n" for n, name in enumerate("abcd"))
        + "  %zero = s32[] constant(0)\n"
    )
    many = {"i": 0, "z": 1, "x": 2, "z2": 3, "y": 4, "acc": 5}
    before = _loop_of_constants("1", many, "%zero, %a, %b, %a, %c, %d").replace("ENTRY\n", entry)
    few = {"i": 0, "z": 1, "x": 2, "y": 3, "acc": 4}
    left = next(line for line in before.splitlines() if "%start.1 =" in line)
    after = _loop_of_constants("2", few, "%zero, %a, %b, %c, %d").replace(
        "ENTRY\n", f"{entry}{left}\n"
    )
    matching = match(read(before + "}\n"), read(after + "}\n"))
    for name in ("x", "y", "acc"):
        assert matching.partner_after(Place("body.1", f"{name}.1")) == Place("body.2", f"{name}.2")


def test_elements_whose_start_values_a_pass_copies_are_told_apart_by_what_is_copied(
    read: Read,
) -> None:
    """All elements have one shape, so that places would mean others."""
    entry = (
        "ENTRY %main (a: f32[8], b: f32[8], c: f32[8], d: f32[8]) -> f32[8] {\n"
        + "".join(f"  %{name} = f32[8] parameter({n})\n" for n, name in enumerate("abcd"))
        + "  %zero = s32[] constant(0)\n"
    )
    copies = "".join(f"  %{name}.copy = f32[8] copy(%{name})\n" for name in "abc")
    before = {"i": 0, "z": 1, "x": 2, "y": 3, "acc": 4}
    after = {"i": 0, "x": 1, "y": 2, "z": 3, "acc": 4}
    matching = match(
        read(
            _loop_of_constants("1", before, "%zero, %a, %b, %c, %d").replace("ENTRY\n", entry)
            + "}\n"
        ),
        read(
            _loop_of_constants("2", after, "%zero, %b.copy, %c.copy, %a.copy, %d").replace(
                "ENTRY\n", entry + copies
            )
            + "}\n"
        ),
    )
    for name in before:
        assert matching.partner_after(Place("body.1", f"{name}.1")) == Place("body.2", f"{name}.2")


_STACKED = """
%bodyMARK (p: TYPES) -> TYPES {
  %p = TYPES parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %a = f32[4,2]{1,0} get-tuple-element(%p), index=1
  %b = f32[4,2]{1,0} get-tuple-element(%p), index=2
LAST  %k = s32[] constant(1)
  %more = s32[] add(%n, %k)
  %x = f32[1,2]{1,0} dynamic-slice(%a, %n, %k), dynamic_slice_sizes={1,2}
  %sine = f32[1,2]{1,0} sine(%x)
  %cosine = f32[1,2]{1,0} cosine(%x)
  %first = f32[4,2]{1,0} dynamic-update-slice(%a, %sine, %n, %k)
  %second = f32[4,2]{1,0} dynamic-update-slice(%b, %cosine, %n, %k)
AGAIN  ROOT %t = TYPES tuple(%more, %first, %second THIRD)
}

%condMARK (q: TYPES) -> pred[] {
  %q = TYPES parameter(0)
  %i = s32[] get-tuple-element(%q), index=0
  ROOT %less = pred[] compare(%i, %i), direction=LT
}

ENTRY %main (m: s32[]) -> f32[4,2] {
  %m = s32[] parameter(0)
  %zero = f32[] constant(0)
  %fill = f32[4,2]{1,0} broadcast(%zero), dimensions={}
  %startMARK = TYPES tuple(%m, %fill, %fill FILL)
  %loopMARK = TYPES while(%startMARK), condition=%condMARK, body=%bodyMARK
  ROOT %out = f32[4,2]{1,0} get-tuple-element(%loopMARK), index=1
}
"""


def _stacked(mark: str, types: str, **words: str) -> str:
    text = _STACKED.replace("MARK", mark).replace("TYPES", types)
    for word in ("LAST", "AGAIN", "THIRD", "FILL"):
        text = text.replace(word, words.get(word, ""))
    return text


_TWO_ARRAYS = _stacked(".1", "(s32[], f32[4,2]{1,0}, f32[4,2]{1,0})")


def _three_arrays(update: str) -> str:
    return _stacked(
        "",
        "(s32[], f32[4,2]{1,0}, f32[4,2]{1,0}, f32[4,2]{1,0})",
        LAST="  %c = f32[4,2]{1,0} get-tuple-element(%p), index=3\n",
        AGAIN=f"  %third = f32[4,2]{{1,0}} dynamic-update-slice(%c, %{update}, %n, %k)\n",
        THIRD=", %third",
        FILL=", %fill",
    )


def test_of_equal_elements_that_a_loop_computes_one_remains(read: Read) -> None:
    matching = match(read(_three_arrays("sine")), read(_TWO_ARRAYS))
    for name in ("first", "second"):
        assert matching.partner_after(Place("body", name)) == Place("body.1", name)
    pairing = matching.pairing_before(Place("body", "third"))
    assert pairing is not None
    assert pairing.relation is Relation.MERGED
    assert pairing.after == (Place("body.1", "first"),)


def test_what_a_loop_no_longer_carries_says_so(read: Read) -> None:
    before = _three_arrays("tangent").replace(
        "  %third", "  %tangent = f32[1,2]{1,0} tan(%x)\n  %third"
    )
    pairing = match(read(before), read(_TWO_ARRAYS)).pairing_before(Place("body", "third"))
    assert pairing is not None
    assert pairing.reason == "%loop.1 no longer carries it"


_PASSED_ON = """
HloModule m

%bodyMARK (p: TYPES) -> TYPES {
  %p = TYPES parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %a = f32[2]{0} get-tuple-element(%p), index=1
LATER  %sine = f32[2]{0} sine(%SECOND)
  %cosine = f32[2]{0} cosine(%THIRD)
  %k = s32[] constant(1)
  %more = s32[] add(%n, %k)
  ROOT %t = TYPES tuple(%more, %aPASSED)
}

%condMARK (q: TYPES) -> pred[] {
  %q = TYPES parameter(0)
  %i = s32[] get-tuple-element(%q), index=0
  ROOT %less = pred[] compare(%i, %i), direction=LT
}

ENTRY %main (m: s32[], x: f32[2]) -> s32[] {
  %m = s32[] parameter(0)
  %x = f32[2]{0} parameter(1)
  %startMARK = TYPES tuple(%m, %xSTART)
  %loopMARK = TYPES while(%startMARK), condition=%condMARK, body=%bodyMARK
  ROOT %out = s32[] get-tuple-element(%loopMARK), index=0
}
"""


def _passing(words: dict[str, str]) -> str:
    text = _PASSED_ON
    for word, written in words.items():
        text = text.replace(word, written)
    return text


def test_equal_elements_that_a_loop_only_passes_on_are_duplicates(read: Read) -> None:
    three = _passing(
        {
            "MARK": "",
            "TYPES": "(s32[], f32[2]{0}, f32[2]{0}, f32[2]{0})",
            "LATER": "  %b = f32[2]{0} get-tuple-element(%p), index=2\n"
            "  %c = f32[2]{0} get-tuple-element(%p), index=3\n",
            "SECOND": "b",
            "THIRD": "c",
            "PASSED": ", %b, %c",
            "START": ", %x, %x",
        }
    )
    single = {"MARK": ".1", "TYPES": "(s32[], f32[2]{0})", "LATER": "", "SECOND": "a", "THIRD": "a"}
    matching = match(read(three), read(_passing(single | {"PASSED": "", "START": ""})))
    for name in ("b", "c"):
        pairing = matching.pairing_before(Place("body", name))
        assert pairing is not None
        assert pairing.relation is Relation.MERGED
        assert pairing.after == (Place("body.1", "a"),)


_SHARDED = 'sharding={{replicated}}, metadata={{op_name="jit(f)/sharding_constraint"}}'
_MARKED = 'custom-call({}), custom_call_target="Sharding", ' + _SHARDED
_COPIED = "copy({}), " + _SHARDED


def _arrays_in_order(order: str, n: int, marked: str) -> str:
    """Return a loop that carries arrays `t`, `x` of one shape and `w` of another, in an order.

    `marked` is what states a sharding: a call before, a copy after.
    """
    shapes = {"t": "f32[8,4]{1,0}", "x": "f32[8,4]{1,0}", "w": "f32[3,5]{1,0}"}
    state = f"(s32[], {', '.join(shapes[name] for name in order)})"
    row, sizes = "f32[1,4]{1,0}", "dynamic_slice_sizes={1,4}"
    effect = 'custom_call_target="send", custom_call_has_side_effect=true'
    place = {name: number for number, name in enumerate(order, 1)}
    taken = (
        "\n".join(
            f"  %{name}.{n} = {shapes[name]} get-tuple-element(%p.{n}), index={place[name]}"
            for name in order
        )
        .replace("%t.", "%gte.1")
        .replace("%x.", "%gte.2")
        .replace("%w.", "%gte.3")
    )
    read = {name: f"%gte.{place}{n}" for place, name in enumerate("txw", 1)}
    starts = ", ".join(f"%{name}.{n}" for name in order)
    return f"""
HloModule m
%body.{n} (p: {state}) -> {state} {{
  %p.{n} = {state} parameter(0)
  %i.{n} = s32[] get-tuple-element(%p.{n}), index=0
  %one.{n} = s32[] constant(1)
  %next.{n} = s32[] add(%i.{n}, %one.{n})
{taken}
  %slice.1{n} = {row} dynamic-slice({read["t"]}, %i.{n}, %one.{n}), {sizes}
  %sine.{n} = {row} sine(%slice.1{n})
  %slice.2{n} = {row} dynamic-slice({read["x"]}, %i.{n}, %one.{n}), {sizes}
  %cosine.{n} = {row} cosine(%slice.2{n})
  %send.{n} = () custom-call(%sine.{n}, %cosine.{n}), {effect}
  ROOT %out.{n} = {state} tuple(%next.{n}, {", ".join(read[name] for name in order)})
}}
%condition.{n} (c: {state}) -> pred[] {{
  %c.{n} = {state} parameter(0)
  %j.{n} = s32[] get-tuple-element(%c.{n}), index=0
  %most.{n} = s32[] constant(9)
  ROOT %less.{n} = pred[] compare(%j.{n}, %most.{n}), direction=LT
}}
ENTRY %main.{n} (a: f32[32], b: f32[32], w: f32[3,5]) -> {state} {{
  %a.{n} = f32[32]{{0}} parameter(0)
  %b.{n} = f32[32]{{0}} parameter(1)
  %w.{n} = f32[3,5]{{1,0}} parameter(2)
  %zero.{n} = s32[] constant(0)
  %near.{n} = f32[32]{{0}} {marked.format(f"%a.{n}")}
  %far.{n} = f32[32]{{0}} {marked.format(f"%b.{n}")}
  %t.{n} = f32[8,4]{{1,0}} reshape(%near.{n})
  %x.{n} = f32[8,4]{{1,0}} reshape(%far.{n})
  %start.{n} = {state} tuple(%zero.{n}, {starts})
  ROOT %while.{n} = {state} while(%start.{n}), condition=%condition.{n}, body=%body.{n}
}}
"""


def test_arrays_of_equal_rank_in_another_order_are_not_paired_by_their_places(read: Read) -> None:
    """Shardy's import gives loops other orders; `w` goes before the others here."""
    matching = match(
        read(_arrays_in_order("txw", 1, _MARKED)), read(_arrays_in_order("wtx", 2, _COPIED))
    )
    for before, after in (("gte.11", "gte.12"), ("gte.21", "gte.22"), ("gte.31", "gte.32")):
        assert matching.partner_after(Place("body.1", before)) == Place("body.2", after)
    for before, after in (("slice.11", "slice.12"), ("slice.21", "slice.22")):
        assert matching.partner_after(Place("body.1", before)) == Place("body.2", after)
    for name in "tx":
        assert matching.partner_after(Place("main.1", f"{name}.1")) == Place("main.2", f"{name}.2")


def _exchanged(n: int, *, marked: str, first: int, second: int) -> str:
    """Return a loop of two arrays of one shape at two places, both read by products.

    `marked` is what states a sharding: a call before, a copy after.
    """
    pair = {first: "%x", second: "%y.1"}
    state = "(f32[8]{0}, f32[8]{0}, f32[8]{0})"
    order = f"{pair[1]}, {pair[2]}"
    given = order.replace("%x", f"%gte.2{n}").replace("%y.1", f"%gte.3{n}")
    return f"""
HloModule m
%body.{n} (p: {state}) -> {state} {{
  %p.{n} = {state} parameter(0)
  %gte.1{n} = f32[8]{{0}} get-tuple-element(%p.{n}), index=0
  %gte.2{n} = f32[8]{{0}} get-tuple-element(%p.{n}), index={first}
  %mul.1{n} = f32[8]{{0}} multiply(%gte.2{n}, %gte.1{n})
  %gte.3{n} = f32[8]{{0}} get-tuple-element(%p.{n}), index={second}
  %a.{n} = f32[8]{{0}} {marked.format(f"%mul.1{n}")}
  %mul.2{n} = f32[8]{{0}} multiply(%gte.2{n}, %a.{n})
  %sine.{n} = f32[8]{{0}} sine(%mul.2{n})
  %b.{n} = f32[8]{{0}} {marked.format(f"%sine.{n}")}
  %mul.3{n} = f32[8]{{0}} multiply(%gte.3{n}, %b.{n})
  ROOT %out.{n} = {state} tuple(%mul.3{n}, {given})
}}
%condition.{n} (c: {state}) -> pred[] {{
  %c.{n} = {state} parameter(0)
  ROOT %more.{n} = pred[] custom-call(%c.{n}), custom_call_target="more"
}}
ENTRY %main (z: f32[8], x: f32[8], y: f32[8]) -> {state} {{
  %z = f32[8]{{0}} parameter(0)
  %x = f32[8]{{0}} parameter(1)
  %y = f32[8]{{0}} parameter(2)
  %y.1 = f32[8]{{0}} {marked.format("%y")}
  %start.{n} = {state} tuple(%z, {order})
  ROOT %while.{n} = {state} while(%start.{n}), condition=%condition.{n}, body=%body.{n}
}}
"""


def test_users_of_exchanged_arrays_of_one_shape_are_not_paired_by_the_place_they_read(
    read: Read,
) -> None:
    """What read the second array reads the first place now; so does no other product."""
    before = read(_exchanged(1, marked=_MARKED, first=2, second=1))
    after = read(_exchanged(2, marked=_COPIED, first=1, second=2))
    matching = match(before, after)
    for name in ("gte.2", "gte.3", "mul.1", "mul.2", "mul.3"):
        place = matching.partner_after(Place("body.1", f"{name}1"))
        assert place == Place("body.2", f"{name}2")


def test_arrays_that_start_alike_are_paired_by_their_readers_in_another_order(read: Read) -> None:
    """Nothing else tells which is which: both start with zeros."""
    before, after = (
        _arrays_in_order(order, n, marked)
        .replace(f"reshape(%near.{n})", f"broadcast(%none.{n}), dimensions={{}}")
        .replace(f"reshape(%far.{n})", f"broadcast(%none.{n}), dimensions={{}}")
        .replace(f"  %zero.{n} =", f"  %none.{n} = f32[] constant(0)\n  %zero.{n} =")
        for n, (order, marked) in enumerate((("txw", _MARKED), ("wxt", _COPIED)), 1)
    )
    matching = match(read(before), read(after))
    for name in ("gte.1", "gte.2", "sine.", "cosine."):
        place = matching.partner_after(Place("body.1", f"{name}1"))
        assert place == Place("body.2", f"{name}2")
