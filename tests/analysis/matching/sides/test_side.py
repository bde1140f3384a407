"""One of the two modules of a search."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.search_start import start
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_TEXT = """
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %once = f32[8]{0} negate(%a)
  %twice = f32[8]{0} cosine(%a)
  %pair = (f32[8]{0}, f32[8]{0}) custom-call(%once, %twice), custom_call_target="f"
  %taken = f32[8]{0} get-tuple-element(%pair), index=1
  %again = f32[8]{0} add(%taken, %twice)
  ROOT %out = f32[8]{0} OPCODE(%again, %b)
}
"""


@pytest.fixture
def search(read: Read) -> Search:
    before, after = (read(_TEXT.replace("OPCODE", opcode)) for opcode in ("add", "multiply"))
    search = start(before, after, same_program=False)  # of two programs no line is kept
    search.evaluate()
    return search


def test_a_node_that_one_operand_names_has_one_user(search: Search) -> None:
    nodes = {node.instruction.name: node for node in search.before.nodes}
    assert search.before.has_one_user(nodes["once"])
    assert not search.before.has_one_user(nodes["twice"])


def test_the_value_of_an_element_is_not_that_of_the_tuple(search: Search) -> None:
    nodes = {node.instruction.name: node for node in search.before.nodes}
    pair = nodes["pair"]
    values = {search.before.value_of((pair, path)) for path in ((), (0,), (1,))}
    assert len(values) == 3
    read = search.before.graph.operands(nodes["again"])[0]
    assert search.before.value_of(read) == search.before.value_of((pair, (1,)))
