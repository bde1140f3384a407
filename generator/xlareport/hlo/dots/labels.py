"""What the label of a node says: name, opcode, shape, folded operands, attributes."""

import html
import re
from dataclasses import dataclass, field

from xlareport.hlo import quoting
from xlareport.hlo.opcodes import OPCODES
from xlareport.hlo.shape import UNKNOWN, ShapeError, parse_shape

_TAG = re.compile(r"</?[bi]>")
_PARAMETER = re.compile(r"Parameter (\d{1,9})")
_OPERAND = re.compile(r"<b>operand(?: (\d{1,9}))?</b> = (.*)", re.DOTALL)
_ELEMENT = re.compile(r"tuple-element (\d{1,9}) of (\S++)")
_OPCODE_AT_START = re.compile("|".join(sorted(map(re.escape, OPCODES), key=len, reverse=True)))


@dataclass(slots=True)
class Label:
    """A label, taken apart."""

    name: str = ""
    """Empty for parameters: their names stand at the edges only."""
    opcode: str = ""
    shape: str = f"{UNKNOWN}[]"
    number: int | None = None
    """Of a parameter."""
    element: str = ""
    """What a parameter of a fusion stands for, where that is a tuple element: `while.35#0`."""
    folded: dict[int, str] = field(default_factory=dict)
    """Tuple elements that are drawn inside the node, by the number of the operand."""
    attributes: list[str] = field(default_factory=list)


def read_label(text: str) -> Label:
    """Read the text between `<` and `>`; what is not understood is kept as an attribute."""
    first, *lines = text.split("<br/>")
    label = _named(_plain(first))
    for line in lines:
        operand = _OPERAND.match(line)
        if operand:
            _add_operand(label, int(operand[1] or 0), _plain(operand[2]))
        elif not line.startswith("<i>from "):
            _add_line(label, _plain(line))
    label.opcode = label.opcode or opcode_of_name(label.name)
    return label


def _plain(line: str) -> str:
    return html.unescape(_TAG.sub("", line))


def _named(first: str) -> Label:
    parameter = _PARAMETER.fullmatch(first)
    if parameter:
        return Label(opcode="parameter", number=int(parameter[1]))
    return Label(name=first)


def _add_operand(label: Label, number: int, text: str) -> None:
    element = _ELEMENT.match(text)
    if element:
        label.folded[number] = f"{element[2]}#{element[1]}"


def _add_line(label: Label, line: str) -> None:
    element = _ELEMENT.match(line)
    if element:
        label.element = f"{element[2]}#{element[1]}"
    elif not label.opcode and line.partition(":")[0] in OPCODES:
        label.opcode = line.partition(":")[0]
    elif shape := _shape(line):
        label.shape = shape
    elif "=" in line and quoting.is_balanced(line):
        label.attributes.append(line)


def _shape(line: str) -> str:
    """Return the shape that a line holds; XLA cuts long ones, which then end in an unknown one."""
    if line.startswith("(") and line.endswith("..."):
        whole = line.rpartition(", ")[0]
        line = f"{whole}, {UNKNOWN}[]" + ")" * max(1, whole.count("(") - whole.count(")"))
    try:
        return parse_shape(line).text
    except ShapeError:
        return ""


def opcode_of_name(name: str) -> str:
    """Return the opcode with which a name begins: XLA leaves the opcode out where it does.

    Of several the longest, which is a guess; empty where there is none.
    """
    match = _OPCODE_AT_START.match(name)
    return match[0] if match else ""
