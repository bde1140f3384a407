"""Operands as instructions state them, and what passes their values on."""

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.sides.facts import TRANSPARENT
from xlareport.analysis.steps.operand_words import Operand
from xlareport.hlo.model import HloModule, Instruction
from xlareport.runtime.whole_numbers import parse_whole_number

_FARTHEST = 32
"""Instructions in a row that hand a value on, and are looked behind."""
_SAME_VALUE = frozenset({"bitcast", "copy", "get-tuple-element", "optimization-barrier", "reshape"})
"""Opcodes that hand on what they read, in another form at most."""


def written_operand(reader: Place, text: str) -> Operand:
    """Return the operand that an instruction at a place states as a text."""
    name, _, element = text.partition("#")
    return Operand(Place(reader.computation, name), element)


def passing_chain(module: HloModule, operand: Operand) -> list[Operand]:
    """Return an operand and what it represents: behind moves, tuples, the roots of fusions."""
    result = [operand]
    for _ in range(_FARTHEST):
        passing = behind(module, result[-1])
        if passing is None:
            break
        result.append(passing)
    return result


def behind(module: HloModule, operand: Operand) -> Operand | None:
    """Return the operand that passes its value on to an operand; None if it is computed there."""
    place, line = operand.place, module.find(*operand.place)
    if line is None:
        return None
    if line.opcode in TRANSPARENT:
        return _root_of(module, line, operand.element)
    if line.opcode == "tuple" and operand.element:
        number = parse_whole_number(operand.element)
        known = number is not None and number < len(line.operands)
        return (
            written_operand(place, line.operands[number]) if known and number is not None else None
        )
    if line.opcode not in _SAME_VALUE or operand.element or not line.operands:
        return None
    source = written_operand(place, line.operands[0])
    if line.opcode != "get-tuple-element":
        return source
    return None if source.element else Operand(source.place, line.attributes.get("index", ""))


def _root_of(module: HloModule, holder: Instruction, element: str) -> Operand | None:
    """Return the result of what a fusion or call calls."""
    computation = module.callee(holder)
    root = None if computation is None else computation.root
    if computation is None or root is None:
        return None
    return Operand(Place(computation.name, root.name), element)
