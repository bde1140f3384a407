"""What a loop is given for an element that its body or condition reads, and does not change."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.sides.facts import holders_of, homes_of
from xlareport.hlo.model import Computation, HloModule, Instruction

_MOST_LOOPS = 16
_ELEMENT = "get-tuple-element"


def given_values(module: HloModule, place: Place) -> Iterator[Place]:
    """Yield what loops around an element were given for it, outward, while no iteration changes it.

    So the value of the element is that of each of them; nothing for what is no such element.
    """
    for _ in range(_MOST_LOOPS):
        given = _given(module, place)
        if given is None:
            return
        yield given
        place = given


def _given(module: HloModule, place: Place) -> Place | None:
    """Return what the loop around an element was given for it; None if that is not known."""
    loop = holders_of(module).get(place.computation)
    number = _taken_element(module.by_name[place.computation], module.find(*place))
    body = None if loop is None else module.by_name.get(dict(loop.called).get("body", ""))
    if loop is None or loop.opcode != "while" or number is None or body is None:
        return None
    home = module.by_name[homes_of(module)[place.computation]]
    start = home.operand(loop)
    if start is None or not is_passed_on(body, number):
        return None
    names = [*start.operand_names] if start.opcode == "tuple" else []
    return Place(home.name, names[number]) if number < len(names) else None


def _taken_element(computation: Computation, line: Instruction | None) -> int | None:
    """Return which element of the only parameter an instruction takes; None of anything else."""
    if line is None or line.opcode != _ELEMENT:
        return None
    source = computation.operand(line)
    return line.taken_element if source is not None and source.opcode == "parameter" else None


def is_passed_on(body: Computation, number: int) -> bool:
    """Return whether a body gives an element on as it got it."""
    root = body.root
    names = [*root.operand_names] if root is not None and root.opcode == "tuple" else []
    if number >= len(names):
        return False
    return _taken_element(body, body.by_name.get(names[number])) == number
