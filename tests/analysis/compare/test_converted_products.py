"""Matmuls that run in another type than requested: found by their lines, never by counts alone."""

from types import SimpleNamespace
from typing import Any, cast

from tests.modules import parse_module

from xlareport.analysis.compare import cause_words
from xlareport.analysis.compare.converted_products import find_converted, list_typed_products
from xlareport.analysis.compare.given_program import read_program
from xlareport.analysis.compare.program_changes import find_program_changes

MODULE = """HloModule m

ENTRY %main (x: bf16[8,8], k: bf16[8,8]) -> bf16[8,8] {
  %x = bf16[8,8]{1,0} parameter(0), metadata={op_name="x"}
  %k = bf16[8,8]{1,0} parameter(1), metadata={op_name="cache['k']"}
  %d = bf16[8,8]{1,0} dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/mlp/dot_general" source_file="m.py" source_line=3}
  %e = bf16[8,8]{1,0} dot(%x, %d), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/mlp/dot_general" source_file="m.py" source_line=4}
  %c = bf16[8,8]{1,0} convert(%e)
  ROOT %a = bf16[8,8]{1,0} dot(%c, %k), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/attention/dot_general" source_file="m.py" source_line=9}
}
"""
WIDE_CACHE = (
    MODULE.replace("k: bf16", "k: f32")
    .replace("%k = bf16", "%k = f32")
    .replace("%c = bf16", "%c = f32")
    .replace("%a = bf16", "%a = f32")
)
"""Its first two matmuls are of bf16, the one of the cache is of f32."""


def sentence(base: str, head: str, final: str) -> tuple[str, str]:
    """Return the words and the reason of the first change between two programs."""
    programs = [read_program(parse_module(text)) for text in (base, head)]
    products = list_typed_products(parse_module(final))
    sides = [
        SimpleNamespace(facts=SimpleNamespace(program=program, typed_products=products))
        for program in programs
    ]
    present = SimpleNamespace(summary=SimpleNamespace(origin=SimpleNamespace(backend="cpu")))
    for side in sides:
        side.facts.collective_types = ()
    comparison = SimpleNamespace(
        base=sides[0], head=sides[1], sides=sides, quantities=(), present=present
    )
    change = find_program_changes(*programs)[0]
    known = cast("Any", comparison)
    return cause_words.program(change, known), cause_words.why_program(change, known)


def test_matmuls_of_other_lines_say_nothing_of_the_requested_type() -> None:
    words, why = sentence(MODULE, WIDE_CACHE, WIDE_CACHE)
    assert words == (
        "1 argument is f32 instead of bf16: `cache['k']`. 1 of 3 matmuls reads f32, 0 in the base."
    )
    assert not why


def test_a_matmul_of_the_same_line_in_another_type_is_told() -> None:
    words, why = sentence(MODULE, WIDE_CACHE, MODULE)
    assert words.endswith(" 1 f32 matmul runs in bf16.")
    assert why == "The CPU compiler converts the operands of these matmuls."


def test_a_program_whose_matmuls_changed_type_computes_in_it() -> None:
    wide = MODULE.replace("bf16", "f32")
    words, _ = sentence(wide, MODULE, wide)
    assert (
        words
        == "The program computes in bf16 instead of f32 (2 arguments). 3 bf16 matmuls run in f32."
    )


def test_a_line_that_still_has_the_type_or_no_matmul_shows_nothing() -> None:
    given = list_typed_products(parse_module(WIDE_CACHE))
    both = MODULE + "\n" + WIDE_CACHE.partition("ENTRY ")[2].replace("%main", "%again")
    assert find_converted(given, list_typed_products(parse_module(both)), "f32") is None
    without = MODULE.replace(
        "dot(%c, %k), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "add(%c, %k)"
    )
    assert find_converted(given, list_typed_products(parse_module(without)), "f32") is None
    unnamed = MODULE.replace(' source_file="m.py" source_line=9', "")
    assert find_converted(given, list_typed_products(parse_module(unnamed)), "f32") is None
