"""Ranges of random inputs, by how a program uses its parameters.

Indices stay within bounds, what a root or a logarithm reads is positive, products do not grow.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from xlareport.hlo.opcode_groups import CONTROL_FLOW, MOVES
from xlareport.hlo.shape import Shape
from xlareport.replay.runnable_program import NUMPY_NAMES, Line, NotRunnableError, RunnableProgram
from xlareport.runtime.graphs import nearest_first
from xlareport.runtime.grouping import group_by_key

_MOST_PLACES = 200_000
"""Instructions that are followed for one parameter."""
_SMALL = (1, 8)
"""Whole numbers of unknown use: counts and steps; none is 0."""


class InputRange(Struct, frozen=True):
    """The range of the inputs for one parameter of the entry computation."""

    dtype: str
    """By numpy's name."""
    dimensions: tuple[int, ...]
    low: float
    high: float
    """Exclusive."""
    reason: str
    """Why this range."""


class _Use(Struct, frozen=True):
    """An instruction that reads a parameter, or what is the parameter in another place or shape."""

    line: Line
    operand: int
    is_exact: bool
    """Whether it reads the values themselves, not sums or products with others."""
    shapes: Mapping[str, Shape]


def input_ranges(program: RunnableProgram) -> list[InputRange]:
    """Return the range of each parameter of the entry; raises NotRunnableError."""
    uses = _UseFinder(program)
    sides = zip(program.parameters(), program.inputs(), strict=True)
    return [
        replace(_range(line.shape, list(uses.of(line.name))), dimensions=dimensions)
        for line, (_, dimensions) in sides
    ]


def _range(shape: Shape, uses: list[_Use]) -> InputRange:
    dtype = NUMPY_NAMES.get(shape.element_type)
    if dtype is None:
        raise NotRunnableError(f"no inputs can be made of type {shape.element_type}")
    sizes = tuple(size for size in shape.dimensions if size is not None)
    plain = InputRange(dtype, sizes, *_SMALL, "small whole numbers")
    if dtype == "bool":
        return replace(plain, low=0, high=2, reason="true or false")
    if shape.element_type[0] in "su":
        return _integer_range(plain, uses)
    return _float(replace(plain, low=-1.0, high=1.0, reason="around 0"), uses)


def _integer_range(plain: InputRange, uses: list[_Use]) -> InputRange:
    bounds = [bound for use in uses if use.is_exact for bound in _index_bounds(use)]
    if bounds:
        return replace(plain, low=0, high=max(1, min(bounds)), reason="an index within bounds")
    if plain.dtype.startswith("u") and any(use.line.opcode in _BITWISE for use in uses):
        bits = min(32, int("".join(filter(str.isdigit, plain.dtype))))
        return replace(plain, low=0, high=1 << bits, reason="bits, as of a random key")
    if plain.dtype in {"int4", "uint4"}:
        return replace(plain, high=7)
    return plain


_BITWISE = frozenset({"xor", "shift-left", "shift-right-logical", "rng-bit-generator"})


def _index_bounds(use: _Use) -> Iterator[int]:
    """Yield the largest index and one, for each dimension that the use may index."""
    line = use.line
    sizes = use.shapes[line.operands[0]].dimensions if line.operands else ()
    attributes = dict(line.attributes)
    if line.opcode == "gather" and use.operand == 1:
        yield from (
            sizes[place] or 1 for place in _dimension_numbers(attributes, "start_index_map", sizes)
        )
    elif line.opcode == "scatter" and use.operand == len(line.operands) // 2:
        name = "scatter_dims_to_operand_dims"
        yield from (sizes[place] or 1 for place in _dimension_numbers(attributes, name, sizes))
    elif line.opcode in _INDEXED and use.operand >= _INDEXED[line.opcode]:
        place = use.operand - _INDEXED[line.opcode]
        if place < len(sizes):
            yield sizes[place] or 1


_INDEXED = {"dynamic-slice": 1, "dynamic-update-slice": 2}
"""The first operand that is an index."""


def _dimension_numbers(
    attributes: Mapping[str, str], name: str, sizes: tuple[int | None, ...]
) -> list[int]:
    written = attributes.get(name, "{}").strip("{}").split(",")
    return [int(place) for place in written if place.isdigit() and int(place) < len(sizes)]


def _float(plain: InputRange, uses: list[_Use]) -> InputRange:
    if any(_needs_positive(use) for use in uses):
        return replace(plain, low=0.1, high=1.0, reason="positive: a root or a logarithm reads it")
    summed = max((_summed(use) for use in uses if use.is_exact), default=1)
    if summed > 1:
        high = summed**-0.25
        reason = f"scaled by the {summed:,} products that are summed"
        return replace(plain, low=-high, high=high, reason=reason)
    return plain


def _needs_positive(use: _Use) -> bool:
    opcode = use.line.opcode
    return opcode in {"sqrt", "rsqrt", "log", "cbrt"} or (opcode == "power" and use.operand == 0)


def _summed(use: _Use) -> int:
    """Return how many products a dot or a convolution adds up; 1 for other instructions."""
    line = use.line
    sizes = [size or 1 for size in use.shapes[line.operands[use.operand]].dimensions]
    attributes = dict(line.attributes)
    count = 1
    if line.opcode == "dot":
        side = ("lhs", "rhs")[min(use.operand, 1)]
        for place in _dimension_numbers(attributes, f"{side}_contracting_dims", tuple(sizes)):
            count *= sizes[place]
    elif line.opcode == "convolution" and use.operand < 2:
        for size in use.shapes[line.operands[1]].dimensions:
            count *= size or 1
    return count


_SAME_VALUES = MOVES | {
    *("clamp", "concatenate", "convert", "opt-barrier", "reduce-precision", "select")
}
_DERIVED = frozenset({"add", "multiply", "divide", "maximum", "pad", "reduce"})
"""Opcodes that need a positive operand if their result has to be positive."""


_Place = tuple[str, str, tuple[int, ...], bool]
"""Computation, instruction, path into tuples; whether its values are those of the parameter."""


class _UseFinder:
    """Follows values through a program: tuples, calls, loops, and what only moves or reshapes."""

    def __init__(self, program: RunnableProgram) -> None:
        self._bodies = {body.name: body for body in program.bodies}
        self._entry = program.entry
        self._shapes = {
            body.name: {line.name: line.shape for line in body.lines} for body in program.bodies
        }
        self._users = {body.name: _users(body.lines) for body in program.bodies}
        self._callers: dict[str, list[tuple[str, Line]]] = {}
        for body in program.bodies:
            for line in body.lines:
                for callee in line.callees():
                    self._callers.setdefault(callee, []).append((body.name, line))

    def of(self, parameter: str) -> Iterator[_Use]:
        """Yield the uses of a parameter of the entry, within a bound."""
        start: _Place = (self._entry.name, parameter, (), True)
        for body, name, path, exact in islice(nearest_first([start], self._after), _MOST_PLACES):
            if not path:
                for line, operand in self._users[body].get(name, ()):
                    yield _Use(line, operand, exact, self._shapes[body])

    def _after(self, place: _Place) -> Iterator[_Place]:
        body, name, path, exact = place
        for line, operand in self._users[body].get(name, ()):
            yield from self._next(body, line, operand, path, exact=exact)

    def _next(
        self, body: str, line: Line, operand: int, path: tuple[int, ...], *, exact: bool
    ) -> Iterator[_Place]:
        if line.opcode in CONTROL_FLOW:
            yield from self._through_call(body, line, operand, path, exact=exact)
        elif line.opcode == "tuple":
            yield from self._out(body, line, (operand, *path), exact=exact)
        elif line.opcode == "get-tuple-element":
            if path and dict(line.attributes).get("index") == str(path[0]):
                yield from self._out(body, line, path[1:], exact=exact)
        elif line.opcode in _SAME_VALUES and not (line.opcode == "select" and operand == 0):
            yield from self._out(body, line, path, exact=exact)
        elif line.opcode == "add" and self._shapes[body][line.name].element_type[0] in "su":
            yield from self._out(body, line, path, exact=exact)  # a negative index wrapped
        elif line.opcode in _DERIVED:
            yield from self._out(body, line, path, exact=False)

    def _through_call(
        self, body: str, line: Line, operand: int, path: tuple[int, ...], *, exact: bool
    ) -> Iterator[_Place]:
        callees = line.callees()
        if line.opcode == "while":
            yield from self._out(body, line, path, exact=exact)
        if line.opcode == "conditional":
            callees = callees[operand - 1 : operand] if operand else []
        for callee in callees:
            yield from self._into(
                callee, operand if line.opcode == "call" else 0, path, exact=exact
            )

    def _out(
        self, body: str, line: Line, path: tuple[int, ...], *, exact: bool
    ) -> Iterator[_Place]:
        """Yield the result of a line, and of what calls its computation where it is the root."""
        yield body, line.name, path, exact
        if line.is_root:
            for caller, call in self._callers.get(body, ()):
                if call.opcode in CONTROL_FLOW:
                    yield caller, call.name, path, exact

    def _into(
        self, callee: str, number: int, path: tuple[int, ...], *, exact: bool
    ) -> Iterator[_Place]:
        for line in self._bodies[callee].lines:
            if line.opcode == "parameter" and line.argument == str(number):
                yield callee, line.name, path, exact


def _users(lines: list[Line]) -> dict[str, list[tuple[Line, int]]]:
    return group_by_key(
        (operand, (line, place)) for line in lines for place, operand in enumerate(line.operands)
    )
