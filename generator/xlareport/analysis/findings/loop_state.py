"""Elements of a loop's state that no iteration changes."""

from collections.abc import Iterator

from xlareport.analysis.findings.arguments import copy_path
from xlareport.hlo.model import Computation, Instruction


def is_kept(body: Computation, kept: Instruction | None, index: int) -> bool:
    """Return whether the next state has an element of the last one, itself or a copy."""
    path = copy_path(body, kept)
    return bool(path) and is_element(body, path[-1], index)


def is_element(body: Computation, value: Instruction, index: int) -> bool:
    """Return whether a value is this element of the state."""
    is_own = value.operand_names[:1] == (body.parameters[0].name,)
    return value.opcode == "get-tuple-element" and is_own and value.taken_element == index


def kept_elements(body: Computation) -> Iterator[Instruction]:
    """Yield the elements of the state that the body reads and passes on unchanged."""
    root = body.root
    if root is None or root.opcode != "tuple" or not body.parameters:
        return
    kept = {index for index, value in enumerate(body.operands(root)) if is_kept(body, value, index)}
    for line in body.instructions:
        index = line.taken_element
        if index in kept and is_element(body, line, index):
            yield line
