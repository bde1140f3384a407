"""What new asynchronous copies copy, and from which memory space to which."""

from xlareport.analysis.cost.layout_spaces import space_of
from xlareport.analysis.matching.account.led_to import led_to
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side

_START, _DONE = "copy-start", "copy-done"
_PARTS = 2
"""Elements of the shape of a start: the result, the operand and a context."""


def reason_of_copy_start(side: Side, node: Node) -> str:
    """Return what a new start copies, with its done and what that leads to; '' of other nodes."""
    elements, names = node.instruction.shape.elements, [*node.instruction.operand_names]
    users = side.users.get(node, ())
    if node.instruction.opcode != _START or len(elements) < _PARTS or not (names and users):
        return ""
    done, position = users[0]
    if done.instruction.opcode != _DONE:
        return ""
    target, source = (space_of(shape.text) or 0 for shape in elements[:_PARTS])
    spaces = f" from S({source}) to S({target})" if source != target else ""
    led = led_to(side, done, position)
    return f"copies %{names[0]}{spaces} until %{done.instruction.name}{led}"
