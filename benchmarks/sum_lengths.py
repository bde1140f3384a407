"""Steps in which a float sum of a new length appears while numerics are said to stay."""

import math
import re
from collections.abc import Iterator

from xlareport.analysis.steps.numbers_changed import numbers_changed
from xlareport.analysis.steps.step import StepChange
from xlareport.hlo.model import Computation, HloModule, Instruction

_CONTRACTED = {"dot": "lhs_contracting_dims", "reduce": "dimensions"}
_FLOATS = ("f", "bf", "c")


def length_failures(before: HloModule, after: HloModule, step: StepChange) -> Iterator[str]:
    """Yield the lengths of sums that only the second module has, where no numerics are named.

    A dot sums over its contracting dimensions, a reduce that adds over its dimensions. A length
    that no sum had before is another order of summation, or a sum that the step made.
    """
    known = {length for length, _ in _sums(before)}
    new = {length: name for length, name in _sums(after) if length not in known}
    if new and not numbers_changed(step):
        yield ", ".join(f"%{name} sums {length:,} elements" for length, name in new.items())


def _sums(module: HloModule) -> Iterator[tuple[int, str]]:
    for computation in module.computations:
        for line in computation.instructions:
            if line.opcode in _CONTRACTED and line.shape.text.lstrip("(").startswith(_FLOATS):
                length = _length(line, computation)
                if length > 1 and (line.opcode == "dot" or _adds(line, module)):
                    yield length, line.name


def _length(line: Instruction, home: Computation) -> int:
    name, _, element = next(iter(line.operands), "").partition("#")
    operand = home.by_name.get(name)
    shape = operand.shape if operand else line.shape
    for number in element.split("#") if element else ():
        shape = shape.elements[int(number)]
    sizes = shape.dimensions
    numbers = re.findall(r"\d+", line.attributes.get(_CONTRACTED[line.opcode], ""))
    return math.prod((sizes[int(number)] or 0) for number in numbers if int(number) < len(sizes))


def _adds(line: Instruction, module: HloModule) -> bool:
    applied = module.by_name.get(line.attributes.get("to_apply", "").lstrip("%"))
    return applied is not None and any(inner.opcode == "add" for inner in applied.instructions)
