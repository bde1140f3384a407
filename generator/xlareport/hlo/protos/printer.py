"""Prints computations of a proto as lines of HLO text, in today's style of XLA."""

from collections.abc import Iterable, Iterator

from xlareport.hlo.protos.attributes import call_attributes, comparison_order, own_attributes
from xlareport.hlo.protos.common import common_attributes
from xlareport.hlo.protos.header import computation_header
from xlareport.hlo.protos.literals import literal_text
from xlareport.hlo.protos.schema import Message
from xlareport.hlo.protos.shapes import shape_text
from xlareport.hlo.protos.text_pieces import name, named, numbered, text
from xlareport.hlo.shape import ELEMENT_TYPES

_PRED = ELEMENT_TYPES["pred"].number
_FLOATS = frozenset(
    element_type.number for element_type in ELEMENT_TYPES.values() if element_type.is_float
)


class Printer:
    """Prints a module by the names for its ids; an unknown id is printed as itself."""

    def __init__(self, module: Message) -> None:
        self._entry = _entry(module)
        self._computations = {
            computation.id: name(computation.name) for computation in module.computations
        }
        self._instructions = {
            instruction.id: instruction
            for computation in module.computations
            for instruction in computation.instructions
        }
        self._schedule = {
            entry.key: entry.value.instruction_ids for entry in module.schedule.sequences
        }

    def header(self, computation: Message) -> str:
        """Return the line that opens a computation."""
        is_entry = computation is self._entry
        return f"{computation_header(computation, is_entry=is_entry)} {{"

    def lines(self, computation: Message) -> Iterator[str]:
        """Yield the instructions in the order of the schedule, else of the proto."""
        for item in self._scheduled(computation):
            root = "ROOT " if item.id == computation.root_id else ""
            yield root + self._line(item)

    def _scheduled(self, computation: Message) -> list[Message]:
        own = {instruction.id: instruction for instruction in computation.instructions}
        order = self._schedule.get(computation.id, ())
        if set(order) != own.keys() or len(order) != len(own):
            return list(computation.instructions)
        return [own[number] for number in order]

    def _line(self, value: Message) -> str:
        opcode = text(value.opcode)
        written = named(
            own_attributes(value)
            | self._comparison_order(value)
            | self._calls(value, opcode)
            | common_attributes(value, self._control(value))
        )
        head = (
            f"%{name(value.name)} = {shape_text(value.shape)} "
            f"{opcode}({self._operands(value, opcode)})"
        )
        return f"{head}, {written}" if written else head

    def _operands(self, value: Message, opcode: str) -> str:
        if opcode == "parameter":
            return str(value.parameter_number)
        if opcode == "constant":
            return literal_text(value.literal) if value.HasField("literal") else "{...}"
        old = map(name, value.operand_names)
        return numbered([f"%{name}" for name in (*self._names(value.operand_ids), *old)])

    def _control(self, value: Message) -> list[str]:
        old = map(name, value.control_predecessor_names)
        return [*self._names(value.control_predecessor_ids), *old]

    def _names(self, ids: Iterable[int]) -> Iterator[str]:
        for number in ids:
            known = self._instructions.get(number)
            yield name(known.name) if known is not None else str(number)

    def _calls(self, value: Message, opcode: str) -> dict[str, str]:
        called = [self._computations.get(n, str(n)) for n in value.called_computation_ids]
        called += map(name, value.called_computation_names)
        by_predicate = self._first_type(value) == _PRED
        return call_attributes(opcode, called, by_predicate=by_predicate)

    def _comparison_order(self, value: Message) -> dict[str, str]:
        if value.opcode != b"compare":
            return {}
        return comparison_order(value, of_floats=self._first_type(value) in _FLOATS)

    def _first_type(self, value: Message) -> int | None:
        """Return the number of the first operand's element type."""
        first = self._instructions.get(value.operand_ids[0]) if value.operand_ids else None
        return first.shape.element_type if first is not None else None


def _entry(module: Message) -> Message | None:
    """Return the entry computation: by id, else by name, else the last."""
    for computation in module.computations:
        if module.entry_computation_id and computation.id == module.entry_computation_id:
            return computation
    for item in module.computations:
        if module.entry_computation_name and item.name == module.entry_computation_name:
            return item
    return module.computations[-1] if module.computations else None
