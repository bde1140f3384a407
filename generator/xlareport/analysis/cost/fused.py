"""Bytes that a fusion accesses: the parts of its parameters that it reads, and its results.

The rules are those of XLA's HloCostAnalysis: sliced operands are read in part, updated buffers are
written where they are updated, and values inside the fusion cost nothing. In the report's own
count, gathered and scattered buffers are accessed in part too, as XLA counts them outside of
fusions, and so is what is computed by element for a slice or a gather: a fusion computes no element
that it does not need.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from xlareport.analysis.cost.carried_state import (
    NOTHING_CARRIED,
    CarriedState,
    find_carried_state,
)
from xlareport.analysis.cost.shape_sizes import UncountableError, count_elements
from xlareport.analysis.cost.site import Site
from xlareport.analysis.cost.traffic import DATA, XLA, Sizes, Traffic
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.hlo.shape import Shape, parse_shape
from xlareport.knowledge.opcodes import opcode_work

_UNDER_WAY = -1
_BY_ELEMENT = opcode_work().by_element
_SLICES = ("slice", "dynamic-slice")
_UPDATE = "dynamic-update-slice"
_DEEPEST = 20
"""Slices and moves in a row that are followed."""
IMMEDIATE_ELEMENTS = 8
"""Constants of more elements are read from memory."""
Resolve = Callable[[str, Sizes], "Fused | None"]


class Fused(Struct, frozen=True, eq=False, dict=True):
    """A fused computation with the data to count its traffic."""

    computation: Computation
    resolve: Resolve
    """Finds the computations of nested fusions by name."""
    sizes: Sizes = DATA
    known: dict[str, int] = field(default_factory=dict)
    """Bytes read of each parameter, cached."""

    def traffic(self, fusion: Site) -> Traffic:
        """Return the bytes that a fusion instruction moves. Raises UncountableError."""
        state = NOTHING_CARRIED
        if self._partly:
            state = find_carried_state(self.computation, fusion.instruction)
        read = sum(
            self.parameter_read(parameter)
            for number, parameter in enumerate(self.computation.parameters)
            if number not in state.parameters
        )
        return Traffic(read + self._constants(), self._result_bytes(fusion.shape, state))

    def parameter_read(self, parameter: Instruction) -> int:
        """Return the bytes read of one parameter; for a tuple, of its elements.

        Raises UncountableError if fusions call one another in a cycle.
        """
        name = parameter.name
        if self.known.get(name) == _UNDER_WAY:
            raise UncountableError("fusions nest in a circle")
        if name not in self.known:
            self.known[name] = _UNDER_WAY
            values = _values(name, parameter.shape)
            self.known[name] = sum(self._read(value, shape) for value, shape in values)
        return self.known[name]

    def _read(self, value: str, shape: Shape) -> int:
        size = self.sizes.operand(shape)
        if not size:
            return 0
        total, demanded, shared, seen = 0, 0, False, set[str]()
        for user, name in self._users(value):
            if self._partly and user.opcode in _BY_ELEMENT:
                demanded += self._on_demand(user, size, shape, seen)
                continue
            cost, shares = self._read_by(user, name, shape)
            total += 0 if shares and shared else cost
            shared = shared or shares
        return total + (0 if shared else min(size, demanded))

    def _read_by(self, user: Instruction, value: str, whole: Shape) -> tuple[int, bool]:
        """Return the bytes that one user reads, and whether similar users share that read."""
        if user.opcode == "fusion":
            return self._nested(user, value), False
        if self._partly and user.opcode in REARRANGEMENTS and user.operands[:1] == (value,):
            size = self.sizes.operand(whole)
            needed = self._needed(user, size, whole, _DEEPEST, in_place=user.opcode == "bitcast")
            return needed, needed == size
        if user.opcode in ("broadcast", "reshape"):
            return self.sizes.operand(whole), False
        part = self._part_read(user, whole) if user.operands[:1] == (value,) else None
        return (self.sizes.operand(whole), True) if part is None else (part, False)

    def _part_read(self, user: Instruction, whole: Shape) -> int | None:
        """Return the bytes read of a first operand that is read in part; None where it is not."""
        if user.opcode in _SLICES:
            return self._sliced(user, whole)
        if user.opcode == "gather" and self._partly:
            return self._part(user.shape, whole)
        if user.opcode == "scatter" and self._partly:
            return self._updates(user, whole)
        return self._updated(user, whole) if user.opcode == _UPDATE else None

    def _updated(self, value: Instruction, whole: Shape, deepest: int = _DEEPEST) -> int:
        """Return the bytes read of a buffer that is updated in part, for what reads the result.

        A result of the fusion is updated in place, and nothing of the rest is read.
        """
        if not (self._partly and deepest):
            return 0
        operand_bytes, total = self.sizes.operand(whole), 0
        for user in self._by_operand.get(value.name, ()):
            if user.opcode == "tuple":
                continue
            if user.operands.count(value.name) > 1 or user.operands[0] != value.name:
                return operand_bytes
            if user.opcode in ("bitcast", _UPDATE):
                total += self._updated(user, whole, deepest - 1)
            elif user.opcode in _SLICES:
                total += self._sliced(user, whole, deepest - 1)
            else:
                return operand_bytes
        return min(operand_bytes, total)

    def _sliced(self, part: Instruction, whole: Shape, deepest: int = _DEEPEST) -> int:
        """Return the bytes that a slice reads of a buffer: of slices in a row the last one."""
        return self._needed(part, self._part(part.shape, whole), whole, deepest)

    def _part(self, part: Shape, whole: Shape) -> int:
        """Return the bytes of as many elements of a buffer as a part of it has.

        A convert between the two has given the part another element type.
        """
        if self._partly and part.element_type != whole.element_type:
            part = parse_shape(part.text.replace(part.element_type, whole.element_type, 1))
        return self.sizes.part(part, whole)

    def _on_demand(self, value: Instruction, own: int, whole: Shape, seen: set[str]) -> int:
        """Return the bytes read of a buffer for a value that is computed of it by element.

        Elements that no slice or gather takes are not computed, so their operands are not read.
        """
        waiting, total = [value], 0
        for node in waiting:
            users = self._by_operand.get(node.name, ())
            if not users or node is self.computation.root:
                return own
            for user in users:
                if user.name in seen:
                    continue
                seen.add(user.name)
                if user.opcode in _BY_ELEMENT or user.opcode in REARRANGEMENTS:
                    waiting.append(user)
                elif _takes_elements(user, node.name):
                    total += self._taken(user, whole)
                else:
                    return own
        return min(own, total)

    def _taken(self, part: Instruction, whole: Shape) -> int:
        if part.opcode == "gather":
            return self._part(part.shape, whole)
        return self._sliced(part, whole)

    def _needed(
        self, value: Instruction, own: int, whole: Shape, deepest: int, *, in_place: bool = False
    ) -> int:
        """Return the bytes read of a buffer for a value that consists of `own` bytes of it.

        A fusion computes elements on demand: of what is only sliced, the slices are read.
        `in_place` says that the value is the buffer itself under another shape.
        """
        users = self._by_operand.get(value.name, ())
        if not (self._partly and deepest and users) or value is self.computation.root:
            return own
        total = 0
        seen = set[str]()
        for user in users:
            if user.opcode in _BY_ELEMENT:
                total += self._on_demand(user, own, whole, seen)
                continue
            if user.operands.count(value.name) > 1 or user.operands[0] != value.name:
                return own
            if user.opcode in REARRANGEMENTS:
                stays = in_place and user.opcode == "bitcast"
                total += self._needed(user, own, whole, deepest - 1, in_place=stays)
            elif user.opcode in _SLICES:
                total += self._sliced(user, whole, deepest - 1)
            elif user.opcode == "gather":
                total += self._part(user.shape, whole)
            elif user.opcode == _UPDATE and in_place:
                total += self._updated(user, whole, deepest - 1)
            else:
                return own
        return min(own, total)

    @property
    def _partly(self) -> bool:
        return self.sizes is not XLA

    def _updates(self, scatter: Instruction, whole: Shape) -> int:
        """Return the bytes that a scatter with one operand writes."""
        update = self._operand(scatter, 2)
        return self.sizes.part(update.shape if update is not None else scatter.shape, whole)

    def _nested(self, user: Instruction, value: str) -> int:
        """Count a nested fusion: through it where it only passes the value on to slices."""
        inner = self._inner(user)
        total = 0
        for number, operand in enumerate(user.operands):
            if operand == value and number < len(inner.computation.parameters):
                parameter = inner.computation.parameters[number]
                total += self._nested_operand(user, inner, parameter)
        return total

    def _nested_operand(self, user: Instruction, inner: "Fused", parameter: Instruction) -> int:
        simple = _is_simple(inner.computation, parameter)
        total, shared = 0, False
        for outer, _ in self._users(user.name):
            cost, shares = inner.parameter_read(parameter), True
            if simple and outer.opcode in (*_SLICES, _UPDATE):
                cost, shares = self._read_by(outer, user.name, user.shape)
            total += 0 if shares and shared else cost
            shared = shared or shares
        return total

    def _inner(self, user: Instruction) -> "Fused":
        called = next((name for _, name in user.called), "")
        inner = self.resolve(called, self.sizes)
        if inner is None:
            raise UncountableError(f"the nested fusion {called[:80]} is not in the module")
        return inner

    def _constants(self) -> int:
        large = (
            instruction
            for instruction in self.computation.instructions
            if instruction.opcode == "constant"
            and count_elements(instruction.shape) > IMMEDIATE_ELEMENTS
        )
        return sum(self.sizes.operand(instruction.shape) for instruction in large)

    def _result_bytes(self, shape: Shape, state: CarriedState) -> int:
        results = ((path, leaf) for path, leaf in _arrays(shape) if path not in state.results)
        return sum(self._result(path, leaf) for path, leaf in results)

    def _result(self, path: tuple[int, ...], leaf: Shape) -> int:
        root = self.computation.root
        if root is not None and root.opcode == "tuple" and len(path) == 1:
            root = self._operand(root, path[0])
        for _ in range(_DEEPEST if self._partly else 0):
            if root is None or root.opcode != "bitcast":
                break
            root = self._operand(root, 0)
        if root is not None and root.opcode == _UPDATE:
            update = self._operand(root, 1)
            return self.sizes.part(update.shape if update is not None else leaf, leaf)
        if root is not None and root.opcode == "scatter" and self._partly and not path:
            return self._updates(root, leaf)
        return self.sizes.operand(leaf)

    def _operand(self, user: Instruction, number: int) -> Instruction | None:
        if number >= len(user.operands):
            return None
        return self.computation.by_name.get(user.operands[number])

    def _users(self, value: str) -> Iterator[tuple[Instruction, str]]:
        """Yield the users of a value with the name by which they use it.

        Users of `param#0` may also read it through a get-tuple-element, by that name.
        """
        for user in self._by_operand.get(value, ()):
            if user.opcode != "get-tuple-element":
                yield user, value
        name, _, path = value.partition("#")
        first, _, rest = path.partition("#")
        for element in self._elements.get((name, first), ()):
            yield from self._users(f"{element}#{rest}" if rest else element)

    @cached_property
    def _by_operand(self) -> Mapping[str, list[Instruction]]:
        instructions: dict[str, list[Instruction]] = {}
        for instruction in self.computation.instructions:
            for operand in dict.fromkeys(instruction.operands):
                instructions.setdefault(operand, []).append(instruction)
        return instructions

    @cached_property
    def _elements(self) -> Mapping[tuple[str, str], list[str]]:
        """The get-tuple-elements by operand and index."""
        elements: dict[tuple[str, str], list[str]] = {}
        for instruction in self.computation.instructions:
            if instruction.opcode == "get-tuple-element" and instruction.operands:
                key = (instruction.operands[0], instruction.attributes.get("index", ""))
                elements.setdefault(key, []).append(instruction.name)
        return elements


class FusedComputations(Struct):
    """The fused computations of a module, made on first use."""

    module: HloModule
    _known: dict[tuple[str, Sizes], Fused] = field(default_factory=dict)

    def find(self, name: str, sizes: Sizes) -> Fused | None:
        """Return a computation by its name; None where there is none."""
        fused = self._known.get((name, sizes))
        computation = None if fused else self.module.by_name.get(name)
        if computation is not None:
            fused = self._known[name, sizes] = Fused(computation, self.find, sizes)
        return fused


def _values(name: str, shape: Shape) -> Iterator[tuple[str, Shape]]:
    if shape.element_type != "tuple":
        yield name, shape
        return
    for path, leaf in _arrays(shape):
        yield "#".join((name, *map(str, path))), leaf


def _arrays(shape: Shape, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Shape]]:
    """Yield the arrays of a shape with their places; tokens and opaque values are left out."""
    if shape.element_type == "tuple":
        for number, element in enumerate(shape.elements):
            yield from _arrays(element, (*path, number))
    elif shape.element_type not in ("token", "opaque"):
        yield path, shape


def _takes_elements(user: Instruction, value: str) -> bool:
    """Return whether a user reads, of a value, only those elements that its result has."""
    takes = user.opcode in (*_SLICES, "gather")
    return takes and user.operands[0] == value and user.operands.count(value) == 1


def _is_simple(computation: Computation, parameter: Instruction) -> bool:
    """Return whether the root is without operands or takes the parameter first."""
    root = computation.root
    return root is not None and (not root.operands or root.operands[0] == parameter.name)
