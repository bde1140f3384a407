"""What changed between two dumps, in sentences."""

from xlareport.analysis.compare.causes import Cause
from xlareport.knowledge.grades import Grade
from xlareport.pages.compare.source_changes import describe_changes, describe_program_change


def test_what_changed_is_the_program_its_options_or_the_compiler() -> None:
    def cause(kind: str) -> Cause:
        return Cause(kind, "x.", Grade.EXACT, ())

    assert describe_changes([]) == ""
    assert describe_changes([cause("trip count"), cause("operations")]).startswith(
        "The program (its input HLO); no change of options"
    )
    assert (
        describe_changes([cause("option"), cause("dtype")])
        == "The program (its input HLO), options."
    )
    assert describe_changes([cause("compiler"), cause("pass")]) == "The compiler."
    assert describe_changes([cause("pass")]) == "The same program, compiled differently."


def test_a_changed_program_is_a_clause_of_its_layers_before_its_sizes() -> None:
    def cause(kind: str, clause: str) -> Cause:
        return Cause(kind, f"{clause}, at `model.py:3`.", Grade.EXACT, (), clause=clause)

    layers = cause("layers", "the program has 3 layers instead of 2")
    size = cause("size", "a dimension of 1 argument is 8 instead of 4")
    dtype = cause("dtype", "the program computes in bf16 instead of f32")
    assert describe_program_change([dtype, size, layers]) == layers.clause
    assert describe_program_change([dtype, size]) == size.clause
    assert describe_program_change([dtype]) == "the program was changed"
    assert describe_program_change([cause("option", "")]) == ""
