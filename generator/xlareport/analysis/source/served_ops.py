"""The ops that each instruction works for: its own op_name, else those of what it passes on."""

from collections.abc import Iterable, Iterator, Mapping

from xlareport.analysis.source.combined_ops import (
    element_op_names,
    is_combined,
    listed_op_names,
)
from xlareport.analysis.source.locations import op_name_of
from xlareport.analysis.source.loop_values import LoopValues
from xlareport.analysis.source.scopes import split_merged
from xlareport.hlo.graph import callees_first
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.hlo.opcode_groups import COMBINED_COLLECTIVES, WRAPPERS
from xlareport.runtime.remembered import remembered

_BUNDLES = frozenset({"tuple", "while", "conditional"})
"""Instructions with several values; the op of one value is not passed to the others."""
_COMBINING = frozenset(
    {
        "all-gather",
        "all-gather-start",
        "all-reduce",
        "all-reduce-start",
        "all-to-all",
        "collective-permute",
        "collective-permute-start",
        "concatenate",
        "reduce-scatter",
    }
)
"""Instructions of several operands, each of which serves the op of its operand."""
_MOVES = frozenset({"bitcast", "convert", "copy", "reshape"})
_ELEMENT = "get-tuple-element"
_MOST_MOVES = 8
"""Moves in a row between the result of a fusion and its concatenate."""

OpShares = tuple[tuple[str, float], ...]
"""op_names with their shares of an instruction, by bytes; empty where no op is known."""


@remembered  # cost, memory and comparisons ask for those of the same final snapshot
def serve_ops(module: HloModule) -> Mapping[InstructionKey, OpShares]:
    """Return the op_names that instructions work for, by computation and instruction.

    An instruction without op_name, such as a convert that a pass added, works for the op of its
    operand, also through parameters of fusions; if the operand has none, for that of its user, also
    in the body of a loop that carries the value; else for that of the loop's result. A collective
    that was combined works for the ops of all its operands.
    """
    order = callees_first(module)
    callers_first = module.computations if order is None else order[::-1]
    served = _Served(module)
    for computation in callers_first:
        served.add_by_operands(computation)
    for computation in callers_first:
        served.add_by_users(computation)
    for computation in reversed(callers_first):
        served.add_by_loops(computation)
    for computation in callers_first:
        served.add_by_users(computation)
    return served.ops


class _Served:
    """The ops of instructions, as far as they are known."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self.ops: dict[InstructionKey, OpShares] = {}
        self._members: dict[InstructionKey, list[OpShares]] = {}
        """Of combined instructions, the ops of each operand."""
        self._fusions: dict[str, InstructionKey] = {}
        self._loops = LoopValues(module)

    def add_by_operands(self, computation: Computation) -> None:
        """Enter instructions by their own op_name or their operands; record callers of fusions.

        What an asynchronous instruction runs counts as fused into it.
        """
        home = computation.name
        for instruction in computation.instructions:
            key = home, instruction.name
            read = [self.ops.get((home, name), ()) for name in instruction.operand_names]
            if instruction.opcode != "parameter":
                self.ops[key] = self._own(computation, instruction, read)
            if instruction.opcode in WRAPPERS:
                for _, name in instruction.called:
                    self._fusions[name] = key
                    fused = self._module.by_name.get(name)
                    for parameter, given in zip(
                        fused.parameters if fused else (), read, strict=False
                    ):
                        self.ops[name, parameter.name] = given

    def _own(
        self, computation: Computation, instruction: Instruction, read: list[OpShares]
    ) -> OpShares:
        op_name = op_name_of(instruction, self._module) or self._op_at_end(instruction)
        members = self._combined(computation, instruction, read)
        results = self._results(instruction)
        members_of = [ops for _, ops in results] or self._of_start(computation, instruction)
        if members_of:
            self._members[computation.name, instruction.name] = members_of
        written_op = ((op_name, 1.0),) if op_name else ()
        listed = listed_op_names(instruction, [main_op(ops) for _, ops in members])
        elements = self._element_ops(computation, instruction) if len(members) > 1 else {}
        joined = self._member_ops(computation, instruction)
        if joined:
            members = joined
        elif listed and is_combined(instruction):
            sizes = (size for size, _ in members)
            members = [(size, ((name, 1.0),)) for size, name in zip(sizes, listed, strict=True)]
        elif written_op and any(ops != written_op for ops in elements.values()):
            members = [(size, elements.get(at, written_op)) for at, (size, _) in enumerate(members)]
        elif not _are_merged(members, op_name):
            members = []
        if members:
            self._members[computation.name, instruction.name] = [ops for _, ops in members]
            return _divide(members)
        is_element = instruction.opcode == _ELEMENT and bool(instruction.operand_names)
        # XLA gives the elements of a fusion its op_name.
        if written_op and not (is_element and written_op in read):
            return written_op
        if instruction.opcode in _BUNDLES:
            return ()
        if is_element:
            return self._op_of_element(computation, instruction, read)
        return _divide(results) or next(filter(None, read), ())

    def _of_start(self, computation: Computation, done: Instruction) -> list[OpShares]:
        """Return the ops of the members that a done ends; empty of other instructions."""
        is_done = done.opcode.endswith("-done") and bool(done.operand_names)
        start = done.operand_names[0] if is_done else ""
        return self._members.get((computation.name, start), [])

    def _results(self, fusion: Instruction) -> list[tuple[int, OpShares]]:
        """Return bytes and ops of the results of a fusion of several; empty of others."""
        fused = self._fused(fusion)
        root = fused.root if fused is not None else None
        if fused is None or root is None or root.opcode != "tuple":
            return []
        lines = fused.operands(root)
        names = (self._op_behind_moves(fused, line) for line in lines)
        return _sized(fused, root, [((name, 1.0),) if name else () for name in names])

    def _op_at_end(self, fusion: Instruction) -> str:
        """Return the op whose value a fusion of one result moves at its end."""
        fused = self._fused(fusion)
        return self._op_behind_moves(fused, fused.root) if fused is not None else ""

    def _fused(self, fusion: Instruction) -> Computation | None:
        is_fusion = fusion.opcode == "fusion" and bool(fusion.called)
        return self._module.callee(fusion) if is_fusion else None

    def _op_behind_moves(self, computation: Computation, line: Instruction | None) -> str:
        """Return the op of a value, or of the value that it is moved or converted from."""
        for _ in range(_MOST_MOVES):
            if line is None or line.opcode == "parameter":
                break
            op_name = op_name_of(line, self._module)
            moves = line.opcode in _MOVES or line.opcode == "transpose"
            if op_name or not moves or not line.operand_names:
                return op_name
            line = computation.operand(line)
        return ""

    def _element_ops(
        self, computation: Computation, instruction: Instruction
    ) -> dict[int, OpShares]:
        """Return the op_names of the elements of a collective, by their indexes; none of others.

        On TPUs a combined collective has the op_name of its first member, its elements have their
        own. Those of one that the program wrote have its op_name.
        """
        if instruction.opcode not in COMBINED_COLLECTIVES:
            return {}
        names = element_op_names(self._module, computation, instruction)
        return {number: ((name, 1.0),) for number, name in names.items()}

    def _combined(
        self, computation: Computation, instruction: Instruction, read: list[OpShares]
    ) -> list[tuple[int, OpShares]]:
        """Return bytes and ops of what an instruction, or the root of a fusion, combines."""
        if instruction.opcode == "fusion" and instruction.called:
            fused = self._module.callee(instruction)
            return self._of_fusion(fused, read) if fused is not None else []
        if instruction.opcode not in _COMBINING:
            return []
        return _sized(computation, instruction, read)

    def _member_ops(
        self, computation: Computation, instruction: Instruction
    ) -> list[tuple[int, OpShares]]:
        """Return bytes and ops of the members that a collective has in one array; else none.

        XLA:GPU concatenates the operands of a combined all-reduce.
        """
        names = split_merged(instruction.metadata.op_name)
        operand = computation.operand(instruction) if len(names) > 1 else None
        if operand is None or instruction.opcode.removesuffix("-start") not in COMBINED_COLLECTIVES:
            return []
        fused = self._fused(operand)
        home, joining = (fused, fused.root) if fused else (computation, operand)
        joining = _behind_moves(home, joining)
        if joining is None or joining.opcode != "concatenate":
            return []
        sized = _sized(home, joining, [((name, 1.0),) for name in names])
        return sized if len(sized) == len(names) == len(joining.operands) else []

    @staticmethod
    def _of_fusion(fused: Computation, read: list[OpShares]) -> list[tuple[int, OpShares]]:
        """Return size and ops of each operand that a fusion concatenates; empty for others."""
        root = _behind_moves(fused, fused.root)
        if root is None or root.opcode != "concatenate":
            return []
        given = {line.name: ops for line, ops in zip(fused.parameters, read, strict=False)}
        sources = [_behind_moves(fused, fused.by_name.get(name)) for name in root.operand_names]
        ops = [given.get(source.name, ()) if source else () for source in sources]
        return _sized(fused, root, ops)

    def _op_of_element(
        self, computation: Computation, instruction: Instruction, read: list[OpShares]
    ) -> OpShares:
        """Return the op of one element of what was combined, else what the tuple works for."""
        operand = next(iter(instruction.operand_names))
        members = self._members.get((computation.name, operand), ())
        number = instruction.taken_element
        if number is not None and number < len(members) and members[number]:
            return members[number]
        return next(filter(None, read), ())

    def add_by_users(self, computation: Computation) -> None:
        """Enter the remaining instructions by their users, and a fusion's root by the fusion."""
        home = computation.name
        for instruction in reversed(computation.instructions):
            if self.ops.get((home, instruction.name)):
                continue
            users = computation.users.get(instruction.name, ())
            using = [
                self._used_for(home, user, instruction.name)
                for user in users
                if user.opcode not in _BUNDLES
            ]
            if instruction is computation.root and home in self._fusions:
                using.append(self.ops[self._fusions[home]])
            self.ops[home, instruction.name] = next(filter(None, using), ())

    def add_by_loops(self, computation: Computation) -> None:
        """Enter the remaining instructions by what reads or computes their values in loops."""
        home = computation.name
        for instruction in reversed(computation.instructions):
            if self.ops.get((home, instruction.name)) or instruction.opcode in _BUNDLES:
                continue
            read = self._loops.readers(computation, instruction.name)
            reading = (
                self._used_for(reader.computation.name, reader.instruction, reader.operand)
                for reader in read
            )
            ops = next(filter(None, reading), ()) or self._computed_in_loop(
                computation, instruction
            )
            self.ops[home, instruction.name] = ops

    def _computed_in_loop(self, computation: Computation, instruction: Instruction) -> OpShares:
        """Return the op of the element of a loop's result that an instruction reads."""
        makers = (
            maker
            for name in instruction.operand_names
            for maker in self._loops.makers(computation, name)
        )
        maker_ops = (self.ops.get((place.name, name), ()) for place, name in makers)
        return next(filter(None, maker_ops), ())

    def _used_for(self, home: str, user: Instruction, name: str) -> OpShares:
        """Return the ops for which a user reads a value; in a fusion, those of its readers.

        `name` is that of the value or, as written in operands, of an element of it.
        """
        user_ops = self.ops.get((home, user.name), ())
        fused = self._module.callee(user)
        if user.opcode != "fusion" or fused is None:
            return user_ops
        given = zip(user.operands, user.operand_names, fused.parameters, strict=False)
        parameters = [line for *names, line in given if name in names]
        op_names = [name for line in parameters for name in self._ops_reading(fused, line)]
        distinct = dict.fromkeys(op_names)
        return tuple((op_name, 1.0 / len(distinct)) for op_name in distinct) or user_ops

    def _ops_reading(self, computation: Computation, line: Instruction) -> Iterator[str]:
        """Yield the op_names of what reads a value, looking behind moves that have none."""
        waiting, seen = [line], {line.name}
        while waiting:
            for user in computation.users.get(waiting.pop().name, ()):
                op_name = "" if user.name in seen else op_name_of(user, self._module)
                if op_name:
                    yield op_name
                elif user.name not in seen and user.opcode in _MOVES:
                    waiting.append(user)
                seen.add(user.name)


def _are_merged(members: list[tuple[int, OpShares]], op_name: str) -> bool:
    """Return whether what an instruction combines was made for several ops, all of them known.

    The combined instruction has no op_name, all of them, or that of its first member.
    """
    if len(members) <= 1 or not all(ops for _, ops in members):
        return False
    of_member = any(op_name == main_op(ops) for _, ops in members)
    return not op_name or of_member or len(split_merged(op_name)) > 1


def _behind_moves(computation: Computation, line: Instruction | None) -> Instruction | None:
    """Return the value behind an instruction that only moves or converts it."""
    return computation.behind(line, _MOVES, _MOST_MOVES)


def _sized(
    computation: Computation, instruction: Instruction, ops: list[OpShares]
) -> list[tuple[int, OpShares]]:
    lines = computation.operands(instruction)
    sizes = ((line.shape.byte_size or 0) if line else 0 for line in lines)
    return list(zip(sizes, ops, strict=False))


def _divide(members: Iterable[tuple[int, OpShares]]) -> OpShares:
    """Return the ops of several members with their shares by bytes."""
    bytes_of: dict[str, float] = {}
    for size, ops in members:
        for op_name, share in ops:
            bytes_of[op_name] = bytes_of.get(op_name, 0.0) + size * share
    total = sum(bytes_of.values())
    if not total:
        return tuple((op_name, 1.0 / len(bytes_of)) for op_name in bytes_of)
    return tuple((op_name, size / total) for op_name, size in bytes_of.items())


def main_op(ops: OpShares) -> str:
    """Return the op_name with the largest share; empty where none is known."""
    if len(ops) == 1:  # as nearly always
        return ops[0][0]
    return max(ops, key=lambda item: item[1], default=("", 0.0))[0]


def share_out(total: int, ops: OpShares) -> list[int]:
    """Return a number divided by the shares of ops; the parts add up to it."""
    if len(ops) == 1:  # as nearly always
        return [round(ops[0][1] * total)]
    parts, given, wanted = [], 0, 0.0
    for _, share in ops:
        wanted += share * total
        parts.append(round(wanted) - given)
        given += parts[-1]
    return parts
