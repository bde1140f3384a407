"""Where in the program the framework made an instruction: its whole Python stack, as a number.

One line of a program that is called from several places has one op_name and several stacks. XLA
keeps them through all passes. When it inlines a call, or calls something from a loop, it joins the
stack of the call with those of what is called, so frames that are there again say nothing.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.sides.graph import Graph, Node
from xlareport.analysis.matching.sides.values import Tokens
from xlareport.hlo.model import Instruction, StackFrame

_CALLING = frozenset({"call", "conditional", "while"})
_DEEPEST = 64


class Stacks:
    """The stacks of one side's nodes. Equal stacks of both sides have one number."""

    def __init__(self, graph: Graph, tokens: Tokens) -> None:
        self._graph = graph
        self._tokens = tokens
        self._walked: dict[int | None, tuple[StackFrame, ...]] = {}
        entry = graph.module.entry
        stacks = [] if entry is None else map(self._walk, entry.instructions)
        self._outermost = {_place(stack[-1]) for stack in stacks if stack}
        """Where the stacks of the entry computation begin."""

    def of(self, node: Node) -> int | None:
        """Return the number of a node's stack, joined with those of its calls; None if unknown."""
        frames = self._walk(node.instruction)
        if not frames:
            return None
        for call in self._calls(node):
            if _place(frames[-1]) in self._outermost:
                break
            frames += self._walk(call)
        return self._tokens.of(("stack", *dict.fromkeys(map(_place, frames))))

    def _calls(self, node: Node) -> Iterator[Instruction]:
        """Yield the calls, loops and conditionals around a node, the innermost first."""
        frame, computation = node.frame, node.frame.computation
        for _ in range(_DEEPEST):
            if frame is not None and frame.caller is not None:
                call, frame = frame.caller.instruction, frame.caller.frame
                computation = frame.computation
            else:
                sites = self._graph.call_sites(computation.name)
                if len(sites) != 1:
                    return
                frame, (computation, site) = None, sites[0]
                call = site.instruction
            if call.opcode in _CALLING:
                yield call

    def _walk(self, line: Instruction) -> tuple[StackFrame, ...]:
        """Return the stack of an instruction, from the innermost frame outwards."""
        number = line.metadata.stack_frame_id
        known = self._walked.get(number)
        if known is None:
            known = self._walked[number] = tuple(self._frames_of(number))
        return known

    def _frames_of(self, number: int | None) -> Iterator[StackFrame]:
        """Yield a stack from the innermost frame outwards; a circle ends it."""
        frames, seen = self._graph.module.stack_frames, set[int]()
        while number is not None and number in frames and number not in seen:
            seen.add(number)
            yield frames[number]
            number = frames[number].parent


def _place(frame: StackFrame) -> tuple[str, str, int, int | None]:
    return frame.file, frame.function, frame.line, frame.column
