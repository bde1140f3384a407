"""Fusions of two programs that hold the same work, and their parameters."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import ChangeCause, Pairing, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]
PATH = "jit(step)/update"


def _line(name: str, code: str, op: str) -> str:
    return f'  %{name} = {code}, metadata={{op_name="{PATH}/{op}"}}\n'


def _work(table: str, gradient: str, scale: str) -> str:
    return (
        _line("mul.1", f"f32[8]{{0}} multiply(%{gradient}, %{gradient})", "mul")
        + _line("div.1", f"f32[8]{{0}} divide(%mul.1, %{scale})", "div")
        + _line("sub.1", f"f32[8]{{0}} subtract(%{table}, %div.1)", "sub")
    )


BASE = (
    "%fused_subtract (p.0: f32[8], p.1: f32[8], p.2: f32[8]) -> f32[8] {\n"
    "  %p.0 = f32[8]{0} parameter(0)\n  %p.1 = f32[8]{0} parameter(1)\n"
    "  %p.2 = f32[8]{0} parameter(2)\n"
    + _work("p.0", "p.1", "p.2").replace("  %sub.1", "  ROOT %sub.1")
    + "}\n\nENTRY %main (table: f32[8], g: f32[8], s: f32[8]) -> f32[8] {\n"
    '  %table = f32[8]{0} parameter(0), metadata={op_name="table"}\n'
    '  %g = f32[8]{0} parameter(1), metadata={op_name="g"}\n'
    '  %s = f32[8]{0} parameter(2), metadata={op_name="s"}\n'
    + "  ROOT %loop_subtract_fusion = f32[8]{0} fusion(%table, %g, %s), kind=kLoop,"
    f' calls=%fused_subtract, metadata={{op_name="{PATH}/sub"}}\n}}\n'
)
HEAD = (
    "%fused_convert (q.0: bf16[8], q.1: f32[8], q.2: f32[8]) -> bf16[8] {\n"
    "  %q.0 = bf16[8]{0} parameter(0)\n"
    + _line("up", "f32[8]{0} convert(%q.0)", "convert_element_type")
    + "  %q.1 = f32[8]{0} parameter(1)\n  %q.2 = f32[8]{0} parameter(2)\n"
    + _work("up", "q.2", "q.1")
    + _line("down", "bf16[8]{0} convert(%sub.1)", "convert_element_type").replace("%", "ROOT %", 1)
    + "}\n\nENTRY %main (table: bf16[8], g: f32[8], s: f32[8]) -> bf16[8] {\n"
    '  %table = bf16[8]{0} parameter(0), metadata={op_name="table"}\n'
    '  %g = f32[8]{0} parameter(1), metadata={op_name="g"}\n'
    '  %s = f32[8]{0} parameter(2), metadata={op_name="s"}\n'
    + "  ROOT %loop_convert_fusion = bf16[8]{0} fusion(%table, %s, %g), kind=kLoop,"
    f' calls=%fused_convert, metadata={{op_name="{PATH}/convert_element_type"}}\n}}\n'
)


@pytest.fixture
def pairings(read: Read) -> dict[str, Pairing]:
    result = match(read(BASE), read(HEAD), same_program=False).pairings
    return {place.instruction: pairing for pairing in result for place in pairing.before}


def test_a_fusion_that_gained_converts_is_the_same_fusion(pairings: dict[str, Pairing]) -> None:
    fusion = pairings["loop_subtract_fusion"]
    assert fusion.relation is Relation.SAME
    assert [place.instruction for place in fusion.after] == ["loop_convert_fusion"]
    assert fusion.grade is Grade.MATCHED


def test_parameters_go_with_their_operands(pairings: dict[str, Pairing]) -> None:
    after = {name: pairings[name].after[0].instruction for name in ("p.0", "p.1", "p.2")}
    assert after == {"p.0": "q.0", "p.1": "q.2", "p.2": "q.1"}


def test_the_account_is_what_was_added(read: Read) -> None:
    change = step(read(BASE), read(HEAD), "The head", same_program=False)
    words = " ".join((change.headline, *change.account))
    assert "added 2 converts" in words
    assert "merged" not in words
    assert "created" not in words
    assert "inlined" not in words
    assert "oved" not in words


MORE = (
    _line("exp.1", "f32[8]{0} exponential(%sub.1)", "exp")
    + _line("tanh.1", "f32[8]{0} tanh(%exp.1)", "tanh")
    + _line("neg.1", "f32[8]{0} negate(%tanh.1)", "neg")
)
SQUARE = _line("mul.1", "f32[8]{0} multiply(%p.1, %p.1)", "mul")


def test_a_fusion_without_a_piece_that_another_one_computes_is_the_same_fusion(read: Read) -> None:
    base = BASE.replace("ROOT %sub.1", "%sub.1").replace("}\n\nENTRY", f"{MORE}}}\n\nENTRY")
    base = base.replace("  %neg.1", "  ROOT %neg.1")
    head = HEAD.replace(SQUARE.replace("p.1", "q.2"), "").replace("%mul.1", "%q.2")
    head = head.replace("  ROOT %down", f"{MORE}  ROOT %down").replace(
        "convert(%sub.1)", "convert(%neg.1)"
    )
    square = "%square (p.1: f32[8]) -> f32[8] {\n  %p.1 = f32[8]{0} parameter(0)\n"
    square += f"{SQUARE.replace('%mul', 'ROOT %mul', 1)}}}\n\n"
    call = "  %squared = f32[8]{0} fusion(%g), kind=kLoop, calls=%square\n  ROOT %loop"
    head = square + head.replace("  ROOT %loop", call).replace(
        "(%table, %s, %g)", "(%table, %s, %squared)"
    )
    words = step(read(base), read(head), "The head", same_program=False).headline
    assert "merged" not in words
    result = match(read(base), read(head), same_program=False).pairings
    after = {
        place.instruction: [other.instruction for other in pairing.after]
        for pairing in result
        for place in pairing.before
    }
    assert after["loop_subtract_fusion"] == ["loop_convert_fusion"]


def test_parameters_of_what_one_program_lacks_were_not_inlined(read: Read) -> None:
    """Nothing was inlined where two programs are compared: a counterpart was not found."""
    base = BASE.replace("ROOT %loop", "%loop").replace(
        'update/sub"}\n}\n',
        'update/sub"}\n  ROOT %r = (f32[8], f32[8]) tuple(%s, %loop_subtract_fusion)\n}\n',
    )
    head = base[base.index("ENTRY") : base.index("  %loop")]
    head += "  ROOT %r = (f32[8]) tuple(%s)\n}\n"
    result = match(read(base), read(head), same_program=False).pairings
    causes = {pairing.cause for pairing in result if pairing.cause is not None}
    assert ChangeCause.ARGUMENT not in causes
    gone = [pairing for pairing in result if pairing.cause is ChangeCause.UNMATCHED]
    assert gone
    assert {pairing.grade for pairing in gone} == {Grade.MATCHED}


CALLED = """%f (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %e = f32[8]{0} exponential(%p)
  ROOT %t = f32[8]{0} tanh(%e)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %c = f32[8]{0} call(%a), to_apply=%f
  ROOT %n = f32[8]{0} negate(%c)
}
"""
PLAIN = """ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %e = f32[8]{0} exponential(%a)
  %t = f32[8]{0} tanh(%e)
  ROOT %n = f32[8]{0} negate(%t)
}
"""


def test_no_call_is_inlined_or_outlined_between_two_programs(read: Read) -> None:
    for base, head, verb in ((CALLED, PLAIN, "inlined"), (PLAIN, CALLED, "outlined")):
        of_two, of_one = (
            step(read(base), read(head), "The head", same_program=same) for same in (False, True)
        )
        assert verb in of_one.headline
        assert verb not in " ".join((of_two.headline, *of_two.account))
