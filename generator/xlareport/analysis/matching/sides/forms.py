"""The form of an instruction: all that determines its result apart from name and operands."""

from functools import lru_cache
from typing import NamedTuple

from xlareport.hlo.attributes import called_computations, split_attributes
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.shape import Shape, without_layout
from xlareport.hlo.shardings.device_groups import parse_groups
from xlareport.hlo.shardings.written import local_dimensions
from xlareport.knowledge.opcodes import opcode_work

_WITHOUT_EFFECT_ON_RESULT = frozenset(
    {
        "backend_config",
        "channel_id",
        "control-predecessors",
        "frontend_attributes",
        "metadata",
        "operand_layout_constraints",
        "origin",
        "original_value",
        "sharding",
        "statistics",
    }
)

_WORK = opcode_work()
_DIVIDED = _WORK.by_element | {"broadcast"}
"""Opcodes whose result has the shape of a share, whatever the shardings of the operands."""


class Form(NamedTuple):
    """The parts of an instruction that determine how its result is computed from its operands."""

    opcode: str
    shape: str
    """Element type and dimensions, without layouts; of a share, where the partitioner is next."""
    attributes: str
    """Without called computations, metadata, sharding, configuration and numbering."""
    argument: str
    """The literal of a constant, the number of a parameter."""


class Forms:
    """Forms of instructions, each computed once."""

    def __init__(self) -> None:
        self._forms: dict[Instruction, Form] = {}
        self._shapes: dict[str, str] = {}

    def divide(self, module: HloModule) -> None:
        """Give operations of a module that is partitioned next the shapes of one device's shares.

        The partitioner makes these of the sharding of an elementwise operation or a fill.
        """
        for computation in module.computations:
            for line in computation.instructions:
                if line.opcode in _DIVIDED and "sharding" in line.attributes:
                    self._forms[line] = self._share(line)

    def of(self, instruction: Instruction) -> Form:
        """Return the form of an instruction."""
        form = self._forms.get(instruction)
        if form is None:
            form = self._forms[instruction] = self._derive(instruction)
        return form

    def shape(self, shape: Shape) -> str:
        """Return a shape without layouts and comments."""
        text = self._shapes.get(shape.text)
        if text is None:
            text = self._shapes[shape.text] = without_layout(shape.text)
        return text

    def _share(self, line: Instruction) -> Form:
        form = self._derive(line)
        share = local_dimensions(line.attributes["sharding"], line.shape.dimensions)
        if share is None or share == line.shape.dimensions:
            return form
        return form._replace(shape=f"{line.shape.element_type}[{','.join(map(str, share))}]")

    def _derive(self, instruction: Instruction) -> Form:
        return Form(
            instruction.opcode,
            self.shape(instruction.shape),
            effective_attributes(instruction.attributes_text),
            "" if instruction.operands else instruction.argument,
        )


@lru_cache(maxsize=1 << 17)
def effective_attributes(text: str) -> str:
    """Return the attributes that affect the result, without the called computations."""
    attributes = split_attributes(text)
    left_out = {attribute for attribute, _ in called_computations(attributes)}
    return ", ".join(
        f"{name}={_attribute_value(name, value)}"
        for name, value in attributes.items()
        if name not in _WITHOUT_EFFECT_ON_RESULT and name not in left_out
    )


def _attribute_value(name: str, text: str) -> str:
    """Return the value of an attribute; equal device groups are the same, however written."""
    groups = parse_groups(text) if name == "replica_groups" else None
    return str(groups.groups) if groups and groups.groups else text
