"""HLO as people write it: the forms that XLA's parser takes and never prints.

    negate(multiply(x, f32[] constant(2)))      operands that are instructions themselves
    sum = add(x, y)                             no shape: XLA infers it

Such a statement becomes plain statements, one for each instruction. A shape that was not written is
`unknown[]` there, and `infer_shapes` derives it from the operands if possible.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.hlo import quoting
from xlareport.hlo.line import WITHOUT_OPERANDS
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.shape import UNKNOWN, Shape, ShapeError, parse_shape
from xlareport.runtime.whole_numbers import parse_whole_number

UNKNOWN_SHAPE = f"{UNKNOWN}[]"
MAX_NESTED = 100
"""Operands nested deeper are refused; tests nest a handful."""

_HEAD = re.compile(r"\s*+((?:ROOT\s++)?%?+[^\s=%(){},]++)\s*+=\s*+")
_OPCODE_FIRST = re.compile(r"(?!b\()([a-z][\w\-]*+)\s*+(?=\()")
_OPCODE_AFTER_SHAPE = re.compile(r"\s*+(?!b\()([a-z][\w\-]*+)\s*+(?=\()")
_SHAPE_MARK = re.compile(r"[(){}\[\]\s]")
_LAYOUT_APART = re.compile(r"\s++(\{[^{}()\"]*+(?:\([^{}()\"]*+\)[^{}()\"]*+)*+\})")
"""A layout that a blank parts from its shape."""
_QUOTED = r'"(?:[^"\\]|\\.)*+"?+'
"""A quoted text; one that is never closed takes the rest, so that it is looked for only once."""
_COMMENT = re.compile(rf"{_QUOTED}|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+|//[^\n]*+", re.DOTALL)
_TO_THE_END_OF_LINE = re.compile(rf"{_QUOTED}|/[*/][^\n]*+", re.DOTALL)
"""Comments behind the last `*/`: one that is not closed must not cost the lines that follow."""
_TOKENS = re.compile(
    rf"{_QUOTED}|,\s*+|(?P<begin>(?<=\s)(?<!ROOT\s)(?:ROOT\s{{1,8}}+)?%?+"
    r"[^\s=%(){}\[\],\"]{1,300}+\s{0,8}+=\s)"
    r"|[(){}\[\]]",
    re.DOTALL,
)
"""Splits a line into tokens. An attribute follows a comma, a statement does not."""
_CALLING = r"\b(to_apply|calls|body|condition|true_computation|false_computation)=\{"
_INLINE = re.compile(_CALLING + r"(?=\s*+(?:ROOT\s)?\s*+[^\s=(){},]++\s*+=)")
_INLINE_LINE = re.compile(_CALLING + r"\s*+\Z")


class _Call(Struct):
    """`shape opcode(between) rest`: an instruction without its name."""

    shape: str
    opcode: str
    between: str
    rest: str


class HandwrittenNames(Struct):
    """Names for nested instructions that have none."""

    taken: Counter[str] = field(default_factory=Counter)
    """How many names an opcode has given."""

    def new(self, opcode: str) -> str:
        """Return `add.inline`, then `add.inline.1`, `add.inline.2`, ..."""
        number = self.taken[opcode]
        self.taken[opcode] += 1
        return f"{opcode}.inline.{number}" if number else f"{opcode}.inline"


def without_comments(text: str) -> str:
    """Return a text without `// ...` and `/* ... */`, line for line.

    Quoted texts are left alone. A `/*` that is never closed takes the rest of its line.
    """
    if "/" not in text:
        return text
    return _COMMENT.sub(_keep_lines, text)


def _keep_lines(match: re.Match[str]) -> str:
    closed = match[0].endswith("*/") and match[0] != "/*/"
    if match[0].startswith("/*") and not closed:
        return _TO_THE_END_OF_LINE.sub(_keep_quoted, match[0])
    return match[0] if match[0][0] == '"' else "\n" * match[0].count("\n")


def _keep_quoted(match: re.Match[str]) -> str:
    return match[0] if match[0][0] == '"' else ""


def split_line(line: str, depth: int) -> list[str]:
    """Split a line before each statement that begins in it and before the brace that ends them.

    `depth` counts the brackets that are open before the line.
    """
    places = [0]
    indentation = len(line) - len(line.lstrip())
    for match in _TOKENS.finditer(line):
        depth += quoting.DEPTH.get(match[0], 0)
        begins = match["begin"] and match.start() > indentation
        if depth < 0 or (begins and depth == 0):
            places.append(match.start())
            depth = max(depth, 0)
    return [line[start:stop] for start, stop in pairwise([*places, len(line)])]


def lacks_opcode(text: str) -> bool:
    """Return whether a statement ends before the parenthesis after its opcode: `name = f32[2]`."""
    head = _HEAD.match(text)
    return head is not None and _find_opcode(text[head.end() :])[1] is None


class InlineComputation(Struct, frozen=True):
    """`to_apply={ statements }`: a computation that is where its name is expected."""

    attribute: str
    body: str
    start: int
    """Where the opening brace is in the statement."""
    end: int
    """The place after its closing brace."""


def find_inline(text: str) -> InlineComputation | None:
    """Return the first computation that is written inside a statement."""
    opened = _INLINE.search(text)
    closed = quoting.closing(text, opened.end() - 1) if opened else -1
    if opened is None or closed < 0:
        return None
    body = text[opened.end() : closed]
    return InlineComputation(opened[1], body, opened.end() - 1, closed + 1)


def opens_inline(line: str) -> bool:
    """Return whether a line opens a computation inside a statement."""
    return _INLINE_LINE.search(line) is not None


def plain_statements(text: str, names: HandwrittenNames) -> list[str] | None:
    """Return the statements that one statement represents, operands first.

    None where it is no instruction, or holds operands nested more than MAX_NESTED deep.
    """
    head = _HEAD.match(text)
    call = _parse_call(text[head.end() :]) if head else None
    if head is None or call is None:
        return None
    return _flatten(head[1], call, names)


def _flatten(name: str, call: _Call, names: HandwrittenNames) -> list[str] | None:
    """Write a call and the calls nested in its operands as statements."""
    done: list[str] = []
    waiting = [(name, call, 0)]
    while waiting:
        name, call, depth = waiting.pop()
        if depth > MAX_NESTED:
            return None
        operands = [call.between]
        if call.opcode not in WITHOUT_OPERANDS:
            parts = quoting.split_at_commas(call.between) if call.between.strip() else []
            operands = [_name_of_operand(operand) for operand in parts]
            for place, operand in enumerate(operands):
                nested = _parse_call(operand)
                if nested is not None:
                    operands[place] = f"%{names.new(nested.opcode)}"
                    waiting.append((operands[place], nested, depth + 1))
        done.append(f"{name} = {call.shape} {call.opcode}({', '.join(operands)}){call.rest}")
    return done[::-1]


def _name_of_operand(operand: str) -> str:
    """Return `%name` of an operand with or without shape; others unchanged."""
    words = operand.split()
    if not words or _parse_call(operand.strip()) is not None:
        return operand.strip()
    return f"%{words[-1].lstrip('%')}"


def _parse_call(text: str) -> _Call | None:
    """Read `[shape] opcode(...)...`; None where a text is only a name, or a shape and a name."""
    shape, opcode = _find_opcode(text)
    if opcode is None:
        return None
    closed = quoting.closing(text, opcode.end())
    if closed < 0:
        return None
    return _Call(shape, opcode[1], text[opcode.end() + 1 : closed], text[closed + 1 :])


def _find_opcode(text: str) -> tuple[str, re.Match[str] | None]:
    """Return the shape, unknown where none is written, and the opcode before its parenthesis."""
    opcode = _OPCODE_FIRST.match(text)
    if opcode is not None:
        return UNKNOWN_SHAPE, opcode
    end = _end_of_shape(text)
    apart = _LAYOUT_APART.match(text, end)
    shape = text[:end]
    if apart is not None:
        end = apart.end()
        shape += apart[1]
    return shape, _OPCODE_AFTER_SHAPE.match(text, end)


def _end_of_shape(text: str) -> int:
    """Return where a shape ends: at the first blank outside brackets, or before a letter there."""
    depth = 0
    for mark in _SHAPE_MARK.finditer(text):
        if depth == 0 and mark[0].isspace():
            return mark.start()
        depth += quoting.DEPTH.get(mark[0], 0)
        if depth == 0 and text[mark.end() : mark.end() + 1].isalpha():
            return mark.end()
    return len(text)


def infer_shapes(
    instructions: Sequence[Instruction], computations: Mapping[str, Computation]
) -> tuple[Instruction, ...]:
    """Return the instructions with the shapes that follow from their operands.

    `computations` are those read before, by name. A shape that does not follow stays unknown.
    """
    shapes: dict[str, Shape] = {}
    result = []
    for instruction in instructions:
        known = instruction
        if instruction.shape.text == UNKNOWN_SHAPE:
            text = _infer(instruction, shapes, computations)
            known = replace(instruction, shape=_parsed(text) or instruction.shape)
        shapes[known.name] = known.shape
        result.append(known)
    return tuple(result)


def _parsed(text: str) -> Shape | None:
    try:
        return parse_shape(text)
    except ShapeError:
        return None


def _infer(
    instruction: Instruction, shapes: Mapping[str, Shape], computations: Mapping[str, Computation]
) -> str:
    known = [shapes.get(name) for name in instruction.operands]
    operands = [shape for shape in known if shape is not None]
    if len(operands) < len(known):
        return ""
    if instruction.opcode == "call":
        callee = computations.get(instruction.attributes.get("to_apply", "").lstrip("%"))
        return callee.root.shape.text if callee is not None and callee.root is not None else ""
    rule = _RULES.get(instruction.opcode)
    return rule(instruction, operands) if rule is not None else ""


def _tuple(_: Instruction, operands: Sequence[Shape]) -> str:
    return f"({', '.join(shape.text for shape in operands)})"


def _token(_: Instruction, __: Sequence[Shape]) -> str:
    return "token[]"


def _element_shape(instruction: Instruction, operands: Sequence[Shape]) -> str:
    number = instruction.taken_element
    elements = operands[0].elements if operands else ()
    return elements[number].text if number is not None and number < len(elements) else ""


def _first_shape(_: Instruction, operands: Sequence[Shape]) -> str:
    return operands[0].text if operands else ""


def _second(_: Instruction, operands: Sequence[Shape]) -> str:
    return operands[1].text if len(operands) > 1 else ""


def _compare(_: Instruction, operands: Sequence[Shape]) -> str:
    return _array("pred", operands[0].dimensions) if operands else ""


def _complex_part(_: Instruction, operands: Sequence[Shape]) -> str:
    """Return the shape of the real or imaginary part."""
    parts = {"c64": "f32", "c128": "f64"}
    return _array(parts.get(operands[0].element_type, ""), operands[0].dimensions)


def _transpose(instruction: Instruction, operands: Sequence[Shape]) -> str:
    order = _braced_numbers(instruction.attributes.get("dimensions", ""))
    sizes = operands[0].dimensions if operands else ()
    if sorted(order) != list(range(len(sizes))):
        return ""
    return _array(operands[0].element_type, [sizes[number] for number in order])


def _reduce(instruction: Instruction, operands: Sequence[Shape]) -> str:
    if len(operands) != 2:
        return ""
    gone = set(_braced_numbers(instruction.attributes.get("dimensions", "")))
    sizes = enumerate(operands[0].dimensions)
    return _array(operands[0].element_type, [size for place, size in sizes if place not in gone])


def _dot(instruction: Instruction, operands: Sequence[Shape]) -> str:
    if len(operands) != 2:
        return ""
    left, right = operands
    attributes = instruction.attributes
    batch = _braced_numbers(attributes.get("lhs_batch_dims", ""))
    gone = [
        {*_braced_numbers(attributes.get(f"{side}_batch_dims", "")),
         *_braced_numbers(attributes.get(f"{side}_contracting_dims", ""))}
        for side in ("lhs", "rhs")
    ]  # fmt: skip
    sizes = [left.dimensions[place] for place in batch if place < len(left.dimensions)]
    for shape, dropped in zip(operands, gone, strict=True):
        sizes += [size for place, size in enumerate(shape.dimensions) if place not in dropped]
    return _array(right.element_type, sizes) if left.element_type == right.element_type else ""


def _array(element_type: str, sizes: Sequence[int | None]) -> str:
    if not element_type or element_type == UNKNOWN or None in sizes:
        return ""
    return f"{element_type}[{','.join(map(str, sizes))}]"


def _braced_numbers(text: str) -> list[int]:
    """Return the numbers in `{0,1}`."""
    numbers = (parse_whole_number(part.strip()) for part in text.strip("{} ").split(","))
    return [number for number in numbers if number is not None]


_Rule = Callable[[Instruction, Sequence[Shape]], str]
_OF_FIRST = (
    "abs add and atan2 cbrt ceil clz copy cosine divide erf exponential exponential-minus-one "
    "floor log log-plus-one logistic maximum minimum multiply negate not or popcnt power remainder "
    "round-nearest-afz round-nearest-even rsqrt shift-left shift-right-arithmetic "
    "shift-right-logical sign sine sort sqrt subtract tan tanh while xor"
)
_RULES: Mapping[str, _Rule] = dict.fromkeys(_OF_FIRST.split(), _first_shape) | {
    "after-all": _token,
    "clamp": _second,
    "compare": _compare,
    "dot": _dot,
    "get-tuple-element": _element_shape,
    "imag": _complex_part,
    "real": _complex_part,
    "reduce": _reduce,
    "select": _second,
    "transpose": _transpose,
    "tuple": _tuple,
}
"""Rules that infer a shape from operands, as XLA's shape inference does; others are unknown."""
