from hypothesis import given
from hypothesis import strategies as st

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.sequence import alignments, steady_order
from xlareport.analysis.steps.step import step
from xlareport.hlo.text import TextReader


def _order(places: list[int], *weights: int) -> set[int]:
    return steady_order(places, weights or [1] * len(places))


def test_one_that_moved_is_left_out() -> None:
    assert _order([0, 1, 5, 2, 3]) == {0, 1, 3, 4}


def test_nothing() -> None:
    assert _order([]) == set()


_PLACES = st.lists(st.integers(0, 30), unique=True, max_size=12)


@given(_PLACES, st.lists(st.integers(1, 8), min_size=12, max_size=12))
def test_it_rises_and_none_is_heavier(places: list[int], weights: list[int]) -> None:
    steady = sorted(steady_order(places, weights[: len(places)]))
    kept = [places[number] for number in steady]
    assert kept == sorted(kept)
    best = [0] * len(places)
    for here in range(len(places)):
        lighter = [best[there] for there in range(here) if places[there] < places[here]]
        best[here] = weights[here] + max(lighter, default=0)
    assert sum(weights[number] for number in steady) == max(best, default=0)


def test_a_few_light_ones_move_rather_than_what_they_are_deferred_behind() -> None:
    constants_first = [1, 2, 3, 0, 4]
    assert _order(constants_first, 1, 1, 1, 1, 1) == {0, 1, 2, 4}
    assert _order(constants_first, 1, 1, 1, 8, 8) == {3, 4}


def test_what_moved_in_front_of_many_constants_moved_and_not_these() -> None:
    before, after = (
        TextReader().read(text.encode(), "m.txt") for text in (_CONSTANTS_FIRST, _PREFETCHED)
    )
    assert before is not None
    assert after is not None
    rows = [row for row in step(before, after).changes if row.kind is Kind.REORDERED]
    assert [row.before for row in rows] == [Place("main", "b")]


_CONSTANTS = "".join(f"  %c.{number} = f32[] constant({number})\n" for number in range(4))
_CONSTANTS_FIRST = f"""HloModule m, is_scheduled=true

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {{
{_CONSTANTS}  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  ROOT %add = f32[8]{{0}} add(%a, %b)
}}
"""
_PREFETCHED = f"""HloModule m, is_scheduled=true

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {{
  %b = f32[8]{{0}} parameter(1)
  %start = (f32[8]{{0:S(1)}}, f32[8]{{0}}, u32[]) copy-start(%b)
{_CONSTANTS}  %a = f32[8]{{0}} parameter(0)
  %done = f32[8]{{0:S(1)}} copy-done(%start)
  ROOT %add = f32[8]{{0}} add(%a, %done)
}}
"""


def test_what_was_made_anew_moved_rather_than_what_stays() -> None:
    before, after = (
        TextReader().read(
            _SCHEDULED.replace("LINES", lines).replace("COPY", name).encode(), "m.txt"
        )
        for name, lines in (
            ("copy.1", "  %n = f32[8]{0} negate(%a)\n  %copy.1 = f32[8]{0} copy(%a)\n"),
            ("copy.2", "  %copy.2 = f32[8]{0} copy(%a)\n  %n = f32[8]{0} negate(%a)\n"),
        )
    )
    assert before is not None
    assert after is not None
    (row,) = [row for row in step(before, after).changes if row.kind is Kind.REORDERED]
    assert row.after == Place("main", "copy.2")


_SCHEDULED = """HloModule m, is_scheduled=true

ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
LINES  ROOT %t = (f32[8]{0}, f32[8]{0}) tuple(%n, %COPY)
}
"""


_BROADCASTS_FIRST = """HloModule m, is_scheduled=true

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %c = f32[] constant(1)
  %wide.1 = f32[8]{0} broadcast(%c), dimensions={}
  %wide.2 = f32[8]{0} broadcast(%c), dimensions={}
  %copy = f32[8]{0} copy(%a)
  %add = f32[8]{0} add(%copy, %wide.1)
  ROOT %out = f32[8]{0} multiply(%add, %wide.2)
}
"""


def test_broadcasts_of_constants_are_deferred_as_constants_are() -> None:
    lines = _BROADCASTS_FIRST.splitlines(keepends=True)
    lines[5:8] = [lines[7], *lines[5:7]]
    before, after = (
        TextReader().read(text.encode(), "m.txt") for text in (_BROADCASTS_FIRST, "".join(lines))
    )
    assert before is not None
    assert after is not None
    rows = [row for row in step(before, after).changes if row.kind is Kind.REORDERED]
    assert [row.before for row in rows] == [Place("main", "wide.1"), Place("main", "wide.2")]


_THROUGH_TUPLE = """HloModule m, is_scheduled=true

ENTRY %main (p: (f32[8], f32[8])) -> f32[8] {
  %p = (f32[8]{0}, f32[8]{0}) parameter(0)
  %first.1 = f32[8]{0} get-tuple-element(%p), index=0
  %second.1 = f32[8]{0} get-tuple-element(%p), index=1
  %tuple = (f32[8]{0}, f32[8]{0}) tuple(%second.1, %first.1)
  %sine = f32[8]{0} sine(%second.1)
  %cosine = f32[8]{0} cosine(%sine)
  %first.9 = f32[8]{0} get-tuple-element(%tuple), index=1, metadata={op_name="f"}
  ROOT %add = f32[8]{0} add(%cosine, %first.9)
}
"""


def test_what_gets_the_name_of_what_it_replaces_has_not_moved() -> None:
    """`tuple-simplifier` reads an element directly, which gets the name of the one behind."""
    bypassed = """HloModule m, is_scheduled=true

ENTRY %main (p: (f32[8], f32[8])) -> f32[8] {
  %p = (f32[8]{0}, f32[8]{0}) parameter(0)
  %first.9 = f32[8]{0} get-tuple-element(%p), index=0, metadata={op_name="f"}
  %second.1 = f32[8]{0} get-tuple-element(%p), index=1
  %sine = f32[8]{0} sine(%second.1)
  %cosine = f32[8]{0} cosine(%sine)
  ROOT %add = f32[8]{0} add(%cosine, %first.9)
}
"""
    before, after = (
        TextReader().read(text.encode(), "m.txt") for text in (_THROUGH_TUPLE, bypassed)
    )
    assert before is not None
    assert after is not None
    assert Kind.REORDERED not in {row.kind for row in step(before, after).changes}


def test_an_element_that_goes_on_elsewhere_gives_no_other_its_place() -> None:
    reader = TextReader()
    before = """HloModule m

ENTRY %main {
  %t = (f32[4], f32[4]) parameter(0)
  %u = (f32[4], f32[4]) parameter(1)
  %a = f32[4] get-tuple-element(%t), index=0
  %q = f32[4] get-tuple-element(%u), index=1
  %n = f32[4] negate(%a)
  %m = f32[4] abs(%q)
  ROOT %r = (f32[4], f32[4]) tuple(%n, %m)
}
"""
    after = before.replace(
        """  %a = f32[4] get-tuple-element(%t), index=0
  %q = f32[4] get-tuple-element(%u), index=1
  %n = f32[4] negate(%a)
  %m = f32[4] abs(%q)
""",
        """  %q = f32[4] get-tuple-element(%t), index=0
  %m = f32[4] abs(%q)
  %b = f32[4] get-tuple-element(%t), index=0
  %n = f32[4] negate(%b)
""",
    )
    modules = [reader.read(text.encode(), "m.txt") for text in (before, after)]
    assert modules[0] is not None
    assert modules[1] is not None
    (only,) = alignments(match(modules[0], modules[1]))
    places = [number for number, _ in (*only.steady, *only.moved)]
    assert len(set(places)) == len(places)
