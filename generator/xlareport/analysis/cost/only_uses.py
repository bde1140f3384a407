"""What is computed only for certain instructions, such as those of the optimizer."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from xlareport.analysis.source.locations import op_name_of
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import WRAPPERS

IsMember = Callable[[Computation, Instruction, str], bool]
"""Whether an instruction with this op_name is meant."""


def find_only_for(
    order: Sequence[Computation], module: HloModule, is_user: IsMember, may_be: IsMember
) -> Mapping[str, set[str]]:
    """Return, by computation, the instructions whose values only such users read, at any depth.

    All between are such that may be. `order` has callees first. That the program returns a value as
    well does not matter.
    """
    only = _OnlyFor(module, is_user, may_be)
    for computation in order:
        only.add(computation)
    for computation in reversed(order):  # now the parameters of fusions are known
        only.add(computation)
        only.add_fused(computation)
    return only.names


class _OnlyFor:
    """What only certain users read, as far as it is known."""

    def __init__(self, module: HloModule, is_user: IsMember, may_be: IsMember) -> None:
        self._module, self._is_user, self._may_be = module, is_user, may_be
        self.names: dict[str, set[str]] = defaultdict(set)

    def add(self, computation: Computation) -> None:
        """Enter instructions by their readers, last first; what a caller reads is not known."""
        is_entry = computation is self._module.entry
        for instruction in reversed(computation.instructions):
            if instruction is computation.root or not self._is(
                self._may_be, computation, instruction
            ):
                continue
            users = computation.users.get(instruction.name, ())
            reads = [
                any(self._reads(computation, instruction, user))
                for user in users
                if not (is_entry and user is computation.root and user.opcode == "tuple")
            ]
            if reads and all(reads):
                self.names[computation.name].add(instruction.name)

    def add_fused(self, computation: Computation) -> None:
        """Enter the contents of fusions, and of asynchronous slices, that are entered."""
        for fusion in computation.instructions:
            if fusion.opcode in WRAPPERS and fusion.name in self.names[computation.name]:
                for called in self._module.callees(fusion):
                    self.names[called.name].update(
                        line.name
                        for line in called.instructions
                        if self._is(self._may_be, called, line)
                    )

    def _reads(
        self, computation: Computation, value: Instruction, user: Instruction
    ) -> Iterator[bool]:
        """Yield whether a user reads a value only for such users, in several ways to know it."""
        yield user.name in self.names[computation.name]
        if user.opcode != "fusion":
            yield self._is(self._is_user, computation, user)
        else:
            for called in self._module.callees(user):
                given = zip(user.operands, called.parameters, strict=False)
                yield all(
                    parameter.name in self.names[called.name]
                    for name, parameter in given
                    if name == value.name
                )

    def _is(self, member: IsMember, computation: Computation, instruction: Instruction) -> bool:
        return member(computation, instruction, op_name_of(instruction, self._module))
