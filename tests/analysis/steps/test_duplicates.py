"""Two instructions are duplicates if they do the same to equal operands."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.duplicates import are_duplicates
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_TEXT = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %t.1 = f32[8]{0} tanh(%a)
  %t.2 = f32[8]{0} tanh(%a)
  %x = f32[8]{0} FIRST
  %y = f32[8]{0} SECOND
  ROOT %out = f32[8]{0} add(%x, %y)
}
"""


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ("sine(%t.1)", "sine(%t.2)", True),
        ("sine(%t.1)", "cosine(%t.2)", False),
        ("sine(%t.1)", "sine(%a)", False),
        (
            "rng(%a, %t.1), distribution=rng_uniform",
            "rng(%a, %t.2), distribution=rng_uniform",
            False,
        ),
        ("add(%t.1, %t.2)", "add(%t.2, %t.1)", True),
        ("subtract(%t.1, %a)", "subtract(%a, %t.1)", False),
    ],
)
def test_equal_operands_make_duplicates(
    read: Read, first: str, second: str, *, equal: bool
) -> None:
    module = read(_TEXT.replace("FIRST", first).replace("SECOND", second))
    assert are_duplicates(module, Place("main", "x"), Place("main", "y")) == equal


def test_elements_of_equal_tuples_are_duplicates(read: Read) -> None:
    tuples = "".join(
        f"  %pair.{n} = (f32[8]{{0}}, f32[8]{{0}}) tuple(%t.{n}, %a)\n" for n in (1, 2)
    )
    text = _TEXT.replace("  %x", f"{tuples}  %x")
    for element, equal in ((0, True), (1, False)):
        lines = text.replace("FIRST", "get-tuple-element(%pair.1), index=0")
        lines = lines.replace("SECOND", f"get-tuple-element(%pair.2), index={element}")
        assert are_duplicates(read(lines), Place("main", "x"), Place("main", "y")) == equal


def test_another_layout_is_no_duplicate(read: Read) -> None:
    text = _TEXT.replace("FIRST", "tanh(%a)").replace("SECOND", "tanh(%a)")
    module = read(text.replace("%y = f32[8]{0}", "%y = f32[8]{0:S(1)}"))
    assert not are_duplicates(module, Place("main", "x"), Place("main", "y"))


def test_chains_that_are_too_long_are_not_known_to_be_equal(read: Read) -> None:
    chains = "".join(
        f"  %{side}{n} = f32[8]{{0}} tanh(%{side}{n - 1})\n" for side in "cd" for n in range(1, 100)
    )
    starts = "  %c0 = f32[8]{0} tanh(%a)\n  %d0 = f32[8]{0} tanh(%a)\n"
    text = _TEXT.replace("  %x", f"{starts}{chains}  %x")
    module = read(text.replace("FIRST", "sine(%c20)").replace("SECOND", "sine(%d20)"))
    assert are_duplicates(module, Place("main", "x"), Place("main", "y"))
    assert not are_duplicates(module, Place("main", "c99"), Place("main", "d99"))
