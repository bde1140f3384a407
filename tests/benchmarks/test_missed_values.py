"""A value on both sides of a step is missed where the step connects none of its places."""

import json
import os
import sys
from pathlib import Path

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.step import step

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from asking import ask
from missed_values import CLASSES, ClassQuestion, class_questions
from value_programs import ValueProgram

BEFORE = """\
HloModule m

ENTRY %main (x: bf16[4,8]) -> (bf16[4,8], bf16[4,8]) {
  %x = bf16[4,8]{1,0} parameter(0)
  %sine = bf16[4,8]{1,0} sine(%x)
  %cosine = bf16[4,8]{1,0} cosine(%x)
  ROOT %out = (bf16[4,8]{1,0}, bf16[4,8]{1,0}) tuple(%sine, %cosine)
}
"""
AFTER = BEFORE.replace("%sine", "%logistic").replace("sine(%x)", "logistic(%x)")
AFTER = AFTER.replace("%cosine", "%tanh").replace("cologistic(%x)", "tanh(%x)")


def _question(after: str) -> ClassQuestion:
    change = step(parse_module(BEFORE), parse_module(after))
    [question] = class_questions(change, [("main", "main")])
    return question


def _missed(question: ClassQuestion, values: dict[str, int]) -> set[str]:
    """Return what is missed where instructions have these values."""
    answer = {
        key: [values.get(group[-1].instruction) for group in places]
        for key, places in zip(("before", "after"), question.places, strict=True)
    }
    return {outcome.place.instruction for outcome in question.outcomes(answer) if outcome.missed}


def test_a_value_that_the_partner_has_is_told() -> None:
    assert _missed(_question(AFTER), {"sine": 1, "logistic": 1, "cosine": 2, "tanh": 3}) == set()


def test_a_value_that_another_than_the_partner_has_is_missed() -> None:
    missed = _missed(_question(AFTER), {"sine": 1, "tanh": 1, "cosine": 2, "logistic": 3})
    assert missed == {"sine", "tanh"}


def test_floats_have_64_bits_and_a_bitcast_keeps_the_order_in_memory() -> None:
    lines = BEFORE.replace("%sine = bf16[4,8]{1,0} sine(%x)", "%sine = bf16[8,4]{0,1} bitcast(%x)")
    program = ValueProgram(parse_module(lines), "main", widened=True)
    text, _ = program.text([program.variables[Place("main", "sine")]])
    assert "bf16" not in text
    assert "f64[4,8] reshape(" in text
    assert "f64[8,4] transpose(" in text


@pytest.mark.skipif("XLAREPORT_JAX_PYTHON" not in os.environ, reason="needs jaxlib")
def test_equal_values_are_numbered_alike_in_any_order_of_elements() -> None:
    after = AFTER.replace("%tanh = bf16[4,8]{1,0} tanh(%x)", "%tanh = bf16[4,8]{1,0} sine(%back)")
    moved = "  %turned = bf16[8,4]{1,0} transpose(%x), dimensions={1,0}\n"
    moved += "  %back = bf16[4,8]{1,0} reshape(%turned)\n  %tanh"
    question = _question(after.replace("  %tanh", moved, 1))
    assert json.loads(question.asked)["count"] == len(question.places[0])
    [answer] = ask(
        os.environ["XLAREPORT_JAX_PYTHON"], CLASSES, [question.asked], {"JAX_ENABLE_X64": "1"}, 100
    )
    numbers = {
        place.instruction: number
        for places, key in zip(question.places, ("before", "after"), strict=True)
        for group, number in zip(places, answer[key], strict=True)
        for place in group
    }
    assert numbers["sine"] == numbers["tanh"] != numbers["cosine"]
    assert numbers["x"] == numbers["back"] != numbers["logistic"]
