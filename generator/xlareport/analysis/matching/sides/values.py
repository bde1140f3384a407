"""Value numbering: equal numbers for equal expressions of equal values, on both sides at once.

Kept lines have values of their own; other values are forms over the numbers of operands. A line
that computes the same as a kept line gets its number, which reveals merges and clones.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator

from xlareport.analysis.matching.sides.element_orders import kinds_of
from xlareport.analysis.matching.sides.facts import Literal, callees_of, facts_of, literal_of
from xlareport.analysis.matching.sides.forms import Forms
from xlareport.analysis.matching.sides.graph import Frame, Graph, Node, element_taken, opened_root
from xlareport.analysis.matching.sides.repeated_clamps import read_through
from xlareport.hlo.opcode_groups import BOUNDARIES, COMMUTATIVE

UNKNOWN = -1
_FEW_USERS = 16
"""Readers of a value that are looked through in any case; of several values, the least read."""

_ELEMENT = "get-tuple-element"
_TWO = 2

_ValueInFrame = tuple[int, Frame]
_Written = tuple[Node | None, tuple[Node, tuple[int, ...]]]


class Tokens:
    """Numbers for expressions, shared by both sides."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, key: Hashable) -> int:
        """Return the number of a key, a new one at first use."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
        return number

    def find(self, key: Hashable) -> int | None:
        """Return the number of a key that is already known."""
        return self._numbers.get(key)

    def name(self, key: Hashable, token: int) -> None:
        """Let a key mean a number from now on."""
        self._numbers[key] = token


class Values:
    """The value numbers of one side's nodes."""

    def __init__(
        self, graph: Graph, forms: Forms, tokens: Tokens, callees: Callable[[str], int]
    ) -> None:
        self.graph = graph
        self.forms = forms
        self.order: list[Node] = []
        self._tokens = tokens
        self._of_element = tokens.of(_ELEMENT)
        self._callees = callees
        self._kept_with: dict[tuple[int, Frame], Node] = {}
        """Kept nodes by value and frame, the first where there are several."""
        self._kept_anywhere: dict[int, Node] = {}
        """The first kept node of each value."""
        self.renames = False
        """Whether the last evaluation gave a known expression the token of a kept line."""
        self._kept_opcodes = frozenset(_kept_opcodes(graph))
        """A line of another opcode has no twin that is kept."""
        self._equal_constants: dict[_ValueInFrame, list[Node]] = {}
        """Kept constants equal to an earlier one in their frame."""
        self._equal_uses: Counter[_ValueInFrame] = Counter()
        """Their readers, counted."""
        self._elements: dict[tuple[Node, tuple[int, ...]], int] = {}
        """Tokens of elements of results that are known to be another value."""
        self._linked_with: dict[int, Node] = {}
        self._read_by: dict[Node, frozenset[str]] = {}
        """Opcodes of the kept lines that read a node."""
        self._without_twins: dict[Node, list[int | Node | None]] = {}
        """Nodes without an equal kept line, with the operand values for which this was checked.

        A value that only the other side had can be that of a kept line later.
        """
        self._registered: set[tuple[Node, str]] = set()
        self._registered_equals: set[tuple[_ValueInFrame, str]] = set()

    def prepare(self, nodes: Iterable[Node]) -> None:
        """Fix the order of evaluation, operands first."""
        self.order = operands_first(nodes, self._derive)

    def literals(self) -> Iterator[Literal]:
        """Yield the literals of the constants among the differing nodes and their inputs."""
        for node in self.order:
            for this_node in (node, *node.inputs):
                if not this_node.instruction.operands:
                    yield literal_of(this_node.instruction)

    def note_kept(self, literals: Iterable[Literal]) -> None:
        """Give values to the kept lines that are read, and to kept constants of some literals."""
        for frame in self.graph.frames:
            self._note_constants(frame, literals)
        for node in self.order:
            for this_node in node.inputs:
                self._value_kept(this_node)
            node.constant = _is_constant(node)

    def evaluate(self) -> bool:
        """Compute the value number of every node; return whether any changed."""
        self.renames = False
        self._registered.clear()
        self._registered_equals.clear()
        changed = False
        for node in self.order:
            token = self._token(node)
            changed = changed or token != node.token
            node.token = token
        return changed

    def value_of(self, node: Node) -> int:
        """Return the value number of a node; a kept node gets its own."""
        self._value_kept(node)
        return node.token

    def kept_twin(self, node: Node) -> Node | None:
        """Return the kept line with the same value as a node, if there is one."""
        result = self._kept_like(node.token, node.frame)
        return None if result is node else result

    def kept_call(self, node: Node) -> Node | None:
        """Return the kept call or fusion that does the same as an opened one."""
        if opened_root(node) is None:
            return None
        line = node.instruction
        called = tuple([self._callees(callee) for _, callee in line.called])
        base = self._tokens.find((self.forms.of(line), called, False))
        token = self._tokens.find((base, *self.read(node)))
        return None if token is None else self._kept_like(token, node.frame)

    def _kept_like(self, token: int, frame: Frame) -> Node | None:
        """Return a kept node of a value, the nearest along the way that led to a frame."""
        step: Frame | None = frame
        while step is not None:
            node = self._kept_with.get((token, step))
            if node is not None:
                return node
            step = step.caller.frame if step.caller is not None else None
        return self._kept_anywhere.get(token)

    def _note_constants(self, frame: Frame, literals: Iterable[Literal]) -> None:
        constants = facts_of(frame.computation).constants
        for literal in literals if constants else ():
            for line in constants.get(literal, ()):
                if line in frame.kept:
                    self._value_kept(frame.node(line))

    def _derive(self, node: Node) -> tuple[Node, ...]:
        """Set the number of a node's operation; return its inputs. Called once for each node."""
        line = node.instruction
        if line.opcode == "parameter":
            kinds = kinds_of(line.shape)  # in another order, elements have other numbers
            home = node.frame.program, node.frame.number
            node.base = self._tokens.of(("parameter", home, line.argument, kinds))
            return ()
        operands = self.graph.operands(node)
        if line.opcode == _ELEMENT and operands:
            node.element = element_taken(line)
        node.reads_elements = any(path for _, path in operands)
        opened = opened_root(node)
        callees = () if opened else callees_of(line)
        called = tuple([self._callees(callee) for callee in callees])
        node.base = self._tokens.of((self.forms.of(line), called, opened is not None))
        inputs = read_through(self.graph, node, [operand for operand, _ in operands])
        node.commutes = line.opcode in COMMUTATIVE and len(inputs) == _TWO
        node.inputs = tuple([*inputs, opened] if opened else inputs)
        return node.inputs

    def read(self, node: Node) -> list[int]:
        """Return the value numbers of a node's operands."""
        return [self.element(operand, path) for operand, path in self.graph.operands(node)]

    def find(self, node: Node, read: Iterable[int]) -> int | None:
        """Return the value number of a node's operation on other operands; None if it is unused."""
        if node.base == UNKNOWN:
            self._derive(node)
        return self._tokens.find((node.base, *(sorted(read) if node.commutes else read)))

    def name_element(self, node: Node, path: tuple[int, ...], token: int) -> None:
        """Let an element of a node's result have a token from now on."""
        self._elements[node, path] = token

    def element(self, node: Node, path: tuple[int, ...]) -> int:
        """Return the token of an element of a node's result; that of the whole for no path."""
        if not path:
            return node.token
        known = self._elements.get((node, path))
        return self._tokens.of(("element", node.token, path)) if known is None else known

    def _key(self, node: Node) -> tuple[int, ...]:
        """Return the key of a node's value: its operation and the values of its operands."""
        if node.element:  # whatever its number, and its shape, which differ where others left
            operand, path = self.graph.operands(node)[0]
            return (self._of_element, self.element(operand, (*path, *node.element)))
        if not node.reads_elements:
            if len(node.inputs) == 1:
                return (node.base, node.inputs[0].token)
            read = [operand.token for operand in node.inputs]
            return (node.base, *(sorted(read) if node.commutes else read))
        read = self.read(node)
        if node.commutes:
            return (node.base, *sorted(read))
        return (node.base, *read, *[operand.token for operand in node.inputs[len(read) :]])

    def _token(self, node: Node) -> int:
        key = self._key(node)
        if node.partner is not None:
            self._tokens.name(key, node.token)
            self._linked_with.setdefault(node.token, node)
            return node.token
        known = self._tokens.find(key)
        near = None if known is None else self._kept_with.get((known, node.frame))
        if near is not None:
            return near.token
        if not node.inputs or node.instruction.opcode not in self._kept_opcodes:
            return self._tokens.of(key) if known is None else known
        self._note_twins(node)
        token = self._tokens.of(key)
        near = self._kept_with.get((token, node.frame))
        return token if near is None else near.token

    def _is_kept_value(self, token: int | None) -> bool:
        return token in self._kept_anywhere

    def _value_kept(self, node: Node) -> None:
        """Give a kept node its token, which never changes: its own, or a constant's value."""
        if node.token != UNKNOWN or not node.kept:
            return
        line = node.instruction
        if line.operands or line.opcode == "parameter":
            node.token = self._tokens.of((node.frame.number, line.name))
        else:
            self._derive(node)
            node.token = self._tokens.of(self._key(node))
            node.constant = True
        self._kept_anywhere.setdefault(node.token, node)
        first = self._kept_with.setdefault((node.token, node.frame), node)
        if node.constant and first is not node:
            value = (node.token, node.frame)
            self._equal_constants.setdefault(value, []).append(node)
            self._equal_uses[value] += _use_count(node)

    def _note_twins(self, node: Node) -> None:
        """Index the kept lines that read an equal value by their own values."""
        tokens = [source.token for source in node.inputs]
        linked, kept = map(self._linked_with.get, tokens), map(self._kept_anywhere.get, tokens)
        inputs = [*tokens, *linked, *kept]
        if self._without_twins.get(node) == inputs:
            return
        opcode = node.instruction.opcode
        written = [*zip(_passed_on(node), self.graph.operands(node), strict=False)]
        if not self._may_have_twin(written, opcode, node.frame):
            self._without_twins[node] = inputs
            return  # as nearly always
        read = [self._sources(passed, *item, node.frame) for passed, item in written]
        counts = [self._use_counts(*item) for item in read]
        most = max(_FEW_USERS, min(counts, default=0))
        for count, (sources, value) in zip(counts, read, strict=True):
            if count <= most:
                for source in sources:
                    self._note_users(source, opcode)
                self._note_users_of_equals(value, opcode)

    def _may_have_twin(self, written: Iterable[_Written], opcode: str, frame: Frame) -> bool:
        """Return whether kept lines of an opcode may read one of the `_sources` of operands."""
        for passed, (operand, path) in written:  # without lists: asked for millions of times
            token = operand.token
            kept = None if path else self._kept_like(token, frame)
            near = () if path else (operand, kept, self._linked_with.get(token))
            for source in (passed, *near):
                if source is not None and opcode in self._readers(source, opcode):
                    return True
            if not path and (token, kept.frame if kept else frame) in self._equal_constants:
                return True
        return False

    def _readers(self, source: Node, opcode: str) -> Collection[str]:
        """Return the opcodes of the kept lines that read a node; cached.

        A node with many users is not searched: the opcode in question is assumed to be among them.
        """
        readers = self._read_by.get(source)
        if readers is None:
            frame = source.frame
            users = frame.computation.users.get(source.instruction.name, ())
            if len(users) > _FEW_USERS:
                return (opcode,)
            readers = frozenset([user.opcode for user in users if user in frame.kept])
            self._read_by[source] = readers
        return readers

    def _use_counts(self, sources: list[Node], value: _ValueInFrame) -> int:
        """Return the number of users of the sources and of the constants equal to them."""
        return sum(map(_use_count, sources)) + self._equal_uses.get(value, 0)

    def _sources(
        self, passed: Node | None, operand: Node, path: tuple[int, ...], frame: Frame
    ) -> tuple[list[Node], _ValueInFrame]:
        """Return nodes that have the value of an operand and may have kept readers.

        Also return the key of the constants with the same value. `passed` only passes it on.
        """
        through = [] if passed is None else [passed]
        if path:  # readers of an element read what passes it on
            return through, (UNKNOWN, frame)
        kept = self._kept_like(operand.token, frame)
        linked = self._linked_with.get(operand.token)
        nodes = [node for node in (*through, operand, kept, linked) if node is not None]
        home = frame if kept is None else kept.frame
        return [*dict.fromkeys(nodes)], (operand.token, home)

    def _note_users_of_equals(self, value: _ValueInFrame, opcode: str) -> None:
        """Index the users of all constants with one value; once for each opcode."""
        if (value, opcode) not in self._registered_equals:
            self._registered_equals.add((value, opcode))
            for source in self._equal_constants.get(value, ()):
                self._note_users(source, opcode)

    def _note_users(self, source: Node, opcode: str) -> None:
        if (source, opcode) in self._registered:
            return
        self._registered.add((source, opcode))
        frame = source.frame
        for line in frame.computation.users.get(source.instruction.name, ()):
            if line.opcode == opcode and line in frame.kept:
                self._note_user(frame.node(line))

    def _note_user(self, user: Node) -> None:
        self._value_kept(user)
        if user.base == UNKNOWN:
            self._derive(user)
            for node in user.inputs:
                self._value_kept(node)
        if all(node.token != UNKNOWN for node in user.inputs):
            key = self._key(user)
            known = self._tokens.find(key)
            if known is not None and self._is_kept_value(known):
                self._kept_with.setdefault((known, user.frame), user)
            else:
                self.renames = self.renames or known is not None
                self._tokens.name(key, user.token)


def _passed_on(node: Node) -> Iterator[Node | None]:
    """Yield for each operand, by written name, the node that only passes on another value."""
    lines = node.frame.computation.by_name
    for name in node.instruction.operand_names:
        line = lines.get(name)
        passes_on = line is not None and line.opcode in BOUNDARIES
        yield node.frame.node(line) if line is not None and passes_on else None


def _is_constant(node: Node) -> bool:
    """Whether a node is made of constants alone, seen from its inputs."""
    line = node.instruction
    if not node.inputs:
        return line.opcode != "parameter" and not line.operands
    return all(operand.constant for operand in node.inputs)


def _kept_opcodes(graph: Graph) -> Iterator[str]:
    """Yield the opcodes of the kept lines of all frames."""
    for frame in graph.frames:
        if frame.kept:
            yield from [
                line.opcode for line in frame.computation.instructions if line in frame.kept
            ]


def _use_count(node: Node) -> int:
    return len(node.frame.computation.users.get(node.instruction.name, ()))


def operands_first(
    nodes: Iterable[Node], inputs_of: Callable[[Node], tuple[Node, ...]]
) -> list[Node]:
    """Return the nodes and their inputs without kept lines, operands first."""
    order: list[Node] = []
    state: dict[Node, bool] = {}
    for start in nodes:
        stack = [start]
        while stack:
            node = stack[-1]
            if node in state:
                stack.pop()
                if not state[node]:
                    state[node] = True
                    order.append(node)
                continue
            state[node] = False
            stack += [read for read in inputs_of(node) if not read.kept and read not in state]
    return order
