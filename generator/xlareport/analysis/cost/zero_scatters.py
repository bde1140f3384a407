"""Scatters that add to a buffer of zeros, as the gradient of a lookup does."""

from msgspec import Struct

from xlareport.analysis.cost.site import parse_integers
from xlareport.hlo.model import Computation, HloModule, Instruction


class ZeroScatter(Struct, frozen=True):
    """A scatter by itself, or the fusion that consists of one and what it needs."""

    instruction: Instruction
    root: Instruction
    """The scatter itself."""
    zeros: Instruction
    """The instruction that fills the buffer, in the same computation."""
    updates: int
    """Bytes."""
    is_of_elements: bool
    """Whether it adds one element to each row, as the gradient of `jnp.take_along_axis` does."""


def find_zero_scatter(
    module: HloModule, home: Computation, instruction: Instruction
) -> ZeroScatter | None:
    """Return the scatter into zeros that an instruction is; None for others."""
    if instruction.shape.elements:
        return None
    root: Instruction | None = instruction
    if instruction.opcode == "scatter" and len(instruction.operand_names) > 2:
        updates = home.operand(instruction, 2)
        buffer = home.operand(instruction)
    elif instruction.opcode == "fusion" and instruction.called:
        inside = module.callee(instruction)
        root = inside.root if inside else None
        if inside is None or root is None or root.opcode != "scatter":
            return None
        updates = inside.operand(root, 2)
        place = [line.name for line in inside.parameters]
        first = root.operand_names[0]
        buffer = (
            home.by_name.get(instruction.operand_names[place.index(first)])
            if first in place
            else None
        )
    else:
        return None
    zeros = _zeros(module, home, buffer)
    size = updates.shape.byte_size if updates else None
    if not root or not zeros or not updates or not size:
        return None
    return ZeroScatter(instruction, root, zeros, size, _is_of_elements(root, updates))


def _is_of_elements(scatter: Instruction, updates: Instruction) -> bool:
    """Return whether windows have one element, as many as the buffer has rows.

    Rows are along the last dimension, as those of logits: a pool scatters elements too.
    """
    window = parse_integers(scatter.attributes.get("update_window_dims", "").strip("{}"))
    sizes = updates.shape.dimensions
    if any(number >= len(sizes) or sizes[number] != 1 for number in window):
        return False
    whole, added = scatter.shape.element_count or 0, updates.shape.element_count or 0
    row = scatter.shape.dimensions[-1] if scatter.shape.dimensions else None
    return bool(row) and (row or 0) > 1 and added * (row or 0) == whole


def _zeros(module: HloModule, home: Computation, buffer: Instruction | None) -> Instruction | None:
    """Return the instruction that fills a buffer with zeros; None if another one does."""
    while buffer is not None and buffer.opcode == "bitcast":
        buffer = home.operand(buffer)
    if buffer is None:
        return None
    filling, place = buffer, home
    if buffer.opcode == "fusion" and buffer.called:
        place = module.callee(buffer) or home
        root = place.root
        filling = root if root is not None else buffer
    if filling.opcode != "broadcast" or not filling.operand_names:
        return None
    value = place.operand(filling)
    return buffer if value is not None and value.is_zero else None
