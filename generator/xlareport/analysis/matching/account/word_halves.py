"""Which tuple of two new halves stands for which 64-bit integer or complex value of the old module.

The pass that splits the values visits them in order, and ends each in a tuple that nothing reads:
tuples are in the order of the values, and some are of steps in between. What reads a whole value
as before reads the halves of its tuple combined; such a tuple is listed where that is.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from msgspec import Struct

from xlareport.analysis.matching.search.nodes import node_after
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.hlo.model import Instruction

_HALVES = {
    "s64": frozenset({"s32", "u32"}),
    "u64": frozenset({"s32", "u32"}),
    "c64": frozenset({"f32"}),
    "c128": frozenset({"f64"}),
}
"""The types of the halves of each type."""
_ANY_HALF = frozenset[str]().union(*_HALVES.values())
_PRODUCTS = frozenset({"convolution", "dot", "multiply"})
_MIXED = _PRODUCTS | {"complex", "divide"}
"""Their real part is not made of real parts alone, or it is an operand."""
_TARGETS = {"X64SplitLow": "parameter"}
"""Targets of the calls that take the low half of a value of an opcode."""
_COMBINES = "X64Combine"
_BECOMES = {"convert": "bitcast-convert", "negate": "subtract"}
_SHIFTS = frozenset({"shift-left", "shift-right-arithmetic", "shift-right-logical"})
"""Their halves are chosen in the end by how far they shift."""
_STEPWISE = "multiply"
"""Its low half is made as it was, but it has two tuples."""
_WITHOUT_TUPLE = frozenset({"reduce", "reduce-window"})
"""They give the tuple themselves."""
_MOST_CONVERTS = 4


class Halves(Struct, eq=False):
    """A new tuple of two halves that nothing reads, or only what combines these again."""

    whole: Node
    """The tuple."""
    low: Node
    high: Node
    value: NodeElement
    """What computes the low half: of an element, the node that makes the tuple."""
    place: int
    """Among the tuples of halves of its computation that nothing reads; of others -1."""
    steps: Sequence["Halves"] = ()
    """The tuples between it and that of the value before."""

    @property
    def nodes(self) -> tuple[Node, Node, Node]:
        """Return the low half, the tuple and the high half."""
        return self.low, self.whole, self.high


def is_wide(line: Instruction) -> bool:
    """Return whether an instruction gives 64-bit integers or complex numbers."""
    return line.shape.element_type in _HALVES


def is_complex(node: Node) -> bool:
    """Return whether a node gives complex numbers, whose halves are real and imaginary parts."""
    return node.instruction.shape.element_type.startswith("c")


def halves_of(search: Search, new: Mapping[Node, object]) -> Mapping[Node, Halves]:
    """Return the halves of 64-bit and complex nodes of the old module, as far as they are known.

    `new` are the new nodes without a counterpart, in order.
    """
    wide = [node for node in search.before.nodes if is_wide(node.instruction)]
    tuples = [*_tuples(search, new)] if wide else []
    if not tuples:
        return {}
    known = _Known(search, tuples)
    for node in reversed(wide):
        known.settle_by_readers(node)
    known.settle_in_order(wide)
    return known.halves


def _tuples(search: Search, new: Mapping[Node, object]) -> Iterator[Halves]:
    """Yield the new tuples of two halves without users but combined ones, in order."""
    counts: dict[str, int] = {}
    for node in new:
        halves = written(node)
        is_pair = node.instruction.opcode == "tuple" and len(halves) == len(_PAIR)
        if is_pair and all(map(_is_half, halves)) and _only_combined(node):
            name = node.frame.computation.name
            place = -1
            if not search.after.users.get(node):
                place = counts[name] = counts.get(name, -1) + 1
            low, high = halves
            yield Halves(node, low, high, search.after.graph.operands(node)[0], place)


def _only_combined(node: Node) -> bool:
    """Return whether each user of a tuple's elements combines these again; true of no users."""
    users = node.frame.computation.users
    elements = users.get(node.instruction.name, ())
    return all(
        element.opcode == "get-tuple-element"
        and all(user.call_target == _COMBINES for user in users.get(element.name, ()))
        for element in elements
    )


_PAIR = ("low", "high")


def written(node: Node) -> list[Node]:
    """Return the operands of a node as they are written, or none if one is not known."""
    lines = [node.frame.computation.by_name.get(name) for name in node.instruction.operand_names]
    known = [node.frame.node(line) for line in lines if line is not None]
    return known if len(known) == len(lines) else []


def _is_half(node: Node) -> bool:
    return node.instruction.shape.element_type in _ANY_HALF


class _Known:
    """The halves that are known so far."""

    def __init__(self, search: Search, tuples: Sequence[Halves]) -> None:
        self._search = search
        self.halves: dict[Node, Halves] = {}
        self._taken: set[Halves] = set()
        self._by_value: dict[tuple[NodeElement, bool], Halves] = {}
        """By the low half, and whether the tuple takes it as an element of what passes it on."""
        self._last: dict[Node, Halves] = {}
        """The last tuple of each low half: those before it are steps."""
        self._by_high = {halves.high: halves for halves in tuples}
        self._by_home: dict[str, list[Halves]] = {}
        self._reading: dict[tuple[str, int, NodeElement], list[Halves]] = {}
        """The tuples by opcode of the low half, and what that reads at a position."""
        for halves in tuples:
            self._by_value.setdefault((halves.value, _is_element(halves.low)), halves)
            self._last[halves.low] = halves
            if halves.place < 0:
                continue
            self._by_home.setdefault(halves.whole.frame.computation.name, []).append(halves)
            line = halves.value[0].instruction
            for position, read in enumerate(search.after.graph.operands(halves.value[0])):
                self._reading.setdefault((line.opcode, position, read), []).append(halves)

    def settle_by_readers(self, node: Node) -> None:
        """Find the halves of a node that is paired, or that a paired node reads."""
        if node.partner is not None:
            self._settle(node, (node.partner, ()))
            halves = self._by_high.get(node.partner)
            if halves is not None and node not in self.halves and is_complex(node):
                self._settle(node, halves.value)
        if node.instruction.opcode == "complex":
            parts = [node_after(self._search, part) for part in written(node)]
            self._settle(node, (parts[0], ()) if parts and parts[0] else None)
        for user in node.frame.computation.users.get(node.instruction.name, ()):
            reader = node.frame.node(user)
            if node in self.halves or reader.partner is None:
                continue
            if user.opcode == "real":
                self._settle(node, (reader.partner, ()))
            else:
                for position, read in enumerate(written(reader)):
                    if read is node:
                        self._settle(node, self._read_by(reader, reader.partner, position))

    def _read_by(self, reader: Node, other: Node, position: int) -> NodeElement | None:
        """Return the low half that the counterpart of a reader has at the place of an operand."""
        place = _operand_position(reader, other, position)
        operands = self._search.after.graph.operands(other)
        if place is None or place >= len(operands):
            return None
        read, path = operands[place]
        if read.instruction.call_target == _COMBINES:
            read, path = self._search.after.graph.operands(read)[0]
        return read, path

    def _settle(self, node: Node, low: NodeElement | None) -> None:
        """Record the low half of a node, and from it those of its 64-bit operands."""
        waiting = [(node, low)]
        for reader, value in waiting:
            whole = _itself(reader)
            known_halves = self._with(whole, value)
            if known_halves is None or whole in self.halves or known_halves in self._taken:
                continue
            self.halves[whole] = known_halves
            self._taken.add(known_halves)
            source = known_halves.value[0]
            if _computes_low(whole, source):
                for position, read in enumerate(written(whole)):
                    if is_wide(read.instruction):
                        waiting.append((read, self._read_by(whole, source, position)))

    def _with(self, node: Node, low: NodeElement | None) -> Halves | None:
        """Return the last tuple with a low half, if that can be of a node."""
        first = None if low is None else self._by_value.get((low, _is_element(node)))
        known_halves = None if first is None else self._last[first.low]
        return known_halves if known_halves is not None and _may_be(node, known_halves) else None

    def settle_in_order(self, wide: Sequence[Node]) -> None:
        """Find the halves of further nodes: by what they read, and by the order of the tuples."""
        ended = [node for node in wide if _ends_in_tuple(node) and not self._is_combined(node)]
        for _, group in groupby(ended, key=self._home):
            nodes, place = [*group], 0
            for before, node in zip([nodes[0], *nodes], nodes, strict=False):
                known_halves = self.halves.get(node) or self._by_operands(node)
                sure = before is node or before in self.halves
                known_halves = known_halves or self._at(node, place, sure=sure)
                if known_halves is not None:
                    self._settle(node, known_halves.value)
                    place = max(place, self.halves.get(node, known_halves).place + 1)
            self._settle_backwards(nodes)
            self._note_steps(nodes)

    def _is_combined(self, node: Node) -> bool:
        halves = self.halves.get(node)
        return halves is not None and halves.place < 0

    def _settle_backwards(self, nodes: Sequence[Node]) -> None:
        """Find the halves of nodes before others of a single tuple, from the last on."""
        for node, successor in reversed([*pairwise(nodes)]):
            known_halves = self.halves.get(successor)
            if (
                node in self.halves
                or known_halves is None
                or successor.instruction.opcode == _STEPWISE
            ):
                continue
            if known_halves.place > 0 and _computes_low(successor, known_halves.value[0]):
                home = self._by_home[known_halves.whole.frame.computation.name]
                self._settle(node, home[known_halves.place - 1].value)

    def _note_steps(self, nodes: Sequence[Node]) -> None:
        for before, node in pairwise(nodes):
            first, last = self.halves.get(before), self.halves.get(node)
            if first is not None and last is not None and min(first.place, last.place) >= 0:
                between = self._by_home[last.whole.frame.computation.name]
                between = between[first.place + 1 : last.place]
                last.steps = [halves for halves in between if halves not in self._taken]

    def _home(self, node: Node) -> str:
        name = node.frame.computation.name
        return self._search.computations.pairs.get(name, name)

    def _by_operands(self, node: Node) -> Halves | None:
        """Return the first free tuple whose low half is the operation on the known low halves."""
        known = {
            position: self.halves[read]
            for position, read in enumerate(written(node))
            if read in self.halves
        }
        for halves in self._readers(node, known):
            source = halves.value[0]
            free = halves not in self._taken and _may_be(node, halves)
            if free and all(
                self._read_by(node, source, position) == read.value
                for position, read in known.items()
            ):
                return halves
        return None

    def _readers(self, node: Node, known: Mapping[int, Halves]) -> Iterator[Halves]:
        """Yield the tuples whose low half is the operation on the first known low half."""
        for position, halves in known.items():
            opcode = node.instruction.opcode
            for place in dict.fromkeys((position, _doubled(node, position))):
                for low_opcode in dict.fromkeys((opcode, _BECOMES.get(opcode, opcode))):
                    yield from self._reading.get((low_opcode, place, halves.value), ())
            return

    def _at(self, node: Node, place: int, *, sure: bool) -> Halves | None:
        """Return the tuple at a place, if that can be of a node.

        If halves before the node are not known, the first of another framework op is next.
        """
        waiting = self._by_home.get(self._home(node), [])[place:]
        if not sure:
            origin = waiting[0].whole.instruction.metadata.op_name if waiting else ""
            if origin == node.instruction.metadata.op_name:
                return self._behind(node, waiting)
            waiting = [halves for halves in waiting if _has_op_name_of(node, halves)]
        first = waiting[0] if waiting else None
        return first if first is not None and _computes_low(node, first.low) else None

    def _behind(self, node: Node, waiting: Sequence[Halves]) -> Halves | None:
        """Return the first tuple that reads another of those waiting, as a node reads a product."""
        products = [
            (position, read)
            for position, read in enumerate(written(node))
            if read.instruction.opcode in _PRODUCTS and is_complex(read)
        ]
        for halves in waiting if products else ():
            source, place = halves.value[0], waiting[0].place
            if not (_may_be(node, halves) and _computes_low(node, source)):
                continue
            for position, product in products:
                value = self._read_by(node, source, position)
                read = None if value is None else self._by_value.get((value, False))
                if read is not None and read.place >= place and _may_be(product, read):
                    return halves
        return None


def _is_element(node: Node) -> bool:
    return node.instruction.opcode == "get-tuple-element"


def _has_op_name_of(node: Node, halves: Halves) -> bool:
    return node.instruction.metadata.op_name == halves.whole.instruction.metadata.op_name


def _may_be(node: Node, halves: Halves) -> bool:
    """Return whether halves have the sizes and the framework op of a node, and fit its type."""
    whole, half = node.instruction.shape, halves.low.instruction.shape
    fits = half.element_type in _HALVES.get(whole.element_type, ())
    return fits and whole.dimensions == half.dimensions and _has_op_name_of(node, halves)


def _computes_low(node: Node, low: Node) -> bool:
    """Return whether the low half of a node's result is made as that was, of low halves."""
    opcode, source = node.instruction.opcode, low.instruction
    if opcode in _SHIFTS or (opcode in _MIXED and is_complex(node)):
        return False
    target = source.call_target
    return source.opcode in {opcode, _BECOMES.get(opcode)} or _TARGETS.get(target) == opcode


def _ends_in_tuple(node: Node) -> bool:
    return node.instruction.opcode not in _WITHOUT_TUPLE and _itself(node) is node


def _itself(node: Node) -> Node:
    """Return the operand of a convert between 64-bit types, which have the same halves."""
    for _ in range(_MOST_CONVERTS):
        read = written(node) if node.instruction.opcode == "convert" else []
        if not read or not is_wide(read[0].instruction):
            break
        node = read[0]
    return node


def _operand_position(reader: Node, other: Node, position: int) -> int | None:
    """Return where another reader has the operand of a reader: halves may take two places."""
    if not _computes_low(reader, other) or reader.instruction.opcode == "negate":
        return None
    if len(reader.instruction.operands) == len(other.instruction.operands):
        return position
    operands = written(reader)
    wide = sum(is_wide(operand.instruction) for operand in operands)
    fits = len(other.instruction.operands) == len(operands) + wide
    return _doubled(reader, position) if fits else None


def _doubled(reader: Node, position: int) -> int:
    """Return the place of an operand of a reader that takes both halves of each value."""
    before = written(reader)[:position]
    return position + sum(is_wide(operand.instruction) for operand in before)
