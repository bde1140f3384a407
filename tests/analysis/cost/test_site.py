"""An instruction in its place: shapes of operands, and attributes as numbers."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.site import Site, parse_integers, shapes_of
from xlareport.hlo.shape import MOST_DIMENSIONS

TEXT = """HloModule m

ENTRY e {
  p = (f32[2,3], (s32[4], pred[])) parameter(0)
  x = f32[2,?] custom-call(p#0, p#1.0), custom_call_target="f"
  y = f32[3,2] transpose(p#0), dimensions={1,0}
  z = f32[2] custom-call(missing, y), custom_call_target="f"
  ROOT w = f32[2,3] custom-call(p#1, y), custom_call_target="f"
}
"""


def site(name: str) -> Site:
    entry = parse_module(TEXT.replace("p#1.0", "p#1#0")).entry
    assert entry is not None
    return Site(entry.by_name[name], shapes_of(entry))


def test_operands_are_elements_of_tuples_too() -> None:
    assert [shape.text for shape in site("x").operands] == ["f32[2,3]", "s32[4]"]
    assert [shape.text for shape in site("w").known_operands] == [
        "(f32[2,3], (s32[4], pred[]))",
        "f32[3,2]",
    ]


@pytest.mark.parametrize(("number", "message"), [(0, "not in the computation"), (2, "missing")])
def test_an_unknown_operand_cannot_be_counted(number: int, message: str) -> None:
    with pytest.raises(UncountableError, match=message):
        site("z").operand(number)
    assert [shape.text for shape in site("z").known_operands] == ["f32[3,2]"]


def test_numbers_of_an_attribute() -> None:
    assert site("y").numbers("dimensions") == (1, 0)
    assert site("y").numbers("slice") == ()


@pytest.mark.parametrize("number", [-1, 2])
def test_a_dimension_that_is_not_there_cannot_be_counted(number: int) -> None:
    with pytest.raises(UncountableError, match="no dimension"):
        site("x").dimension(site("x").shape, number)


def test_an_unbounded_dimension_cannot_be_counted() -> None:
    assert site("x").dimension(site("x").shape, 0) == 2
    with pytest.raises(UncountableError, match="unbounded"):
        site("x").dimension(site("x").shape, 1)


@pytest.mark.parametrize("text", ["9" * 20, "1," * (MOST_DIMENSIONS + 1)])
def test_absurd_numbers_are_not_counted_with(text: str) -> None:
    with pytest.raises(UncountableError, match="too long"):
        parse_integers(text)


def test_integers_may_be_negative() -> None:
    assert parse_integers("{-1, 2}x3") == (-1, 2, 3)
