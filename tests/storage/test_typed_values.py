"""Values of structs as JSON: the same come back, and what has other types is refused."""

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from msgspec import Struct, defstruct, field

from xlareport.storage.typed_values import (
    Substitute,
    fingerprint_type,
    list_values,
    read_values,
)


class Color(StrEnum):
    RED = "red"


class Part(Struct, frozen=True):
    name: str
    size: int | None = None


class Spot(NamedTuple):
    name: str
    part: Part


class Whole(Struct, frozen=True):
    parts: tuple[Part, ...]
    digest: bytes
    share: float
    known: bool
    color: Color
    kind: Literal["", "name"]
    pair: tuple[str, int]
    words: frozenset[str]
    by_name: Mapping[str, Part] = field(default_factory=dict)
    spot: Spot | None = None
    place: Path = Path()


class OtherPart(Struct, frozen=True):
    name: str
    bytes: int | None = None


WHOLE = Whole(
    (Part("a", 1), Part("\N{GREEK SMALL LETTER PI}")),
    b"\x00\xff",
    0.5,
    known=True,
    color=Color.RED,
    kind="name",
    pair=("x", 2),
    words=frozenset({"b", "a"}),
    by_name={"a": Part("a")},
    spot=Spot("c", Part("d")),
)


def test_the_same_comes_back() -> None:
    back = read_values(Whole, json.loads(json.dumps(list_values(WHOLE))))
    assert back == WHOLE
    assert type(back.color) is Color
    assert type(back.spot) is Spot


def test_a_path_is_not_kept() -> None:
    stated = list_values(WHOLE)
    assert list_values(Path("/somewhere")) == ""
    stated[-1] = "/etc/passwd"
    assert read_values(Whole, stated).place == Path()


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (0, [["a"]]),
        (0, [["a", "1"]]),
        (0, [["a", True]]),
        (0, [["a", 1 << 63]]),
        (0, [["a", 1, 2]]),
        (0, "ab"),
        (1, "xyz"),
        (1, 7),
        (2, "0.5"),
        (2, float("nan")),
        (2, float("inf")),
        (3, 1),
        (4, "blue"),
        (4, []),
        (5, "other"),
        (6, ["x"]),
        (6, ["x", 2, 3]),
        (7, {"a": 1}),
        (7, [None]),
        (8, []),
        (8, {"a": ["\ud800", None]}),
    ],
)
def test_other_types_are_refused(number: int, value: Any) -> None:
    stated = list_values(WHOLE)
    stated[number] = value
    with pytest.raises((ValueError, TypeError)):
        read_values(Whole, stated)


def test_a_type_of_other_fields_has_another_fingerprint() -> None:
    assert fingerprint_type(Part) == fingerprint_type(Part)
    kinds = [Part, OtherPart, Whole, tuple[Part, ...]]
    assert len({fingerprint_type(kind) for kind in kinds[:3]}) == 3


def test_a_type_that_moved_to_another_module_has_the_same_fingerprint() -> None:
    def outer(module: str) -> type:
        inner = defstruct("Inner", [("size", int)], module=module, frozen=True)
        fields = [("parts", tuple[inner, ...]), ("first", inner | None), ("kind", Literal["a"])]
        return defstruct("Outer", fields, module=module, frozen=True)

    assert fingerprint_type(outer("here")) == fingerprint_type(outer("there"))


def test_each_reading_has_substitutes_of_its_own() -> None:
    """What reads a type is made once, with whatever substitutes it is read."""
    spot = Spot("a", Part("b"))
    for name in ("c", "d"):
        known = {
            Part: Substitute(
                lambda part, name=name: [name, part.name], lambda value: Part(value[0])
            )
        }
        listed = list_values(spot, known)
        assert listed == ["a", [name, "b"]]
        assert read_values(Spot, listed, known) == Spot("a", Part(name))
    assert read_values(Spot, list_values(spot)) == spot


def _named(name: str, part: Part) -> list[str]:
    return [name, part.name]
