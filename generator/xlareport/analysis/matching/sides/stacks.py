"""Where in the program the framework made an instruction: its whole Python stack.

One line of a program that is called from several places has one op_name and several stacks. XLA
keeps them through all passes. When it inlines a call, or calls something from a loop, it joins the
stack of the call with those of what is called, so frames that are there again say nothing.
"""

from collections.abc import Iterator, Mapping

from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.model import HloModule, Instruction, StackFrame
from xlareport.runtime.remembered import remembered

_CALLING = frozenset({"call", "conditional", "while"})
_DEEPEST = 64

_Place = tuple[str, str, int, int | None]
"""File, function, line and column."""
Stack = tuple[_Place, ...]
"""From the innermost frame outwards, each place once."""


def stack_of(node: Node) -> Stack:
    """Return the stack of a node, joined with those of its calls; empty if it is not known."""
    module = node.frame.module
    stacks, outermost = _stacks(module), _outermost(module)
    stack = _own(stacks, node.instruction)
    for call in _calls(node):
        if stack and stack[-1] in outermost:
            break
        stack += _own(stacks, call)
    return tuple(dict.fromkeys(stack))


def _own(stacks: Mapping[int, Stack], line: Instruction) -> Stack:
    return stacks.get(line.metadata.stack_frame_id or 0, ())


@remembered
def _stacks(module: HloModule) -> Mapping[int, Stack]:
    """Return the stack of each frame, by its id."""
    return {
        number: tuple(map(_place, _callers(module.stack_frames, number)))
        for number in module.stack_frames
    }


@remembered
def _outermost(module: HloModule) -> frozenset[_Place]:
    """Return where the stacks of the entry computation begin: such a stack is complete."""
    lines = module.entry.instructions if module.entry is not None else ()
    stacks = (_own(_stacks(module), line) for line in lines)
    return frozenset(stack[-1] for stack in stacks if stack)


def _callers(frames: Mapping[int, StackFrame], number: int | None) -> Iterator[StackFrame]:
    """Yield a frame and those that call it; a circle ends them."""
    seen: set[int] = set()
    while number is not None and number in frames and number not in seen:
        seen.add(number)
        yield frames[number]
        number = frames[number].parent


def _place(frame: StackFrame) -> _Place:
    return frame.file, frame.function, frame.line, frame.column


def _calls(node: Node) -> Iterator[Instruction]:
    """Yield the calls, loops and conditionals around a node, the innermost first."""
    module, caller, name = node.frame.module, node.frame.caller, node.frame.computation.name
    for _ in range(_DEEPEST):
        if caller is not None:
            call, name = caller.instruction, caller.frame.computation.name
            caller = caller.frame.caller
        else:
            calls = module.calls.get(name, ())
            if len(calls) != 1:
                return
            _, computation, call = calls[0]
            name = computation.name
        if call.opcode in _CALLING:
            yield call
