"""The data flow graph of the differing part of a module, across fusions and calls.

An opened fusion or call is no node: its parameters are the operands of the call, and its value is
the root of its computation. A tuple element is the value put into the tuple. So an instruction
keeps its operands when it moves into a fusion or out of a call.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from msgspec import Struct, field

from xlareport.analysis.matching.sides.facts import TRANSPARENT, Call, facts_of
from xlareport.analysis.source.inlined_op_names import inlined_prefix, sole_scope
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.runtime.whole_numbers import parse_whole_number

_MOST_NODES_PER_LINE = 2
_LONGEST_CHAIN = 200
_DEEPEST = 100
"""Calls inside calls that are seen through."""


class Node(Struct, eq=False):
    """An instruction in one call context (`Frame`)."""

    frame: "Frame"
    instruction: Instruction
    kept: bool
    """The same line is in the same computation on the other side."""
    operands: tuple["NodeElement", ...] | None = None
    token: int = -1
    """Equal tokens: equal expressions over equal values."""
    base: int = -1
    """The number of its operation, apart from operands."""
    reads_elements: bool = False
    """An operand is an element of a tuple that another node makes."""
    element: tuple[int, ...] = ()
    """Which element of its operand it takes; empty of all but a `get-tuple-element`."""
    commutes: bool = False
    """Its two operands may change places: its value is the same."""
    inputs: tuple["Node", ...] = ()
    """The nodes that its value depends on: operands, and the root of an opened callee."""
    constant: bool = False
    """Made of constants alone."""
    partner: "Node | None" = None

    __repr__ = object.__repr__  # the fields of a node lead to all others


def opcode_of(node: Node) -> str:
    """Return the opcode of a node's instruction."""
    return node.instruction.opcode


MovedBy = Callable[[Computation, Instruction], Instruction | None]
"""Of an instruction that passes a value on, the one whose first operand is that value."""
NodeElement = tuple[Node, tuple[int, ...]]
"""A node, and the tuple elements to take from its result."""


class Frame(Struct, eq=False):
    """A call context of a computation; `caller` is None if its parameters remain unknown."""

    module: HloModule
    computation: Computation
    number: int
    """Of the pair that the computation belongs to, equal on both sides; else unique."""
    kept: Collection[Instruction]
    """Instructions that the paired computation has too; empty if there are several frames."""
    program: int = 0
    """Of the program whose names and numbers it has: equal on both sides of one compilation."""
    caller: "Node | None" = None
    depth: int = 0
    """Calls around it."""
    scope: str = ""
    """What inlining puts before the op_names in it: those of the calls around it."""
    nodes: dict[str, Node] = field(default_factory=dict)
    callees: dict[str, "Frame"] = field(default_factory=dict)
    """Frames of opened callees, by the name of the calling instruction."""

    __repr__ = object.__repr__  # see `Node`

    def node(self, instruction: Instruction) -> Node:
        """Return the node of an instruction, made on first use."""
        node = self.nodes.get(instruction.name)
        if node is None:
            node = Node(self, instruction, instruction in self.kept)
            self.nodes[instruction.name] = node
        return node


def opened_root(node: Node) -> Node | None:
    """Return the root of the computation that a node calls, if it is opened."""
    opened = node.frame.callees.get(node.instruction.name)
    root = None if opened is None else opened.computation.root
    return None if opened is None or root is None else opened.node(root)


def opened_results(node: Node) -> list[Node]:
    """Return what gives the results of the opened computation of a node: one, or each element."""
    root = opened_root(node)
    if root is None or root.instruction.opcode != "tuple":
        return [] if root is None else [root]
    lines = root.frame.computation.by_name
    named = (lines.get(name) for name in root.instruction.operand_names)
    return [root.frame.node(line) for line in named if line is not None]


def most_nodes(lines: int) -> int:
    """Return the limit on nodes for a number of differing instructions.

    A computation with several call sites gets nodes for each. Calls beyond the limit stay closed,
    which costs pairs but never time.
    """
    return _MOST_NODES_PER_LINE * (lines + 1000)


class CallSites:
    """The call sites of a module, by the name of the called computation."""

    def __init__(self, module: HloModule) -> None:
        self.by_callee: dict[str, list[tuple[Computation, Call]]] = {}
        for computation in module.computations:
            for call in facts_of(computation).calls:
                self.by_callee.setdefault(call.callee, []).append((computation, call))

    def transparent(self, callee: str) -> int:
        """Return the number of calls and fusions of a computation; 0 if it is used otherwise."""
        sites = self.by_callee.get(callee, ())
        seen_through = all(call.instruction.opcode in TRANSPARENT for _, call in sites)
        return len(sites) if seen_through else 0


class Graph:
    """The differing part of one module; nodes are created on first use."""

    def __init__(
        self,
        module: HloModule,
        differing: Mapping[str, Computation],
        opened: Collection[str],
        sites: CallSites,
        budget: int,
        *,
        paired: Collection[str] = (),
        program: int = 0,
        moved: MovedBy | None = None,
    ) -> None:
        """Keep the inputs; `paired` are the differing computations that continue others.

        `moved` gives what else is seen through, to the first operand of the line that it returns.
        """
        self.module = module
        self._paired = paired
        self._program = program
        self.differing = differing
        self._opened = opened
        self._sites = sites
        self._homes: dict[str, Frame] = {}
        self._budget = budget
        self._moved = moved

    def build(
        self, numbers: Mapping[str, int], kept: Mapping[str, Collection[Instruction]]
    ) -> None:
        """Make the frames of everything that differs; numbers and kept lines are by computation."""
        self._numbers, self._kept = numbers, kept
        queue = [
            self.home(computation)
            for computation in self.differing.values()
            if computation.name not in self._opened
        ]
        queue += self._outer_callers()
        for frame in queue:
            queue += self._open_calls(frame)
        reached = {frame.computation.name for frame in queue}
        queue += [
            self.home(computation)
            for name, computation in self.differing.items()
            if name not in reached
        ]
        self.frames = queue

    def release(self) -> None:
        """Remove references between frames and nodes, which form cycles."""
        for frame in (*self.frames, *self._homes.values()):
            for node in frame.nodes.values():
                node.partner = None
            frame.nodes.clear()
            frame.callees.clear()
            frame.caller = None

    def _outer_callers(self) -> list[Frame]:
        """Return frames of unchanged computations that call an opened, differing one."""
        frames: dict[str, Frame] = {}
        for name in self.differing:
            if name in self._opened:
                for computation, _ in self._sites.by_callee.get(name, ()):
                    if computation.name not in self.differing and computation.name not in frames:
                        frames[computation.name] = self.home(computation)
        return list(frames.values())

    def home(self, computation: Computation) -> Frame:
        """Return the frame of a computation whose parameters remain unknown."""
        name = computation.name
        frame = self._homes.get(name)
        if frame is None:
            kept = self._kept.get(name, ()) if name in self.differing else _Everything()
            scope = sole_scope(self.module, name)
            number = self._numbers[name]
            frame = Frame(self.module, computation, number, kept, self._program, scope=scope)
            self._homes[name] = frame
        return frame

    def _open_calls(self, frame: Frame) -> Iterator[Frame]:
        for call in facts_of(frame.computation).calls:
            line = call.instruction
            inside = frame.caller is not None and not frame.kept
            differs = call.callee in self.differing
            is_inlined = inside and differs and call.callee not in self._paired
            if line.opcode in TRANSPARENT and (is_inlined or call.callee in self._opened):
                differs = differs or line not in frame.kept
                callee = self.module.by_name.get(call.callee)
                if differs and callee is not None and self._affordable(callee, frame):
                    yield self._open(frame, line, callee)

    def _affordable(self, callee: Computation, frame: Frame) -> bool:
        self._budget -= len(callee.instructions)
        return self._budget > 0 and frame.depth < _DEEPEST and not _calls_itself(frame, callee)

    def _open(self, frame: Frame, line: Instruction, callee: Computation) -> Frame:
        kept = self._kept.get(callee.name, ())
        number, depth = self._numbers[callee.name], frame.depth + 1
        scope = inlined_prefix(frame.scope, line)
        caller, program = frame.node(line), self._program
        opened = Frame(self.module, callee, number, kept, program, caller, depth, scope)
        frame.callees[line.name] = opened
        return opened

    def call_sites(self, computation: str) -> Sequence[tuple[Computation, Call]]:
        """Return the call sites of a computation, each with the computation that contains it."""
        return self._sites.by_callee.get(computation, ())

    def callers(self, computation: str) -> list[str]:
        """Return the names of the instructions that call a computation."""
        return [call.instruction.name for _, call in self.call_sites(computation)]

    def operands(self, node: Node) -> tuple[NodeElement, ...]:
        """Return the operands of a node, seen through calls, fusions, tuples and parameters."""
        if node.operands is None:
            result = [self.resolve(node.frame, name) for name in node.instruction.operands]
            node.operands = tuple([item for item in result if item is not None])
        return node.operands

    def resolve(self, frame: Frame, operand: str) -> NodeElement | None:
        """Return the node and tuple path of an operand; None if the name is unknown."""
        name, _, element = operand.partition("#")
        line = frame.computation.by_name.get(name)
        path = _path(element) if element else ()
        if line is None:
            return None
        for _ in range(_LONGEST_CHAIN):
            mover = None if self._moved is None else self._moved(frame.computation, line)
            if mover is not None:
                step = _to_operand(frame, mover, 0, path)
            elif line.opcode in _SEEN_THROUGH:
                step = _through(frame, line, path)
            else:
                break
            if step is None:
                break
            frame, line, path = step
        return frame.node(line), path


def swaps_parameters(before: Node, after: Node) -> bool:
    """Whether two parameters of closed computations, such as sums, have different numbers."""
    old, new = before.instruction, after.instruction
    closed = before.frame.caller is None and after.frame.caller is None
    parameters = old.opcode == new.opcode == "parameter"
    if not (parameters and closed) or old.argument == new.argument:
        return False
    homes = before.frame.computation, after.frame.computation
    return len(homes[0].parameters) == len(homes[1].parameters)


def fills_with_array(before: Node, after: Node) -> bool:
    """Return whether a broadcast of an array that was computed would continue a constant's."""
    lines = before.instruction, after.instruction
    if lines[0].opcode != "broadcast" or lines[1].opcode != "broadcast":
        return False
    repeated = [node.frame.computation.operand(node.instruction) for node in (before, after)]
    scalars = [line is not None and not line.shape.dimensions for line in repeated]
    return before.constant and not after.constant and scalars == [True, False]


def element_taken(line: Instruction) -> tuple[int, ...]:
    """Return which element a `get-tuple-element` takes; empty where it does not say."""
    index = line.taken_element
    return () if index is None else (index,)


class _Everything(Collection[Instruction]):
    """A collection that contains every instruction: all lines of a shared computation are kept."""

    def __contains__(self, item: object) -> bool:
        return True

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Instruction]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _calls_itself(frame: Frame, callee: Computation) -> bool:
    """Whether the callee is on the way that led to the frame."""
    step: Frame | None = frame
    while step is not None:
        if step.computation is callee:
            return True
        step = step.caller.frame if step.caller is not None else None
    return False


_SEEN_THROUGH = TRANSPARENT | BOUNDARIES

_Step = tuple[Frame, Instruction, tuple[int, ...]]


def _through(frame: Frame, line: Instruction, path: tuple[int, ...]) -> _Step | None:
    """Return the next step toward the instruction that computes a value; None at the end."""
    match line.opcode:
        case "parameter":
            return _to_caller(frame, line, path)
        case "call" | "fusion":
            callee = frame.callees.get(line.name)
            root = callee.computation.root if callee is not None else None
            return None if callee is None or root is None else (callee, root, path)
        case "get-tuple-element":
            element = element_taken(line)
            return _to_operand(frame, line, 0, (*element, *path)) if element else None
        case "tuple" if path:
            return _to_operand(frame, line, path[0], path[1:])
        case _:
            return None


def _to_caller(frame: Frame, line: Instruction, path: tuple[int, ...]) -> _Step | None:
    number = parse_whole_number(line.argument)
    if frame.caller is None or number is None:
        return None
    return _to_operand(frame.caller.frame, frame.caller.instruction, number, path)


def _to_operand(
    frame: Frame, line: Instruction, number: int, path: tuple[int, ...]
) -> _Step | None:
    if number >= len(line.operands):
        return None
    name, _, element = line.operands[number].partition("#")
    instruction = frame.computation.by_name.get(name)
    if instruction is None:
        return None
    return frame, instruction, (*_path(element), *path) if element else path


def _path(element: str) -> tuple[int, ...]:
    """Return the place in a tuple that is after `#`; empty for the whole."""
    number = parse_whole_number(element)
    return () if number is None else (number,)
