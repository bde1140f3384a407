"""A collective of several operands as one collective of each.

Combiner passes make them; where no earlier snapshot has the single collectives, the operands show
them.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from xlareport.analysis.source.combined_ops import is_combined, member_op_names
from xlareport.analysis.source.locations import fused_root
from xlareport.hlo.attributes import AttributeList, Metadata
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import Shape


def split_operands(
    module: HloModule, computation: Computation, body: Instruction
) -> tuple[Instruction, ...]:
    """Return the collective of each operand, with shape and op_name of its own; itself if of one.

    All have the name of the combined one: they are read where that is.
    """
    shapes = _result_shapes(body)
    if not is_combined(body) or len(shapes) != len(body.operands):
        return (body,)
    names = member_op_names(module, computation, body)
    return tuple(
        replace(
            body,
            operands=(operand,),
            shape=shape,
            is_root=False,
            attribute_list=AttributeList(
                body.attributes_text, _metadata(module, computation, body, number, name)
            ),
        )
        for number, (operand, shape, name) in enumerate(
            zip(body.operands, shapes, names, strict=True)
        )
    )


def _result_shapes(body: Instruction) -> tuple[Shape, ...]:
    """Return the shapes of the results; a start may have those of the operands before them."""
    elements, count = body.shape.elements, len(body.operands)
    if len(elements) != count and len(elements) > 1 and elements[1].elements:
        elements = elements[1].elements
    return elements if len(elements) == count else ()


def _metadata(
    module: HloModule, computation: Computation, body: Instruction, number: int, op_name: str
) -> Metadata:
    """Return the metadata that has the op_name of a member, with its source; else that alone."""
    for line in _carriers(module, computation, body, number):
        if line.metadata.op_name == op_name:
            return line.metadata
    return Metadata(op_name=op_name)


def _carriers(
    module: HloModule, computation: Computation, body: Instruction, number: int
) -> Iterator[Instruction]:
    """Yield the element that reads a member's result, and what computes its operand."""
    for user in computation.users.get(body.name, ()):
        if user.taken_element == number:
            yield user
    operand = computation.operand(body, number)
    if operand is not None:
        yield operand
        root = fused_root(operand, module)
        yield from () if root is None else (root,)
    yield body
