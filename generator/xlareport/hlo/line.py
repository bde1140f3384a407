"""One instruction line: split by one anchored expression, and cached."""

import re

from xlareport.hlo import quoting
from xlareport.hlo.attributes import AttributeList
from xlareport.hlo.model import Instruction
from xlareport.hlo.shape import Shape, ShapeError, parse_shape

WITHOUT_OPERANDS = frozenset({"constant", "parameter"})
"""Opcodes with a literal or a number in parentheses."""

_HEAD = r"(ROOT\s++)?%?+([^\s=%(){},]++)\s*+=\s*+"
# `b(` opens a buffer inside a tuple shape; no opcode has that name.
_OPCODE = r"\s++((?!b\()[a-zA-Z][\w\-]*+)\("
_PARTS = rf"[^()\"]++|{quoting.STRING}|{quoting.nested('(', ')', 4)}"
_OPERANDS = rf"({quoting.repeated(_PARTS)})\)"
_LINE = re.compile(rf"{_HEAD}(?>(\(.*?\)|[^\s(]\S*+){_OPCODE}){_OPERANDS}\s*+(.*)", re.DOTALL)
_UP_TO_SHAPE = re.compile(_HEAD)
_AFTER_SHAPE = re.compile(_OPCODE)
_BLANK = re.compile(r"\s")
_BRACKET = re.compile(r"[({\[]")
_PERCENT_NAME = re.compile(r"%([^\s,(){}%]++)")
_NESTED = re.compile(r"(?:^|[\s,(])(?!b\()[a-z][\w\-]{0,60}+\s{0,8}+\(")
"""`opcode(`: an operand that is an instruction itself, which only people write."""


class LineError(ValueError):
    """A text that is no instruction; `place` is the index of the error, from 0."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


class InstructionPool(dict[str, Instruction]):
    """Instructions by their line without indentation; a line not seen before is parsed.

    Looking up a text that is no whole instruction raises LineError and keeps nothing. So does a
    text of several lines that `statement` has not read, for it may be several instructions.
    """

    def __init__(self) -> None:
        super().__init__()
        self._shapes: dict[str, Shape] = {}
        self._lists: dict[str, AttributeList] = {}
        """Attribute lists by the text after the operands."""
        self._names: dict[str, str] = {}

    def __missing__(self, line: str) -> Instruction:
        text = line.strip()
        if "\n" in text:
            raise LineError("expected a single line", text.index("\n"))
        instruction = self[line] = self._parse(line) if text == line else self[text]
        return instruction

    def statement(self, text: str) -> Instruction:
        """Return the instruction in a text of one or more lines. Raises LineError."""
        known = self.get(text)
        if known is None:
            known = self[text] = self._parse(text)
        return known

    def _parse(self, text: str) -> Instruction:
        match = _LINE.fullmatch(text)
        root, name, shape, opcode, between, rest = match.groups() if match else _cut(text)
        listed = self._lists.get(rest) or self._attribute_list(rest, len(text) - len(rest))
        bare = opcode in WITHOUT_OPERANDS
        if not bare and "(" in between and _NESTED.search(between):
            raise LineError("an operand is an instruction itself", text.find(between))
        return Instruction(
            self._names.setdefault(name, name),
            self._names.setdefault(opcode, opcode),
            self._shapes.get(shape) or self._shape(shape, text),
            () if bare else self._operands(between),
            between if bare else "",
            root is not None,
            listed.text,
            text,
            listed,
        )

    def _shape(self, shape: str, text: str) -> Shape:
        try:
            result = self._shapes[shape] = parse_shape(shape)
        except ShapeError as error:
            raise LineError(error.message, text.find(shape) + error.place) from error
        return result

    def _attribute_list(self, rest: str, place: int) -> AttributeList:
        """Return the list in `, a=b` or, in texts of 2017, `# a=b`."""
        if rest and rest[0] not in ",#":
            raise LineError("unexpected text after the operands", place)
        text = rest[1:].lstrip()
        if not quoting.is_balanced(text):
            raise LineError("the attributes are not closed", place)
        attribute_list = self._lists[rest] = AttributeList(text)
        return attribute_list

    def _operands(self, between: str) -> tuple[str, ...]:
        names = operand_names(between)
        return tuple(map(self._names.setdefault, names, names))


def _cut(text: str) -> tuple[str | None, str, str, str, str, str]:
    """Cut a line that is written in an unusual way; raises LineError where it is broken."""
    head = _UP_TO_SHAPE.match(text)
    if head is None:
        raise LineError("expected `name = shape opcode(`", 0)
    end = _end_of_shape(text, head.end())
    opcode = _AFTER_SHAPE.match(text, end)
    if opcode is None:
        raise LineError("expected an opcode and `(`", end)
    closed = quoting.closing(text, opcode.end() - 1)
    if closed < 0:
        raise LineError("the operands are not closed", opcode.end() - 1)
    shape, between = text[head.end() : end], text[opcode.end() : closed]
    return head[1], head[2], shape, opcode[1], between, text[closed + 1 :].lstrip()


def _end_of_shape(text: str, start: int) -> int:
    """Return the place of the first blank outside brackets."""
    depth, seen = 0, start
    for place, mark in quoting.marks(text, start):
        blank = _BLANK.search(text, seen, place) if depth == 0 else None
        if blank:
            return blank.start()
        depth += quoting.DEPTH.get(mark, 0)
        seen = place
    blank = _BLANK.search(text, seen) if depth == 0 else None
    return blank.start() if blank else len(text)


def operand_names(between: str) -> list[str]:
    """Return the names of the operands in the text between the parentheses."""
    if "%" in between:
        names: list[str] = _PERCENT_NAME.findall(between)
        # People leave `%` out here and there; the types of tuples hold commas of their own.
        if len(names) > between.count(", ") or "(" in between:
            return names
    if not between.strip():
        return []
    between = quoting.COMMENT.sub("", between)
    parts = quoting.split_at_commas(between) if _BRACKET.search(between) else between.split(",")
    return [words[-1].lstrip("%") for part in parts if (words := part.split())]
