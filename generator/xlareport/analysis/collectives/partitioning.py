"""The step that partitioned the program, and the counterpart of each instruction before it.

Only the snapshot before this step has shardings other than those of parameters.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.analysis.source.inlined_op_names import whole_op_names
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.knowledge.grades import Grade
from xlareport.knowledge.opcodes import begins_collective
from xlareport.runtime.grouping import group_by_key

MOVES = frozenset(
    {
        "bitcast",
        "convert",
        "copy",
        "copy-done",
        "copy-start",
        "dynamic-slice",
        "get-tuple-element",
        "opt-barrier",
        "reshape",
        "slice",
        "transpose",
    }
)
_FARTHEST = 50
_NO_OPS = frozenset({"parameter", "broadcast", "constant", "tuple"})
REPLICATED = "{replicated}"
LONGEST = 300
"""Characters of a sharding that are kept."""


class ShardedValue(Struct, frozen=True):
    """A value with its sharding."""

    instruction: str
    sharding: str
    """As the snapshot writes it."""


class Counterpart(Struct, frozen=True):
    """The instruction before partitioning that an instruction afterwards corresponds to."""

    home: Computation
    instruction: Instruction
    grade: Grade


class Moved(Struct, frozen=True):
    """The value that a collective of the partitioned snapshot moves."""

    home: Computation
    body: Instruction
    """The collective."""
    chain: tuple[Instruction, ...]
    """From its operand to the instruction that computed the value; see `chain_back`."""


class PartitioningStep(Struct, frozen=True):
    """The step that partitioned the program, with the matching of its two snapshots."""

    partitioning: Partitioning
    matching: Matching
    _by_op: dict[str, list[tuple[Computation, Instruction]]] = field(default_factory=dict)

    @property
    def before(self) -> HloModule:
        """Return the snapshot of whole shapes."""
        return self.partitioning.before

    @property
    def after(self) -> HloModule:
        """Return the snapshot of parts."""
        return self.partitioning.after

    @property
    def is_propagated(self) -> bool:
        """Whether shardings were propagated before, so that values without one are replicated."""
        return self.partitioning.is_propagated

    def sharding(self, instruction: Instruction) -> str:
        """Return the sharding of an instruction before partitioning; empty if unknown.

        The partitioner treats values without one as replicated
        (SpmdPartitioner::PreprocessSharding).
        """
        written = instruction.attributes.get("sharding", "")[:LONGEST]
        is_value = instruction.shape.element_type not in ("tuple", "token")
        return written or (REPLICATED if self.is_propagated and is_value else "")

    def operands(self, home: Computation, instruction: Instruction) -> Iterator[ShardedValue]:
        """Yield the operands whose sharding is known."""
        for name in dict.fromkeys(instruction.operand_names):
            operand = home.by_name.get(name)
            written = self.sharding(operand) if operand is not None else ""
            if written:
                yield ShardedValue(name, written)

    def by_op_name(self, op_name: str, opcodes: Sequence[str] = ()) -> Counterpart | None:
        """Return the instruction of a framework op before partitioning, of `opcodes` if possible.

        Where several instructions have the name, the first of them is a guess.
        """
        every = self.named(op_name)
        liked = [place for place in every if place[1].opcode in opcodes] or every
        if not liked:
            return None
        return Counterpart(*liked[0], Grade.MATCHED if len(liked) == 1 else Grade.GUESSED)

    def named(self, op_name: str) -> Sequence[tuple[Computation, Instruction]]:
        """Return the instructions with an op_name before partitioning."""
        if not self._by_op:
            self._by_op.update(_by_op_name(self.before))
        return self._by_op.get(op_name, []) if op_name else []

    def is_inserted(self, instruction: Instruction) -> bool:
        """Return whether partitioning inserted an instruction, for the op with its op_name."""
        name, opcode = instruction.metadata.op_name, instruction.opcode
        every = self.named(name)
        return bool(every) and all(former.opcode != opcode for _, former in every)

    def is_without_counterpart(self, moved: Moved) -> bool:
        """Return whether the partitioner made the value that a collective moves."""
        source = moved.chain[-1] if moved.chain else moved.body
        return self.counterpart(moved.home, source) is None

    def counterpart(self, home: Computation, instruction: Instruction) -> Counterpart | None:
        """Return an instruction's counterpart: parameters by number, others by the matching."""
        if instruction.opcode == "parameter" and home.is_entry and self.before.entry is not None:
            number = next(
                (n for n, parameter in enumerate(home.parameters) if parameter is instruction), None
            )
            parameters = self.before.entry.parameters
            if number is not None and number < len(parameters):
                return Counterpart(self.before.entry, parameters[number], Grade.EXACT)
        place = Place(home.name, instruction.name)
        partner = self.matching.partner_before(place)
        held = self.before.by_name.get(partner.computation) if partner else None
        if partner is None or held is None or partner.instruction not in held.by_name:
            return None
        pairing = self.matching.pairing_after(place)
        grade = pairing.weakest.grade if pairing else Grade.EXACT
        return Counterpart(held, held.by_name[partner.instruction], grade)


def _by_op_name(module: HloModule) -> Mapping[str, list[tuple[Computation, Instruction]]]:
    return group_by_key(
        (name, place)
        for place in module.placed
        if place[1].opcode not in _NO_OPS
        for name in whole_op_names(module, *place)
    )


def consumer_of(home: Computation, instruction: Instruction) -> Instruction | None:
    """Return the first that computes with a value, behind moves of data and collectives."""
    current = instruction
    for _ in range(_FARTHEST):
        users = home.users.get(current.name, ())
        if not users:
            return None
        current = users[0]
        if current.opcode not in MOVES and not begins_collective(current.opcode):
            return current
    return None


def chain_back(home: Computation, instruction: Instruction) -> list[Instruction]:
    """Return the instruction and those before it through data movement and collectives.

    The last one computed the value; a fusion that only moves data ends the chain.
    """
    chain = [instruction]
    for _ in range(_FARTHEST):
        current = chain[-1]
        moves = current.opcode in MOVES or begins_collective(current.opcode)
        names = current.operand_names
        if not names or not (moves or len(chain) == 1):
            break
        before = home.by_name.get(names[0])
        if before is None or before in chain:
            break
        chain.append(before)
    return chain[1:]
