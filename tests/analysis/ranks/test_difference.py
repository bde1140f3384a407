"""Of very many ranks that differ harmlessly, the line that first differs is told."""

from pathlib import Path

import pytest
from tests.analysis.ranks.program import STAGES, replaced, write_ranks
from tests.modules import parse_module

from xlareport.analysis.ranks.instructions import list_differences
from xlareport.report import BuildOptions, read_report


def test_of_many_twins_the_line_that_differs_is_told(tmp_path: Path) -> None:
    edits = {
        rank: dict.fromkeys(STAGES, replaced("jit(step)/psum", f"rank{rank}/psum"))
        for rank in range(1, 8)
    }
    edits[7] = dict.fromkeys(STAGES, replaced("%call", "%call.7"))
    (group,) = read_report(write_ranks(tmp_path, 8, edits), BuildOptions()).rank_groups
    assert group.first is not None
    differences = [group.first, *group.others]
    assert {difference.verdict for difference in differences} == {"harmless"}
    kinds = {
        (difference.kind, difference.computation, difference.instruction, difference.attribute)
        for difference in differences
    }
    assert kinds == {
        ("metadata", "main", "reduce", "metadata"),
        ("names", "main", "call.7", "line"),
    }


@pytest.mark.parametrize(("shape", "kind"), [("f32[]", "floats"), ("s32[]", "constants")])
def test_another_float_is_another_result_and_another_integer_a_number_of_the_rank(
    shape: str, kind: str
) -> None:
    ours, theirs = (
        parse_module(f"HloModule m\n\nENTRY e {{\n  ROOT c = {shape} constant({value})\n}}\n")
        for value in (1, 2)
    )
    (difference,) = list_differences(ours, theirs)
    assert difference.kind == kind
