"""The links of a search: which are possible, what they make equal, and what they are called."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

BEFORE = """
ENTRY %main (a: f32[8], b: s32[4]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = s32[4]{0} parameter(1)
  %kept = f32[8]{0} cosine(%a)
  %neg = f32[8]{0} negate(%kept)
  %abs = f32[8]{0} abs(%kept)
  ROOT %out = f32[8]{0} add(%neg, %abs)
}
"""
AFTER = """
ENTRY %main (a: f32[8], b: s32[4]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = s32[4]{0} parameter(1)
  %kept = f32[8]{0} cosine(%a)
  %both = (f32[8]{0}, f32[8]{0}) custom-call(%kept), custom_call_target="f"
  %zero = f32[8]{0} get-tuple-element(%both), index=0
  %one = f32[8]{0} get-tuple-element(%both), index=1
  ROOT %sum = f32[8]{0} add(%zero, %one)
}
"""


@pytest.fixture
def search(read: Read) -> Search:
    return evaluated(read(BEFORE), read(AFTER))


def evaluated(before: HloModule, after: HloModule) -> Search:
    search = start(before, after)
    search.evaluate()
    return search


def node(side: Side, name: str) -> Node:
    home = side.homes["main"]
    return home.node(home.computation.by_name[name])


def test_a_link_gives_both_nodes_one_value(search: Search) -> None:
    out, sum_ = node(search.before, "out"), node(search.after, "sum")
    assert search.link(out, sum_, Grade.MATCHED, "for a reason")
    assert out.partner is sum_
    assert sum_.partner is out
    assert out.token == sum_.token
    (link,) = search.links
    assert (link.grade, link.reason, link.equal) == (Grade.MATCHED, "for a reason", False)
    assert (out, sum_) in search.unsettled


def test_parameters_that_cannot_continue_are_never_linked(read: Read) -> None:
    search = start(read(BEFORE), read(AFTER), same_program=False)
    a, b = node(search.before, "a"), node(search.after, "b")
    assert not search.link(a, b, Grade.EXACT, "by its name")
    assert (a.partner, search.links) == (None, [])


def test_what_two_programs_have_at_other_places_is_linked_only_if_it_may_be_anywhere(
    search: Search,
) -> None:
    search.parted = lambda _, __: True
    out, sum_ = node(search.before, "out"), node(search.after, "sum")
    assert not search.link(out, sum_, Grade.MATCHED, "alike")
    assert search.link(out, sum_, Grade.MATCHED, "alike", anywhere=True)


def test_a_node_without_origin_is_linked_with_nothing(search: Search) -> None:
    out, sum_ = node(search.before, "out"), node(search.after, "sum")
    search.without_origin.add(sum_)
    assert not search.link(out, sum_, Grade.EXACT, "alike")
    search.without_origin.clear()
    search.inlined[out] = []
    assert not search.link(out, sum_, Grade.EXACT, "alike")


def test_several_that_are_combined_are_the_elements_of_the_whole(search: Search) -> None:
    members = [node(search.before, name) for name in ("neg", "abs")]
    whole = node(search.after, "both")
    search.combine(members, whole, Grade.MATCHED, "side by side")
    assert [member.partner for member in members] == [whole, whole]
    assert whole.partner is members[0]
    assert [link.relation for link in search.links] == [Relation.COMBINED] * 2
    values = search.after.values
    search.evaluate()
    for place, member in enumerate(members):
        assert values.element(whole, (place,)) == member.token
    out, sum_ = node(search.before, "out"), node(search.after, "sum")
    assert out.token == sum_.token


def test_a_link_for_which_there_is_better_evidence_is_taken_back(search: Search) -> None:
    out, sum_ = node(search.before, "out"), node(search.after, "sum")
    search.link(out, sum_, Grade.GUESSED, "the only one left")
    token = out.token
    search.unlink(search.links)
    assert (out.partner, sum_.partner, search.links) == (None, None, [])
    assert out.token == token


def test_a_further_node_does_the_work_together_with_the_partner(search: Search) -> None:
    neg, both, sum_ = (
        node(search.before, "neg"),
        node(search.after, "both"),
        node(search.after, "sum"),
    )
    search.link(neg, both, Grade.MATCHED, "started")
    search.extend(neg, sum_)
    assert sum_.partner is neg
    assert sum_.token == neg.token
    assert search.further == {neg: [sum_]}


def test_a_part_is_an_element_of_what_it_was_divided_from(search: Search) -> None:
    neg, both = node(search.before, "neg"), node(search.after, "both")
    search.part(neg, both, 1)
    assert both.partner is neg
    assert search.before.values.element(neg, (1,)) == both.token
    assert both.token != neg.token


def test_a_copy_of_a_kept_line_continues_it(search: Search) -> None:
    kept, both = node(search.before, "kept"), node(search.after, "both")
    search.copy(kept, both, Grade.EXACT, "a copy")
    assert both.partner is kept
    assert kept.partner is None


def test_lines_that_both_have_are_kept(search: Search) -> None:
    assert search.is_kept("main", "kept")
    assert not search.is_kept("main", "neg")
    assert not search.is_kept("gone", "kept")
    kept = node(search.before, "kept")
    after = search.itself_after(kept)
    assert after is node(search.after, "kept")
    assert after is not None
    assert search.itself_before(after) is kept
    place = Place("main", "kept")
    assert search.same_place_after(place) == search.same_place_before(place) == (place,)
    assert search.same_place_after(Place("main", "neg")) == ()


def test_a_search_is_done_when_one_side_has_nothing_left(search: Search) -> None:
    assert not search.done()
    search.link(node(search.before, "out"), node(search.after, "sum"), Grade.MATCHED, "alike")
    assert not search.done()
    members = [node(search.before, name) for name in ("neg", "abs")]
    search.combine(members, node(search.after, "both"), Grade.MATCHED, "side by side")
    assert search.done()


@pytest.mark.parametrize(
    ("line", "relation"),
    [
        ('%out = f32[8]{0} add(%neg, %abs), metadata={op_name="x"}', Relation.SAME),
        ("%out = f32[8]{0} subtract(%neg, %abs)", Relation.REPLACED),
        ("%new = f32[8]{0} add(%abs, %abs)", Relation.REPLACED),
    ],
)
def test_an_instruction_remains_or_is_replaced(line: str, relation: Relation, read: Read) -> None:
    after = BEFORE.replace("%out = f32[8]{0} add(%neg, %abs)", line)
    search = evaluated(read(BEFORE), read(after))
    name = line[1 : line.index(" ")]
    search.link(node(search.before, "out"), node(search.after, name), Grade.MATCHED, "the result")
    search.finish()
    (link,) = search.links
    assert link.relation is relation
