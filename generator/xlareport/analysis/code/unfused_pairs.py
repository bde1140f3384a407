"""Why two instructions were not fused: the last word of the GPU fusion pass on the producer.

The pass logs what it weighs under the names of the moment. In the snapshot right behind it what was
not fused has its last name, so that producers are found by name alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.code.decisions import LinkedDecisions, group_decisions
from xlareport.hlo.graph import readers_behind
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import ALIASES
from xlareport.hlo.shape import Shape
from xlareport.knowledge.opcodes import is_collective
from xlareport.readers.fusion_decisions import FusionDecision

_NO_CONSUMER = ALIASES | {"tuple", "while", "conditional", "call", "parameter"}
_OF_THE_PRODUCER = "the producer is "
"""Beginning of reasons that apply to every consumer."""
CONSUMER_NOT_FUSIBLE = "the consumer is not fusible"
_NEVER_FUSED_INTO = frozenset(
    {"call", "conditional", "custom-call", "get-tuple-element", "sort", "while"}
)
SLOWER = "the pass estimates that fusing does not make it faster"
_UNDECIDED = "the last estimate speaks for fusing, and the log does not say why it was not done"


class UnfusedPair(Struct, frozen=True):
    """A producer and a consumer of its value that are not in one fusion."""

    producer: str
    consumer: str
    reason: str
    """The pass's own words, or a text from its estimates."""
    microseconds_fused: float | None
    """XLA's estimate for the producer with all of its consumers, launches included."""
    microseconds_unfused: float | None
    grade: str
    """`exact`: the pass states the reason for this pair.

    `matched`: the reason is stated for the producer and all its consumers, or follows from
    estimates.
    """
    consumers: int = 1
    """Number of the producer's consumers: the pass fuses it into all of them, or into none."""
    blockers: tuple[str, ...] = ()
    """Users that the pass fuses nothing into, if the reason is that a consumer is such a one."""
    estimated: int = 0
    """Number of consumers that the log lists for the estimate; 0 where it lists none.

    Later passes can merge some of them.
    """


def list_unfused_pairs(
    module: HloModule, decisions: Iterable[FusionDecision]
) -> tuple[UnfusedPair, ...]:
    """Return the pairs of the snapshot after the pass whose producer is in the log."""
    last = last_decisions(decisions)
    return tuple(
        pair
        for computation in module.computations
        for producer in computation.instructions
        if (decision := last.get(producer.name))
        for pair in _pairs(computation, producer, (producer.name,), decision)
    )


def list_unfused_finally(
    module: HloModule, decisions: Iterable[FusionDecision]
) -> tuple[UnfusedPair, ...]:
    """Return the pairs of the final snapshot, whose producers are linked to the log by names.

    No pair is exact: passes after the fusion pass rename what it weighed. Collectives are in none:
    the pass does not fuse them.
    """
    linked, _ = group_decisions(decisions, module)
    return tuple(
        pair
        for computation in module.computations
        for instruction in computation.instructions
        if (fusion_pairs := linked.get((computation.name, instruction.name)))
        if not is_collective(instruction.opcode)
        for pair in _final_pairs(computation, instruction, fusion_pairs)
    )


def _final_pairs(
    computation: Computation, producer: Instruction, linked: LinkedDecisions
) -> Iterator[UnfusedPair]:
    for result in list_results(computation, producer, linked):
        decision = result.decisions[-1]
        if decision.kind != "fusion":
            for pair in _pairs(computation, producer, result.names, decision):
                if not is_collective(computation.by_name[pair.consumer].opcode):
                    yield replace(pair, grade=linked.grade)


class WeighedResult(Struct, frozen=True):
    """A result of an instruction that the fusion pass weighed by itself."""

    decisions: tuple[FusionDecision, ...]
    names: tuple[str, ...]
    """Of the instruction, or of those that take the result from its tuple."""
    shape: Shape


def list_results(
    computation: Computation, instruction: Instruction, linked: LinkedDecisions
) -> Iterator[WeighedResult]:
    """Yield the results of an instruction with the decisions on each, as far as they are known."""
    if linked.results is None:
        yield WeighedResult(linked.decisions, (instruction.name,), instruction.shape)
        return
    for number, decisions in linked.results.items():
        taking = tuple(
            user.name
            for user in computation.users.get(instruction.name, ())
            if user.opcode == "get-tuple-element" and user.taken_element == number
        )
        if number < len(instruction.shape.elements):
            yield WeighedResult(decisions, taking, instruction.shape.elements[number])


def last_refusal(decisions: Iterable[FusionDecision]) -> FusionDecision | None:
    """Return the last of the decisions if it is a refusal, estimates aside."""
    weighed = [decision for decision in decisions if decision.kind != "update_priority"]
    if not weighed or weighed[-1].kind == "fusion":
        return None
    return weighed[-1]


def last_decisions(decisions: Iterable[FusionDecision]) -> Mapping[str, FusionDecision]:
    """Return the last decision on each producer that was not fused away."""
    last: dict[str, FusionDecision] = {}
    for decision in decisions:
        if decision.kind == "fusion":
            last.pop(decision.producer, None)
        elif decision.producer:
            last[decision.producer] = decision
    return last


def _pairs(
    computation: Computation, producer: Instruction, names: Sequence[str], decision: FusionDecision
) -> Iterator[UnfusedPair]:
    """Yield the pairs of a decision; consumers are those of the names, which hold the value."""
    consumers = dict.fromkeys(
        consumer for name in names for consumer in find_consumers(computation, name)
    )
    fused, apart = decision.microseconds_fused, decision.microseconds_unfused
    slower = fused is not None and apart is not None and fused >= apart
    reason = decision.reason or (SLOWER if slower else _UNDECIDED)
    alone = len(consumers) == 1 or reason.startswith(_OF_THE_PRODUCER)
    grade = "exact" if decision.reason and alone else "matched"
    blockers = _blockers(computation, producer) if reason.startswith(CONSUMER_NOT_FUSIBLE) else ()
    for consumer in consumers:
        yield UnfusedPair(
            producer=producer.name,
            consumer=consumer,
            reason=reason,
            microseconds_fused=fused,
            microseconds_unfused=apart,
            grade=grade,
            consumers=len(consumers),
            blockers=blockers,
            estimated=len(decision.consumers),
        )


def _blockers(computation: Computation, producer: Instruction) -> tuple[str, ...]:
    """Return the users that the pass fuses nothing into."""
    return tuple(
        user.name
        for user in computation.users.get(producer.name, ())
        if user.opcode in _NEVER_FUSED_INTO or is_collective(user.opcode)
    )


def find_consumers(computation: Computation, name: str) -> Iterator[str]:
    """Yield the users that are work, those behind a renaming included."""
    for reader in readers_behind(computation, name, ALIASES):
        if reader.opcode not in _NO_CONSUMER:
            yield reader.name
