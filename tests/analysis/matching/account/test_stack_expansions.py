"""What a compilation for several devices expanded has its op_name and Python stack."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.account.stack_expansions import stack_expansions
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.search_start import start
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
  %fusion = f32[8] fusion(%b, %j), kind=kLoop, calls=%fused
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


_TWO = f"""HloModule f, num_partitions=2
{_TABLES}
ENTRY %main (a: f32[8,4], b: f32[8,4]) -> (f32[8], f32[8]) {{
  %a = f32[8,4] parameter(0)
  %b = f32[8,4] parameter(1)
  %rows.1 = f32[2,4] custom-call(%a), custom_call_target="Rows"{_GATHER}
  %rows.2 = f32[2,4] custom-call(%b), custom_call_target="Rows"{_GATHER}
  %flat.1 = f32[8] reshape(%rows.1)
  %sin = f32[8] sine(%flat.1), metadata={{op_name="f/sin" stack_frame_id=2}}
  %flat.2 = f32[8] reshape(%rows.2)
  %cos = f32[8] cosine(%flat.2), metadata={{op_name="f/cos" stack_frame_id=2}}
  ROOT %t = (f32[8], f32[8]) tuple(%sin, %cos)
}}
"""
_TWO_EXPANDED = f"""HloModule f, is_scheduled=true, num_partitions=2
{_TABLES}
%fused (p: f32[2,4], q: f32[2,4]) -> f32[8] {{
  %p = f32[2,4] parameter(0)
  %q = f32[2,4] parameter(1)
  %row.1 = f32[2,4] clamp(%p, %q, %p){_GATHER}
  %row.2 = f32[2,4] power(%row.1, %q){_GATHER}
  %flat.6 = f32[8] bitcast(%row.2)
  ROOT %cos.5 = f32[8] cosine(%flat.6), metadata={{op_name="f/cos" stack_frame_id=2}}
}}

ENTRY %main_spmd (c: f32[2,4], d: f32[2,4]) -> (f32[8], f32[8]) {{
  %c = f32[2,4] parameter(0)
  %d = f32[2,4] parameter(1)
  %row.3 = f32[2,4] atan2(%c, %d){_GATHER}
  %row.4 = f32[2,4] remainder(%row.3, %c){_GATHER}
  %flat.5 = f32[8] bitcast(%row.4)
  %sin.5 = f32[8] sine(%flat.5), metadata={{op_name="f/sin" stack_frame_id=2}}
  %fusion = f32[8] fusion(%c, %d), kind=kLoop, calls=%fused
  ROOT %t.5 = (f32[8], f32[8]) tuple(%sin.5, %fusion)
}}
"""


def test_of_several_the_matched_user_of_the_new_work_says_which_was_expanded() -> None:
    search = start(parse_module(_TWO), parse_module(_TWO_EXPANDED))
    old, new = (
        {node.instruction.name: node for node in side.values.order}
        for side in (search.before, search.after)
    )
    for name in ("sin", "cos"):
        search.link(old[name], new[f"{name}.5"], Grade.MATCHED, "")
    gone, added = (
        {node: None for name, node in nodes.items() if "row" in name} for nodes in (old, new)
    )
    parts = {
        node.instruction.name: [part.instruction.name for part in parts]
        for node, parts in stack_expansions(search, gone, added)
    }
    assert parts == {"rows.1": ["row.4", "row.3"], "rows.2": ["row.2", "row.1"]}
