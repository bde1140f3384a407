"""Work of two ends of a compilation that alone has its opcode, op_name and Python stack."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.rules.same_stacks import read_alike, same_stacks
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.search_start import start
from xlareport.knowledge.grades import Grade

_HEADER = """HloModule m

FileNames
1 "model.py"

FunctionNames
1 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=0 end_column=1}
2 {file_name_id=1 function_name_id=1 line=4 end_line=4 column=0 end_column=1}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}

"""
_META = ', metadata={op_name="f/OP" stack_frame_id='
_BEFORE = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8] parameter(0)
  %mul.1 = f32[8] multiply(%a, %a)MUL1}
  ROOT %mul.2 = f32[8] multiply(%mul.1, %a)MUL2}
}
""".replace("MUL", _META.replace("OP", "mul"))
_AFTER = """
ENTRY %main_spmd (b: f32[4], c: f32[4]) -> (f32[4], f32[4]) {
  %b = f32[4] parameter(0)
  %c = f32[4] parameter(1)
  %mul.7 = f32[4] multiply(%b, %c)MUL2}
  %mul.8 = f32[4] multiply(%c, %c)MUL1}
  ROOT %t = (f32[4], f32[4]) tuple(%mul.7, %mul.8)
}
""".replace("MUL", _META.replace("OP", "mul"))


def _search(before: str, after: str) -> Search:
    search = start(*(parse_module(_HEADER + text) for text in (before, after)))
    same_stacks(search)
    return search


def _partners(search: Search) -> dict[str, str]:
    return {
        node.instruction.name: node.partner.instruction.name
        for node in search.before.values.order
        if node.partner is not None
    }


def test_work_of_one_op_name_is_paired_by_its_place_in_the_program() -> None:
    search = _search(_BEFORE, _AFTER)
    assert _partners(search) == {"mul.1": "mul.8", "mul.2": "mul.7"}
    assert {link.grade for link in search.links} == {Grade.MATCHED}


@pytest.mark.parametrize("place", [" stack_frame_id=1", ""])
def test_work_of_one_place_or_of_none_is_not_paired(place: str) -> None:
    before = _BEFORE
    for number in "12":
        before = before.replace(f" stack_frame_id={number}", place)
    assert _partners(_search(before, _AFTER)) == {}


def test_more_elementwise_work_of_one_place_is_noted_as_a_copy() -> None:
    search = _search(_BEFORE, _AFTER.replace("stack_frame_id=1", "stack_frame_id=2"))
    assert _partners(search) == {"mul.2": "mul.7"}
    noted = {
        copy.instruction.name: original.instruction.name
        for copy, (original, _) in search.copies.items()
    }
    assert noted == {"mul.8": "mul.2"}


def test_a_second_sum_of_one_place_may_be_a_part_of_the_first() -> None:
    sums = [
        text.replace("multiply(", "dot(").replace("[8]", "[8,8]").replace("[4]", "[4,4]")
        for text in (_BEFORE, _AFTER.replace("stack_frame_id=1", "stack_frame_id=2"))
    ]
    dots = [
        text.replace(", metadata", ", lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata")
        for text in sums
    ]
    search = _search(*dots)
    assert _partners(search) == {}
    assert not search.copies


_CHAIN = """
ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8] parameter(0)
  %exp.1 = f32[8] exponential(%a), metadata={op_name="f/exp" stack_frame_id=1}
  %exp.2 = f32[8] exponential(%exp.1), metadata={op_name="f/exp" stack_frame_id=1}
  %sin = f32[8] sine(%exp.1), metadata={op_name="f/sin" stack_frame_id=2}
  %cos = f32[8] cosine(%exp.2), metadata={op_name="f/cos" stack_frame_id=2}
  ROOT %t = (f32[8], f32[8]) tuple(%sin, %cos)
}
"""
_COPIED_CHAIN = """
ENTRY %main_spmd (b: f32[4], c: f32[4], d: f32[4]) -> (f32[4], f32[4], f32[4]) {
  %b = f32[4] parameter(0)
  %c = f32[4] parameter(1)
  %d = f32[4] parameter(2)
  %exp.5 = f32[4] exponential(%b), metadata={op_name="f/exp" stack_frame_id=1}
  %sin.5 = f32[4] sine(%exp.5), metadata={op_name="f/sin" stack_frame_id=2}
  %exp.6 = f32[4] exponential(%c), metadata={op_name="f/exp" stack_frame_id=1}
  %exp.7 = f32[4] exponential(%exp.6), metadata={op_name="f/exp" stack_frame_id=1}
  %cos.5 = f32[4] cosine(%exp.7), metadata={op_name="f/cos" stack_frame_id=2}
  %exp.8 = f32[4] exponential(%d), metadata={op_name="f/exp" stack_frame_id=1}
  ROOT %t.5 = (f32[4], f32[4], f32[4]) tuple(%sin.5, %cos.5, %exp.8)
}
"""


def test_of_several_of_one_place_the_matched_user_says_which_one_it_is() -> None:
    search = _search(_CHAIN, _COPIED_CHAIN)
    assert _partners(search) == {"sin": "sin.5", "cos": "cos.5"}
    read_alike(search)
    assert _partners(search) == {"sin": "sin.5", "cos": "cos.5", "exp.1": "exp.6", "exp.2": "exp.7"}
    copies = {
        copy.instruction.name: original.instruction.name
        for copy, (original, _) in search.copies.items()
    }
    assert copies == {"exp.5": "exp.1"}
