"""The corresponding lines of two computations that do the same in other element types."""

from collections.abc import Hashable, Mapping

from xlareport.analysis.matching.sides.forms import Forms
from xlareport.analysis.matching.sides.paired_lines import pair_lines
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.shape import Shape


def retyped_lines(
    computation: Computation, copy: Computation, forms: Forms
) -> Mapping[str, Instruction]:
    """Return the lines of a copy by the names of the original's; empty unless only types differ.

    A pass that narrows what an instruction reads clones what it applies, line by line.
    """
    if not _takes_other_types(computation, copy):
        return {}
    pairs = pair_lines(computation, copy)
    count = len(computation.instructions)
    if not len(pairs) == len({line.name for line in pairs.values()}) == count:
        return {}
    lines = computation.by_name
    alike = all(_is_alike(lines[name], line, pairs, forms) for name, line in pairs.items())
    return pairs if alike else {}


def _takes_other_types(computation: Computation, copy: Computation) -> bool:
    """Return whether two computations of as many lines have a parameter of other types.

    A tuple with its elements in another order has the same types.
    """
    if len(computation.instructions) != len(copy.instructions):
        return False
    old, new = computation.parameters, copy.parameters
    shapes = [(line.shape, other.shape) for line, other in zip(old, new, strict=False)]
    sizes = all(_sizes(shape) == _sizes(other) for shape, other in shapes)
    differ = any(_types(shape) != _types(other) for shape, other in shapes)
    return len(old) == len(new) and sizes and differ


def _is_alike(
    line: Instruction, other: Instruction, pairs: Mapping[str, Instruction], forms: Forms
) -> bool:
    """Return whether two lines do the same to corresponding operands, whatever their types."""
    known = forms.of(line)._replace(shape="") == forms.of(other)._replace(shape="")
    called = len(line.called) == len(other.called)
    return (
        known
        and called
        and _sizes(line.shape) == _sizes(other.shape)
        and _reads(line, other, pairs)
    )


def _reads(line: Instruction, other: Instruction, pairs: Mapping[str, Instruction]) -> bool:
    """Return whether two lines read corresponding lines, and the same elements of these."""
    read = [(pairs[name].name if name in pairs else "") for name in line.operand_names]
    elements, others = (
        [operand.partition("#")[2] for operand in reader.operands] for reader in (line, other)
    )
    return read == [*other.operand_names] and elements == others


def _types(shape: Shape) -> list[str]:
    """Return the types and sizes of the elements of a tuple, or those of an array, sorted."""
    return sorted(element.plain for element in shape.members)


def _sizes(shape: Shape) -> Hashable:
    """Return the dimensions of an array, or of each element of a tuple."""
    return tuple(map(_sizes, shape.elements)) or shape.dimensions
