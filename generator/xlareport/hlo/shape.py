"""Shapes: element types, dimensions, layouts, tuples; sizes in bytes."""

import csv
import re
from collections.abc import Iterator
from functools import cached_property
from importlib.resources import files
from math import prod
from weakref import WeakValueDictionary

from msgspec import Struct

from xlareport.hlo import quoting


class ElementType(Struct, frozen=True):
    """A row of element_types.tsv: one of XLA's PrimitiveType."""

    name: str
    number: int
    """In protos."""
    bits: int | None
    """Bits of an element in memory unless the layout packs it; None without a size."""

    @property
    def is_float(self) -> bool:
        """Whether its values are floating-point numbers, real or complex."""
        return self.name.startswith(("f", "bf", "c"))


def _read() -> dict[str, ElementType]:
    text = files(__package__).joinpath("element_types.tsv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t")
    types = (
        ElementType(row["name"], int(row["number"]), int(row["bits"]) if row["bits"] else None)
        for row in rows
    )
    return {element_type.name: element_type for element_type in types}


ELEMENT_TYPES = _read()
"""By name."""
TYPE_NAMES = {element_type.number: name for name, element_type in ELEMENT_TYPES.items()}
"""The names of element types by their numbers in protos."""
MANTISSA_BITS = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7}
"""Stored bits of the mantissa, as `reduce-precision` counts them."""


def bits_of(element_type: str) -> int | None:
    """Return the bits of an element of a type; None if it has no size, or is none of XLA's."""
    known = ELEMENT_TYPES.get(element_type)
    return known.bits if known else None


def is_float_type(element_type: str) -> bool:
    """Return whether the elements are floating-point numbers, real or complex; False if unknown."""
    known = ELEMENT_TYPES.get(element_type)
    return known is not None and known.is_float


MAX_DEPTH = 100
"""Tuples nested deeper are refused; real ones nest a handful of levels."""

MOST_DIMENSIONS = 1_000
"""Of an array; arrays of programs have a dozen at most, and more take ages to multiply."""
LARGEST = 1 << 62
"""Limit on elements or bytes of an array: XLA counts them in 64 bits."""

UNKNOWN = "unknown"
"""The element type of values whose type a drawing does not show."""

_ARRAY = re.compile(r"([a-z][a-z0-9]*+)\[([^\[\]{}()]*+)\]([a-z]*+)")
_DIMENSION = re.compile(r"\s*+(?:(<=)?\s*+(\d{1,18})|<?=?\?)\s*+\Z", re.ASCII)
_ELEMENT_BITS = re.compile(r"E\((\d{1,4})\)", re.ASCII)


class Shape(Struct, frozen=True, eq=False, dict=True, weakref=True):
    """A shape as written, e.g. `f32[64,128]{1,0:T(8,128)S(1)}` or `(f32[2]{0}, s32[])`.

    All follows from the text, so that is what is compared.
    """

    text: str
    element_type: str
    """`f32`, `bf16`, `token`, ...; `tuple` for tuples, `buffer` for `b(...)`."""
    dimensions: tuple[int | None, ...]
    """None where unbounded (`?`); a bounded dynamic `<=8` counts as 8."""
    layout: str
    """Without braces: `1,0:T(8,128)S(1)`; empty where none was written."""
    elements: tuple["Shape", ...]
    """The members of a tuple, or the content of a buffer."""

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Shape) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def plain(self) -> str:
        """The types and sizes, without layouts and bounds; `?` where a size is not known."""
        if self.element_type == "tuple":
            return f"({', '.join(element.plain for element in self.elements)})"
        return self.type_and_sizes

    @property
    def type_and_sizes(self) -> str:
        """The type and the sizes of an array; `?` where a size is not known."""
        sizes = ",".join("?" if size is None else str(size) for size in self.dimensions)
        return f"{self.element_type}[{sizes}]"

    @property
    def members(self) -> tuple["Shape", ...]:
        """The members of a tuple; an array is its own only member."""
        return self.elements or (self,)

    @property
    def first(self) -> "Shape":
        """The first member of a tuple, such as the result of a call with its scratch memory."""
        return self.members[0]

    @cached_property
    def element_count(self) -> int | None:
        """Scalars in an array, the sum over members of a tuple; None where one is not known.

        Nor is it where it is more than XLA can count.
        """
        if self.elements:
            return _sum(element.element_count for element in self.elements)
        if self.element_type == UNKNOWN:
            return None
        if self.element_type in {"tuple", "token"}:
            return 0
        known = [size for size in self.dimensions if size is not None]
        return _credible(prod(known)) if len(known) == len(self.dimensions) else None

    @cached_property
    def byte_size(self) -> int | None:
        """Logical bytes, without tiling and tuple tables; None if a part is unknown.

        As XLA counts them: `s4` takes a byte unless its layout packs it.
        """
        if self.elements:
            return _sum(element.byte_size for element in self.elements)
        bits = self._element_bits
        if bits is None or self.element_count is None:
            return None
        return _credible(-(-self.element_count * bits // 8))

    @property
    def _element_bits(self) -> int | None:
        packed = _ELEMENT_BITS.search(self.layout)
        return int(packed[1]) if packed and packed[1] != "0" else bits_of(self.element_type)


def _credible(size: int) -> int | None:
    return size if size <= LARGEST else None


def _sum(sizes: Iterator[int | None]) -> int | None:
    total = 0
    for size in sizes:
        if size is None:
            return None
        total += size
    return total


class ShapeError(ValueError):
    """A text that is no shape; `place` is the index of the error, from 0."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(f"{message} at {place}")
        self.message = message
        self.place = place


_known: WeakValueDictionary[str, Shape] = WeakValueDictionary()


def parse_shape(text: str) -> Shape:
    """Parse a shape; equal texts give the same object. Raises ShapeError with the position."""
    shape = _known.get(text)
    if shape is None:
        shape = _known[text] = _Parser(text).whole()
    return shape


class _Open(Struct):
    """A tuple or buffer that has not been closed yet."""

    start: int
    element_type: str
    elements: list[Shape]


class _Parser:
    """Reads one text from left to right, with an own stack in place of recursion."""

    def __init__(self, text: str) -> None:
        # Comments become blanks, so that places stay what they were.
        self._text = quoting.COMMENT.sub(lambda comment: " " * len(comment[0]), text)
        self._original = text
        self._place = 0
        self._open: list[_Open] = []

    def whole(self) -> Shape:
        """Return the shape of the whole text."""
        shape = self._next()
        while self._open:
            if shape is not None:
                self._open[-1].elements.append(shape)
            shape = self._next()
        if shape is None or self._text[self._place :].strip():
            raise ShapeError("unexpected text in a shape", self._place)
        return shape

    def _next(self) -> Shape | None:
        """Read an array or a closing bracket; return None for an opening bracket or a comma."""
        self._skip(" ,\n\t" if self._open else " ")
        start, text = self._place, self._text
        for opening, element_type in (("(", "tuple"), ("b(", "buffer")):
            if text.startswith(opening, start):
                self._enter(opening, element_type)
                return None
        if text.startswith(")", start) and self._open:
            return self._leave()
        return self._array()

    def _skip(self, blanks: str) -> None:
        while self._text[self._place : self._place + 1] and self._text[self._place] in blanks:
            self._place += 1

    def _enter(self, opening: str, element_type: str) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise ShapeError(f"tuples nested more than {MAX_DEPTH} deep", self._place)
        self._open.append(_Open(self._place, element_type, []))
        self._place += len(opening)

    def _leave(self) -> Shape:
        self._place += 1
        done = self._open.pop()
        text = self._written(done.start)
        return _intern(Shape(text, done.element_type, (), "", tuple(done.elements)))

    def _array(self) -> Shape:
        start = self._place
        match = _ARRAY.match(self._text, start)
        if match is None:
            raise ShapeError("expected a shape", start)
        self._place = match.end()
        dimensions = _dimensions(match[2], match.start(2))
        layout = self._layout()
        return _intern(Shape(self._written(start), match[1], dimensions, layout, ()))

    def _layout(self) -> str:
        start = self._place
        if not self._text.startswith("{", start):
            return ""
        end = quoting.closing(self._text, start)
        if end < 0:
            raise ShapeError("layout is not closed", start)
        self._place = end + 1
        return self._text[start + 1 : end]

    def _written(self, start: int) -> str:
        return self._original[start : self._place]


def _dimensions(text: str, place: int) -> tuple[int | None, ...]:
    if not text.strip():
        return ()
    if text.count(",") >= MOST_DIMENSIONS:
        raise ShapeError(f"more than {MOST_DIMENSIONS:,} dimensions", place)
    sizes = []
    for part in text.split(","):
        match = _DIMENSION.match(part)
        if match is None:
            raise ShapeError("expected a dimension", place)
        sizes.append(int(match[2]) if match[2] else None)
        place += len(part) + 1
    return tuple(sizes)


def _intern(shape: Shape) -> Shape:
    return _known.setdefault(shape.text, shape)


_LAYOUT_OR_COMMENT = re.compile(r"\{[^{}]*\}|/\*[^*]*\*/")


def without_layout(shape: str) -> str:
    """Return a shape's text without layouts and comments."""
    return _LAYOUT_OR_COMMENT.sub("", shape)
