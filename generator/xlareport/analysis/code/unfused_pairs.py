"""Why two instructions were not fused: the last word of the GPU fusion pass on the producer.

The pass logs what it weighs under the names of the moment. In the snapshot right behind it what was
not fused has its last name, so that producers are found by name alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.code.decisions import LinkedDecisions, group_decisions
from xlareport.analysis.code.later_instructions import LaterInstructions
from xlareport.hlo.graph import readers_behind
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import ALIASES
from xlareport.hlo.shape import Shape
from xlareport.knowledge.opcodes import is_collective
from xlareport.readers.fusion_decisions import FusionDecision
from xlareport.runtime.graphs import reachable

_NO_CONSUMER = ALIASES | {"tuple", "while", "conditional", "call", "parameter"}
_UNWEIGHED = _NO_CONSUMER | {"constant"}
_HALVES = ("-start", "-update", "-done")
OF_THE_PRODUCER = ("the producer is ", "not fusing because there are only bitcast users")
"""Beginnings of reasons that apply to every consumer, also to those behind bitcasts."""
CONSUMER_NOT_FUSIBLE = "the consumer is not fusible"
_NEVER_FUSED_INTO = frozenset(
    {"call", "conditional", "custom-call", "get-tuple-element", "sort", "while"}
)
SLOWER = "the pass estimates that fusing does not make it faster"
UNDECIDED = "the log does not say why: its last estimate has no reason"
BEHIND_BITCAST = "a bitcast is between them, into which the pass fuses nothing"
"""`PriorityFusion` in openxla/xla fuses a producer into all users that are no bitcasts, or none."""


class UnfusedPair(Struct, frozen=True):
    """A producer and a consumer of its value that are not in one fusion."""

    producer: str
    consumer: str
    reason: str
    """The pass's own words, or a text from its estimates."""
    microseconds_fused: float | None
    """XLA's estimate for the producer with all of `listed`, launches included.

    None where the log has it of other consumers alone, or only how a change of a consumer corrects
    it.
    """
    microseconds_unfused: float | None
    grade: str
    """`exact`: the pass states the reason for this pair.

    `matched`: the reason is stated for the producer and all its consumers, or follows from
    estimates.
    """
    consumers: int = 1
    """Number of consumers that the reason may be about: mostly those with no bitcast between.

    The pass decides on them together.
    """
    blockers: tuple[str, ...] = ()
    """Users that the pass fuses nothing into, if the reason is that a consumer is such a one."""
    listed: tuple[str, ...] = ()
    """The consumers that the log lists for the estimate, by their names at that time."""
    is_later: bool = False
    """Whether the consumer was made after the fusion pass, as the reason says."""


def list_unfused_pairs(
    module: HloModule, decisions: Iterable[FusionDecision]
) -> tuple[UnfusedPair, ...]:
    """Return the pairs of the snapshot after the pass whose producer is in the log."""
    steps = tuple(decisions)
    weighed = {step.producer for step in steps}
    bitcasts = {line.name for line in module.instructions if line.opcode == "bitcast"}
    log = _Log(last_words(steps), bitcasts)
    return tuple(
        pair
        for computation, producer in module.placed
        if producer.name in weighed
        for pair in _unfused_pairs(
            computation, producer, (producer.name,), log.last.get(producer.name), log
        )
    )


def list_unfused_finally(
    module: HloModule,
    decisions: Iterable[FusionDecision],
    later: LaterInstructions = MappingProxyType({}),
) -> tuple[UnfusedPair, ...]:
    """Return the pairs of the final snapshot, whose producers are linked to the log by names.

    No pair is exact: passes after the fusion pass rename what it weighed. Collectives are in none:
    the pass does not fuse them. A consumer of `later` was not there when the log was written.
    """
    steps = tuple(decisions)
    linked, _ = group_decisions(steps, module, later)
    listed = {name for step in steps for name in step.consumers}
    log = _Log(last_words(steps), listed, later)
    return tuple(
        pair
        for computation, instruction in module.placed
        if (fusion_pairs := linked.get((computation.name, instruction.name)))
        if not is_collective(instruction.opcode)
        for pair in (
            *_final_pairs(computation, instruction, fusion_pairs, log),
            *_later_pairs(computation, instruction, fusion_pairs, later),
        )
    )


class _Log(Struct, frozen=True):
    """What the log of the pass says of a snapshot."""

    last: "Mapping[str, LastWord]"
    bitcasts: AbstractSet[str]
    """Names of the bitcasts that the pass saw; other names do not matter."""
    later: LaterInstructions = MappingProxyType({})


def _final_pairs(
    computation: Computation, producer: Instruction, linked: LinkedDecisions, log: _Log
) -> Iterator[UnfusedPair]:
    """Yield the pairs of an instruction; later passes add bitcasts that the log does not list."""
    for result in list_results(computation, producer, linked):
        decision = result.decisions[-1]
        if decision.kind != "fusion":
            word = log.last.get(decision.producer)
            for pair in _unfused_pairs(computation, producer, result.names, word, log):
                if not is_collective(computation.by_name[pair.consumer].opcode):
                    yield replace(pair, grade=linked.grade, blockers=_seen(computation, pair, log))


def _seen(computation: Computation, pair: UnfusedPair, log: _Log) -> tuple[str, ...]:
    """Return the blockers of a pair that were there when the pass ran."""
    return tuple(name for name in pair.blockers if (computation.name, name) not in log.later)


def _later_pairs(
    computation: Computation,
    producer: Instruction,
    linked: LinkedDecisions,
    later: LaterInstructions,
) -> Iterator[UnfusedPair]:
    """Yield the pairs of an instruction with consumers that were made after the fusion pass."""
    for result in list_results(computation, producer, linked):
        if result.decisions[-1].kind != "fusion":
            readers = (
                name for alias in result.names for name in find_consumers(computation, alias)
            )
            for name in dict.fromkeys(readers):
                step = later.get((computation.name, name))
                if step is not None and not is_collective(computation.by_name[name].opcode):
                    reason = f"it was made after the fusion pass, {step.words}"
                    yield UnfusedPair(
                        producer.name, name, reason, None, None, step.grade, is_later=True
                    )


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


class LastWord(Struct, frozen=True):
    """The last decision on a producer that was not fused into its consumers."""

    decision: FusionDecision
    is_change: bool = False
    """Whether its estimates are a difference: XLA adds up what changed consumers change."""
    microseconds_saved: float = 0.0
    """By fusing, by the last estimate of all consumers and the differences since."""


def last_words(decisions: Iterable[FusionDecision]) -> Mapping[str, LastWord]:
    """Return the last decision on each producer that was not fused into its consumers.

    XLA estimates a producer as a whole where it is new or took in another, and otherwise only what
    its changed consumers change: `PriorityFusionQueue::CalculateProducerPriority`.
    """
    last: dict[str, LastWord] = {}
    renewed: set[str] = set()
    for decision in decisions:
        if decision.kind == "fusion":
            last.pop(decision.producer, None)
            renewed.add(decision.fusion)
        elif decision.producer:
            former = last.get(decision.producer)
            last[decision.producer] = _weigh(decision, former, is_new=decision.producer in renewed)
            renewed.discard(decision.producer)
    return last


def _weigh(decision: FusionDecision, former: LastWord | None, *, is_new: bool) -> LastWord:
    fused, apart = decision.microseconds_fused, decision.microseconds_unfused
    if fused is None or apart is None:
        return LastWord(decision)
    is_change = former is not None and former.decision.microseconds_fused is not None and not is_new
    saved = former.microseconds_saved if former is not None and is_change else 0.0
    return LastWord(decision, is_change, saved + apart - fused)


def _unfused_pairs(
    computation: Computation,
    producer: Instruction,
    names: Sequence[str],
    last: LastWord | None,
    log: _Log,
) -> Iterator[UnfusedPair]:
    """Yield the pairs of a producer; consumers are those of the names, which hold the value.

    Without a last word it was fused into all consumers but those behind the bitcasts. Consumers
    that were made later are left out.
    """
    direct, behind = (
        [consumer for consumer in consumers if (computation.name, consumer) not in log.later]
        for consumers in _split_consumers(computation, names, log.bitcasts)
    )
    reason = "" if last is None else _reason_of(last)
    if reason.startswith(OF_THE_PRODUCER):
        direct, behind = [*direct, *behind], []
    if last is not None:
        yield from _pairs_of_word(computation, producer, direct, last, reason)
    for consumer in behind:
        yield UnfusedPair(producer.name, consumer, BEHIND_BITCAST, None, None, "matched")


def _split_consumers(
    computation: Computation, names: Sequence[str], bitcasts: AbstractSet[str]
) -> tuple[list[str], list[str]]:
    """Return the consumers of a value, and those that read it through these bitcasts alone."""

    def renamed(name: str) -> list[str]:
        users = computation.users.get(name, ())
        aliases = [user for user in users if user.opcode in ALIASES]
        return [user.name for user in aliases if not _is_bitcast_of(user, bitcasts)]

    direct = {
        user.name for name in reachable(names, renamed) for user in computation.users.get(name, ())
    }
    consumers = dict.fromkeys(
        consumer for name in names for consumer in find_consumers(computation, name)
    )
    return (
        [consumer for consumer in consumers if consumer in direct],
        [consumer for consumer in consumers if consumer not in direct],
    )


def _is_bitcast_of(line: Instruction, bitcasts: AbstractSet[str]) -> bool:
    return line.opcode == "bitcast" and line.name in bitcasts


def _reason_of(last: LastWord) -> str:
    """Return the reason of the log, or that its estimates speak against fusing, or neither.

    Of changes that speak against it the whole has to do so too: older releases of XLA log an
    estimate of all consumers each time.
    """
    fused, apart = last.decision.microseconds_fused, last.decision.microseconds_unfused
    slower = fused is not None and apart is not None and fused >= apart
    is_slower = slower and last.microseconds_saved <= 0
    return last.decision.reason or (SLOWER if is_slower else UNDECIDED)


def _pairs_of_word(
    computation: Computation,
    producer: Instruction,
    consumers: Sequence[str],
    last: LastWord,
    reason: str,
) -> Iterator[UnfusedPair]:
    decision = last.decision
    alone = len(consumers) == 1 or reason.startswith(OF_THE_PRODUCER)
    for consumer in consumers:
        yield UnfusedPair(
            producer=producer.name,
            consumer=consumer,
            reason=reason,
            microseconds_fused=None if last.is_change else decision.microseconds_fused,
            microseconds_unfused=None if last.is_change else decision.microseconds_unfused,
            grade="exact" if decision.reason and alone else "matched",
            consumers=len(consumers),
            blockers=(
                _blockers(computation, producer) if reason.startswith(CONSUMER_NOT_FUSIBLE) else ()
            ),
            listed=decision.consumers,
        )


def _blockers(computation: Computation, producer: Instruction) -> tuple[str, ...]:
    """Return the users that the pass fuses nothing into."""
    return tuple(
        user.name
        for user in computation.users.get(producer.name, ())
        if user.opcode in _NEVER_FUSED_INTO or is_collective(user.opcode) or _is_closed_fusion(user)
    )


def _is_closed_fusion(user: Instruction) -> bool:
    """Return whether a fusion is a custom one, such as a Triton GEMM, that takes in no producer.

    Only those of kind `__triton` are open: `IsFusible` of openxla/xla's GPU priority fusion.
    """
    is_custom = user.attributes.get("kind") == "kCustom"
    return is_custom and '"kind":"__triton"' not in user.attributes_text


def is_weighable(instruction: Instruction) -> bool:
    """Return whether it is work of a kind that a fusion pass weighs at all."""
    opcode = instruction.opcode
    return opcode not in _UNWEIGHED and not opcode.endswith(_HALVES) and not is_collective(opcode)


def find_consumers(computation: Computation, name: str) -> Iterator[str]:
    """Yield the users that are work, those behind a renaming included."""
    for reader in readers_behind(computation, name, ALIASES):
        if reader.opcode not in _NO_CONSUMER:
            yield reader.name
