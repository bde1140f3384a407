"""Value numbers: equal for equal expressions of equal values, on both sides."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import Tokens, kinds_of, operands_first
from xlareport.hlo.model import HloModule
from xlareport.hlo.shape import parse_shape

Read = Callable[[str], HloModule]

TEXT = """
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %first = f32[8]{0} negate(%a)
  %second = f32[8]{0} negate(%a)
  %other = f32[8]{0} negate(%b)
  %sum = f32[8]{0} add(%first, %b)
  %turned = f32[8]{0} add(%b, %second)
  %less = f32[8]{0} subtract(%first, %b)
  %more = f32[8]{0} subtract(%b, %first)
  %two = f32[] constant(2)
  %wide = f32[8]{0} broadcast(%two), dimensions={}
  %pair = (f32[8]{0}, f32[8]{0}) tuple(%sum, %less)
  %call = (f32[8]{0}, f32[8]{0}) custom-call(%pair), custom_call_target="f"
  %zero = f32[8]{0} get-tuple-element(%call), index=0
  %one = f32[8]{0} get-tuple-element(%call), index=1
  ROOT %out = f32[8]{0} OPCODE(%zero, %one)
}
"""


@pytest.fixture
def search(read: Read) -> Search:
    before, after = (read(TEXT.replace("OPCODE", opcode)) for opcode in ("add", "multiply"))
    search = start(before, after, same_program=False)  # of two programs no line is kept
    search.evaluate()
    return search


def nodes(side: Side) -> dict[str, Node]:
    return {node.instruction.name: node for node in side.nodes}


def test_equal_expressions_have_one_number(search: Search) -> None:
    by_name = nodes(search.before)
    assert by_name["first"].token == by_name["second"].token
    assert by_name["first"].token != by_name["other"].token


def test_operands_change_places_where_that_changes_nothing(search: Search) -> None:
    by_name = nodes(search.before)
    assert by_name["sum"].token == by_name["turned"].token
    assert by_name["less"].token != by_name["more"].token


def test_elements_of_one_result_have_numbers_of_their_own(search: Search) -> None:
    values, by_name = search.before.values, nodes(search.before)
    call = by_name["call"]
    assert by_name["zero"].token != by_name["one"].token
    assert values.element(call, ()) == call.token
    values.name_element(call, (0,), 12345)
    assert values.element(call, (0,)) == 12345
    assert values.element(call, (1,)) != 12345


def test_what_is_made_of_constants_alone_is_constant(search: Search) -> None:
    search.before.values.note_kept([])
    by_name = nodes(search.before)
    constant = {name for name, node in by_name.items() if node.constant}
    assert constant == {"two", "wide"}


def test_a_second_evaluation_changes_nothing(search: Search) -> None:
    assert not search.before.values.evaluate()


def test_linked_nodes_give_one_number_to_what_reads_them(search: Search) -> None:
    ours, theirs = nodes(search.before), nodes(search.after)
    assert ours["less"].token != theirs["less"].token
    for name in ("a", "b"):
        ours[name].token = theirs[name].token = search.tokens.of(name)
        ours[name].partner, theirs[name].partner = theirs[name], ours[name]
    for side in (search.before, search.after):
        side.values.evaluate()
    assert ours["less"].token == theirs["less"].token
    assert ours["call"].token == theirs["call"].token
    assert ours["out"].token != theirs["out"].token


def test_an_operation_is_found_by_its_operands(search: Search) -> None:
    values, by_name = search.before.values, nodes(search.before)
    read = values.read(by_name["sum"])
    assert values.find(by_name["turned"], read) == by_name["sum"].token
    assert values.find(by_name["sum"], [read[0], read[0]]) is None


def test_a_duplicate_of_a_kept_line_is_its_twin(read: Read) -> None:
    text = TEXT.replace("OPCODE", "add")
    search = start(
        read(text),
        read(text.replace("  %second = f32[8]{0} negate(%a)\n", "").replace("%second", "%first")),
    )
    search.evaluate()
    twin = search.before.values.kept_twin(nodes(search.before)["second"])
    assert twin is not None
    assert (twin.instruction.name, twin.kept) == ("first", True)
    assert "first" not in nodes(search.before)


def test_a_key_has_its_number_until_it_is_given_another() -> None:
    tokens = Tokens()
    assert (tokens.of("a"), tokens.of("b"), tokens.of("a")) == (0, 1, 0)
    assert tokens.find("c") is None
    tokens.name("c", 1)
    assert (tokens.find("c"), tokens.of("d")) == (1, 3)


def test_the_kinds_of_a_tuple_are_types_and_ranks_without_sizes() -> None:
    assert kinds_of(parse_shape("(f32[8,2], s32[])")) == (("f32", 2), ("s32", 0))
    assert kinds_of(parse_shape("f32[8]")) == ()


def test_nodes_come_after_their_operands(search: Search) -> None:
    order = operands_first([nodes(search.before)["out"]], lambda node: node.inputs)
    place = {node.instruction.name: number for number, node in enumerate(order)}
    assert place["first"] < place["sum"] < place["call"] < place["out"]
    assert "other" not in place
