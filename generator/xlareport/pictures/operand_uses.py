"""The operands in a picture: arrows between boxes, folded operands, outside values."""

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct, field

from xlareport.hlo.attributes import computation_names
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import COMMUTATIVE
from xlareport.pictures.drawing import Arrow, EdgeStyle, State
from xlareport.pictures.parts import InstructionGroup
from xlareport.pictures.scene import Instance, Value, resolve
from xlareport.pictures.style_values import folding_rules
from xlareport.runtime.graphs import reachable
from xlareport.runtime.whole_numbers import parse_whole_number

_COMMUTATIVE = COMMUTATIVE | {"tuple"}
_STYLES: tuple[EdgeStyle, ...] = ("normal", "thin", "control")
_LONGEST_LABEL = 12


class Item(Struct, frozen=True):
    """An item with a box, and the frame around it."""

    instance: Instance
    thing: InstructionGroup | Instruction
    frame: str | None = None
    box: str = ""
    """The id of the box; empty where the name will do."""
    state: State = "same"

    def instructions(self) -> Iterable[Instruction]:
        """Return the instructions that the box represents."""
        return (
            self.thing.instructions() if isinstance(self.thing, InstructionGroup) else (self.thing,)
        )


class _Arrow(Struct):
    """An arrow while its uses are collected."""

    operands: list[tuple[str, str]] = field(default_factory=list)
    """Number of the operand where that matters, and which element of a tuple it takes."""
    small: bool = True
    numbers: bool = True
    """Whether it carries nothing but single numbers."""

    def label(self, *, alone: bool) -> str:
        """Return `1` or `1#0`; the number is left out if no other arrow arrives."""
        words = [
            f"{'' if alone else number}{f'#{element}' if element else ''}"
            for number, element in self.operands
        ]
        text = ",".join(word for word in words if word)
        return text if len(text) <= _LONGEST_LABEL else f"{words[0]},… {len(words)}"


class Uses(Struct):
    """Folded operands, each by the box that uses it."""

    folded: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """Operands of a box without a box of their own: number and words."""
    outside: dict[str, tuple[Instruction, list[str]]] = field(default_factory=dict)
    """Values from outside of the picture, and the boxes that use them."""
    arrows: dict[tuple[str, str], _Arrow] = field(default_factory=dict)
    control: dict[tuple[str, str], None] = field(default_factory=dict)
    outputs: dict[str, list[int]] = field(default_factory=dict)
    """Which elements of the result a box makes, where the root tuple is folded."""
    leaving: set[str] = field(default_factory=set)
    """Boxes with a value that is used outside of the picture."""

    def drop_numbers(self, boxes: AbstractSet[str]) -> int:
        """Forget arrows from or to these boxes that carry single numbers; return how many."""
        dropped = [
            ends
            for ends, arrow in self.arrows.items()
            if arrow.numbers and not boxes.isdisjoint(ends)
        ]
        for ends in dropped:
            del self.arrows[ends]
        return len(dropped)

    def edges(self) -> list[Arrow]:
        """Return all arrows, the important ones first."""
        arriving = Counter(target for _, target in self.arrows)
        arrows = [
            Arrow(
                source,
                target,
                arrow.label(alone=arriving[target] == 1),
                "thin" if arrow.small else "normal",
            )
            for (source, target), arrow in self.arrows.items()
        ]
        arrows += [Arrow(source, target, style="control") for source, target in self.control]
        return sorted(arrows, key=lambda edge: _STYLES.index(edge.style))


def collect_uses(items: Sequence[Item], ids: Sequence[str]) -> Uses:
    """Place the items, each in the box of its id, and follow every operand."""
    for item, box in zip(items, ids, strict=True):
        for instruction in item.instructions():
            item.instance.places[instruction.name] = box
    uses = Uses()
    for item, box in zip(items, ids, strict=True):
        whole = isinstance(item.thing, Instruction)
        for this_instruction in item.instructions():
            _add_operands(uses, item.instance, this_instruction, box, whole=whole)
            _add_control(uses, item.instance, this_instruction, box)
            if _leaves(item.instance, this_instruction):
                uses.leaving.add(box)
    for instance in {id(item.instance): item.instance for item in items}.values():
        _add_outputs(uses, instance)
    return uses


def _add_operands(
    uses: Uses, instance: Instance, instruction: Instruction, box: str, *, whole: bool
) -> None:
    for number, operand in enumerate(instruction.operands):
        value = resolve(instance, operand)
        if value.box is not None:
            _add_arrow(uses, value, box, _numbered(instruction, number) if whole else None)
        elif value.words:
            if whole:
                uses.folded.setdefault(box, []).append((number, value.words))
        elif value.producer is not None:
            uses.outside.setdefault(value.producer.name, (value.producer, []))[1].append(box)


def _add_arrow(uses: Uses, value: Value, box: str, number: str | None) -> None:
    if value.box is None or value.box == box:
        return
    arrow = uses.arrows.setdefault((value.box, box), _Arrow())
    count = _element_count(value)
    arrow.small = arrow.small and count is not None and count < folding_rules().large_input
    arrow.numbers = arrow.numbers and count == 1
    if number is not None:
        arrow.operands.append((number, value.element))


def _element_count(value: Value) -> int | None:
    """Return how many numbers a value is; None where that is not known."""
    shape = value.producer.shape if value.producer else None
    for index in map(parse_whole_number, value.element.split("#")):
        if shape is not None and index is not None and index < len(shape.elements):
            shape = shape.elements[index]
    return shape.element_count if shape else None


def _numbered(user: Instruction, number: int) -> str:
    """Return the operand's number where it matters which one it is."""
    matters = len(user.operands) > 1 and user.opcode not in _COMMUTATIVE
    return str(number) if matters else ""


def _add_control(uses: Uses, instance: Instance, instruction: Instruction, box: str) -> None:
    if "control-predecessors" not in instruction.attributes_text:
        return
    for name in computation_names(instruction.attributes.get("control-predecessors", "")):
        source = instance.places.get(name)
        if source is not None and source != box:
            uses.control[source, box] = None


def _leaves(instance: Instance, instruction: Instruction) -> bool:
    """Whether an instruction without a box uses a value, directly or through elements of tuples."""
    folding, users = instance.folding, instance.computation.users

    def elements(name: str) -> list[str]:
        return [user.name for user in users.get(name, ()) if user.name in folding.elements]

    for name in reachable([instruction.name], elements):
        for user in users.get(name, ()):
            if not folding.is_folded(user.name) and user.name not in instance.places:
                return user.name not in instance.opened
    return False


def _add_outputs(uses: Uses, instance: Instance) -> None:
    if instance.caller is not None:
        return
    leads_on = instance.opened.keys() | instance.folding.elements.keys() | instance.places.keys()
    for operand, numbers in instance.folding.outputs.items():
        if operand.partition("#")[0] not in leads_on:
            continue  # most of a large entry is in other pictures
        box = resolve(instance, operand).box
        if box is not None:
            uses.outputs.setdefault(box, []).extend(numbers)
