"""What a compilation for several devices expanded has its op_name and Python stack."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.knowledge.grades import Grade

_TABLES = """
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
_GATHER = ', metadata={op_name="f/gather" stack_frame_id=1}'
_BEFORE = f"""HloModule f, num_partitions=2
{_TABLES}
ENTRY %main (a: f32[8,4], i: s32[2,4]) -> f32[4] {{
  %a = f32[8,4] parameter(0)
  %i = s32[2,4] parameter(1)
  %rows = f32[2,4] custom-call(%a, %i), custom_call_target="Rows"{_GATHER}
  ROOT %old = f32[4] custom-call(%rows), custom_call_target="Unknown"
}}
"""
_AFTER = f"""HloModule f, is_scheduled=true, num_partitions=2
{_TABLES}
%fused (p: f32[4,4], q: s32[2,4]) -> f32[2,4] {{
  %p = f32[4,4] parameter(0)
  %q = s32[2,4] parameter(1)
  %flat = f32[16] bitcast(%p)
  %index = pred[2,4] compare(%q, %q), direction=EQ{_GATHER}
  %row = f32[2,4] slice(%p), slice={{[0:2], [0:4]}}{_GATHER}
  ROOT %rest = f32[2,4] select(%index, %row, %row){_GATHER}
}}

ENTRY %main_spmd (b: f32[4,4], j: s32[2,4]) -> f32[3] {{
  %b = f32[4,4] parameter(0)
  %j = s32[2,4] parameter(1)
  %fusion = f32[2,4] fusion(%b, %j), kind=kLoop, calls=%fused
  ROOT %new = f32[3] custom-call(%fusion), custom_call_target="Other"
}}
"""


def _parts(before: str, after: str) -> tuple[Relation, Grade, set[str]]:
    pairing = match(parse_module(before), parse_module(after)).pairing_before(Place("main", "rows"))
    assert pairing is not None
    return pairing.relation, pairing.grade, {place.instruction for place in pairing.after}


def test_the_new_work_of_its_place_in_the_program_is_what_it_became() -> None:
    assert _parts(_BEFORE, _AFTER) == (
        Relation.EXPANDED,
        Grade.MATCHED,
        {"index", "row", "rest"},
    )


@pytest.mark.parametrize(
    ("found", "other"),
    [(_GATHER, ""), ("stack_frame_id=1}", "stack_frame_id=2}"), ("f/gather", "f/take")],
    ids=["no place", "another place", "another op_name"],
)
def test_new_work_of_another_place_is_not(found: str, other: str) -> None:
    relation, _, parts = _parts(_BEFORE, _AFTER.replace(found, other))
    assert relation is not Relation.EXPANDED, parts


def test_of_two_that_were_made_there_it_is_not_known_which_was_expanded() -> None:
    second = _BEFORE.replace(
        "  ROOT", f'  %more = f32[3,4] custom-call(%i), custom_call_target="Rows"{_GATHER}\n  ROOT'
    )
    assert _parts(second, _AFTER)[0] is not Relation.EXPANDED


def test_a_single_pass_names_what_it_expands_otherwise() -> None:
    assert _parts(_BEFORE, _AFTER.replace(", is_scheduled=true", ""))[0] is not Relation.EXPANDED
