"""Sums of split products, which have their op_name and Python stack."""

from tests.modules import parse_module

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation

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
_DOT = ', metadata={op_name="f/dot_general" stack_frame_id=1}'
_BEFORE = f"""HloModule f, num_partitions=2
{_TABLES}
ENTRY %main (a: bf16[16,64], b: bf16[64,32]) -> bf16[16,32] {{
  %a = bf16[16,64] parameter(0)
  %b = bf16[64,32] parameter(1)
  %dot.1 = bf16[16,32] dot(%a, %b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}{_DOT}
  ROOT %sin = bf16[16,32] sine(%dot.1), metadata={{op_name="f/sin" stack_frame_id=2}}
}}
"""
_SPLIT = f"""HloModule f, is_scheduled=true, num_partitions=2
{_TABLES}
%add (x: f32[], y: f32[]) -> f32[] {{
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}}

%product (p: bf16[8,4,16], q: bf16[4,16,32]) -> f32[4,8,32] {{
  %p = bf16[8,4,16] parameter(0)
  %q = bf16[4,16,32] parameter(1)
  ROOT %dot.5 = f32[4,8,32] dot(%p, %q), lhs_batch_dims={{1}}, lhs_contracting_dims={{2}}, \
rhs_batch_dims={{0}}, rhs_contracting_dims={{1}}{_DOT}
}}

%summed (r: f32[4,256]) -> bf16[8,32] {{
  %r = f32[4,256] parameter(0)
  %zero = f32[] constant(0)
  %reduce.5 = f32[256] reduce(%r, %zero), dimensions={{0}}, to_apply=%add{_DOT}
  %narrow = bf16[256] convert(%reduce.5){_DOT}
  %rows = bf16[8,32] bitcast(%narrow)
  ROOT %sin.5 = bf16[8,32] sine(%rows), metadata={{op_name="f/sin" stack_frame_id=2}}
}}

ENTRY %main_spmd (c: bf16[8,64], d: bf16[64,32]) -> bf16[8,32] {{
  %c = bf16[8,64] parameter(0)
  %d = bf16[64,32] parameter(1)
  %c.4 = bf16[8,4,16] bitcast(%c)
  %d.4 = bf16[4,16,32] bitcast(%d)
  %gemm = f32[4,8,32] fusion(%c.4, %d.4), kind=kCustom, calls=%product
  %flat = f32[4,256] bitcast(%gemm)
  ROOT %fusion = bf16[8,32] fusion(%flat), kind=kLoop, calls=%summed
}}
"""


def _parts(after: str) -> tuple[Relation, set[str]]:
    matching = match(parse_module(_BEFORE), parse_module(after))
    pairing = matching.pairing_before(Place("main", "dot.1"))
    assert pairing is not None
    return pairing.relation, {place.instruction for place in pairing.after}


def test_the_sum_of_a_split_dot_and_its_convert_belong_to_the_dot() -> None:
    assert _parts(_SPLIT) == (Relation.SPLIT, {"dot.5", "reduce.5", "narrow"})


def test_a_sum_of_another_line_of_the_program_is_its_own() -> None:
    other = f"to_apply=%add{_DOT}".replace("stack_frame_id=1", "stack_frame_id=2")
    relation, parts = _parts(_SPLIT.replace(f"to_apply=%add{_DOT}", other))
    assert "reduce.5" not in parts, relation


def test_a_convert_of_the_result_alone_is_no_part_of_the_dot() -> None:
    whole = (
        _SPLIT.replace("f32[4,8,32] dot", "f32[8,32] dot")
        .replace("bf16[8,4,16]", "bf16[8,64]")
        .replace("bf16[4,16,32]", "bf16[64,32]")
        .replace("f32[4,8,32]", "f32[8,32]")
        .replace("f32[4,256]", "f32[256]")
        .replace("lhs_batch_dims={1}, lhs_contracting_dims={2}", "lhs_contracting_dims={1}")
        .replace("rhs_batch_dims={0}, rhs_contracting_dims={1}", "rhs_contracting_dims={0}")
        .replace(f"reduce(%r, %zero), dimensions={{0}}, to_apply=%add{_DOT}", "bitcast(%r)")
    )
    assert _parts(whole)[1] == {"dot.5"}
