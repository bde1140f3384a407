"""What reads a value, in all computations that it is handed to: fusions, calls and loops."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import RUNNERS, WRAPPERS
from xlareport.runtime.graphs import reachable

_HANDED_ON = WRAPPERS | {"call"}
"""Their operands are the parameters of what they call, and its root is their result."""
_RETURNING = _HANDED_ON | {"conditional"}
"""Their result is the root of what they call."""
_TRANSIT = _RETURNING | {"get-tuple-element", "parameter"}
_SAME_TUPLE = frozenset({"opt-barrier", "optimization-barrier", "while"})
"""Each element of their result is that of their operand, or what a loop makes of it."""


class _Held(Struct, frozen=True):
    """A value at one place: an instruction of a computation, or an element of its tuple."""

    computation: str
    instruction: str
    element: int | None = None


def follow_readers(
    module: HloModule,
    computation: Computation,
    value: Instruction,
    is_passed: Callable[[Instruction], bool],
) -> Iterator[tuple[Computation, Instruction]]:
    """Yield the value and what reads it, and of readers that are passed what reads these.

    Tuples, and what hands a value to another computation and back, are always passed.
    """
    follower = _Follower(module, is_passed)
    start = _Held(computation.name, value.name)
    for held in reachable([start], lambda held: follower.following(held, is_start=held == start)):
        home = module.by_name[held.computation]
        yield home, home.by_name[held.instruction]


class _Follower:
    """One step of following a value."""

    def __init__(self, module: HloModule, is_passed: Callable[[Instruction], bool]) -> None:
        self._module, self._is_passed = module, is_passed

    def following(self, held: _Held, *, is_start: bool) -> Iterator[_Held]:
        """Yield what reads a value where it is held, in a called computation its parameter."""
        home = self._module.by_name[held.computation]
        line = home.by_name[held.instruction]
        if held.element is None and not (is_start or self._is_read_on(line)):
            return
        for user in home.users.get(line.name, ()):
            yield from self._in_user(held, user)
        if line is home.root:
            yield from self._at_callers(held)

    def _is_read_on(self, line: Instruction) -> bool:
        return line.opcode in _TRANSIT or self._is_passed(line)

    def _in_user(self, held: _Held, user: Instruction) -> Iterator[_Held]:
        """Yield the places in which a user has the value."""
        called = self._module.callees(user) if user.opcode in RUNNERS | WRAPPERS else []
        for name, home, given in self._handed(user, called):
            if name == held.instruction:
                yield _Held(home, given, held.element)
        if user.opcode == "get-tuple-element":
            if user.taken_element == held.element:
                yield _Held(held.computation, user.name)
        elif user.opcode == "tuple":
            for place, name in enumerate(user.operand_names):
                if name == held.instruction:
                    yield _Held(held.computation, user.name, place)
        elif user.opcode in _SAME_TUPLE or (held.element is None and not called):
            yield _Held(held.computation, user.name, held.element)

    @staticmethod
    def _handed(user: Instruction, called: Sequence[Computation]) -> Iterator[tuple[str, str, str]]:
        """Yield operands with the computation, and the parameter there, that each is given to."""
        for place, home in enumerate(called):
            of_branch = user.operand_names[1 + place : 2 + place]
            operands = of_branch if user.opcode == "conditional" else user.operand_names
            for name, given in zip(operands, home.parameters, strict=False):
                yield name, home.name, given.name

    def _at_callers(self, held: _Held) -> Iterator[_Held]:
        """Yield the results of what calls a computation whose root has the value."""
        for call in self._module.calls.get(held.computation, ()):
            if call.instruction.opcode in _RETURNING or call.role == "body":
                yield _Held(call.computation.name, call.instruction.name, held.element)
