"""Results of loops' bodies that take elements of the former result, and pass on the others.

`simplify-while-loops` computes a counter anew at the start of the body and carries it unchanged:
the result takes each other element of a copy of the former result.
"""

from xlareport.analysis.matching.sides.graph import Node, element_taken
from xlareport.hlo.model import Computation

_TUPLE = "tuple"
_ELEMENT = "get-tuple-element"
_PARAMETER = "parameter"


def sole_opened(former: Node, result: Node) -> Node | None:
    """Return the tuple of which a result takes elements at their places, and passes on the others.

    None if it takes none, or gives any element another value; `former` is the result before.
    """
    home = result.frame.computation
    taken = [_taken(home, operand) for operand in result.instruction.operands]
    sources = dict(taken)
    if any(path != (number,) for number, (_, path) in enumerate(taken)) or len(sources) != len(
        _SOURCES
    ):
        return None
    lines = {line.opcode: line for line in map(home.by_name.get, sources) if line is not None}
    whole = lines.get(_TUPLE)
    count = len(former.instruction.operands)
    if lines.keys() != _SOURCES or whole is None or len(whole.operands) != count != 0:
        return None
    return result.frame.node(whole) if len(taken) == count else None


_SOURCES = frozenset({_PARAMETER, _TUPLE})


def _taken(home: Computation, operand: str) -> tuple[str, tuple[int, ...]]:
    """Return the tuple and the number of the element that an operand names."""
    name, _, element = operand.partition("#")
    line = home.by_name.get(name)
    if line is not None and line.opcode == _ELEMENT and line.operand_names:
        return line.operand_names[0], element_taken(line)
    return name, (int(element),) if element.isdecimal() else ()
