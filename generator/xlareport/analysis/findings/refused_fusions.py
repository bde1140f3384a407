"""Producer not fused into its consumer.

GPU only, and only if the dump has `priority_fusion_dump`: the fusion pass rejected the fusion. The
finding quotes the reason of the pass and lists the current consumers. It appears if writing the
results of the producers and reading them in each consumer takes 3% or more of the roofline time.
That is the upper bound of the saving, without kernel launches. Each kernel counts for at most its
roofline time: it can read a part of a result alone.

Results that a loop, a collective or the caller also needs are written in any case, so only reading
them counts. Collectives do not count as consumers. Custom fusions (Triton) and library calls
contain only what was assigned to them earlier. If the producer or all consumers are of this kind,
the pass cannot save anything, and the finding states no saving. The exceptions are the scores of
attention and their softmax, between two matrix products: a fused kernel keeps them on the chip, so
that a finding of their own states their traffic as the saving. Operands that a scatter updates in
place, and its results, are in memory in any case and are not reported. The names of the log are
followed through the fusions to the final module.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from msgspec import Struct

from xlareport.analysis.code.unfused_pairs import (
    WeighedResult,
    find_consumers,
    last_refusal,
    list_results,
)
from xlareport.analysis.cost.roofline import estimate_time
from xlareport.analysis.findings.attention_scores import find_attention_scores
from xlareport.analysis.findings.finding import MOST_PLACES, Case, Finding, join_names
from xlareport.hlo.model import Computation, Instruction, InstructionKey
from xlareport.hlo.opcode_groups import ALIASES
from xlareport.readers.fusion_decisions import FusionDecision
from xlareport.runtime import units
from xlareport.runtime.graphs import reachable

LEAST_SHARE = 0.03
"""Of the module's roofline time, what all that were refused for one reason could save together."""
_LONGEST = 200
_KERNELS = frozenset(
    {"custom-call", "fft", "cholesky", "triangular-solve", "sort", "rng-bit-generator"}
)
"""Opcodes of which the backend makes kernels or library calls of their own."""
_IDS = ("partition-id", "replica-id")
_IN_PLACE = ("do not fuse into the in-place operand", "do not fuse into the output of scatter")
"""How the reason begins where a scatter updates a buffer in place, which has to be in memory."""


class _Refused(Struct, frozen=True):
    """A producer that was not fused."""

    place: InstructionKey
    users: tuple[str, ...]
    seconds: float
    """Its whole time."""
    saved: float
    """The time to write its result and to read it again in each user: what fusing saves at most.

    Where something else needs the result, it is written all the same.
    """
    is_needed: bool
    """Whether a loop, a collective or the caller needs the result too."""


def refused_fusions(case: Case) -> Iterator[Finding]:
    """Report what the fusion pass refused to fuse into its users, together for each reason.

    Only the last word of the pass counts, and only where there is a user to be fused into: a
    collective is none.
    """
    refused: dict[str, list[_Refused]] = defaultdict(list)
    closed: dict[str, list[_Refused]] = defaultdict(list)
    collectives = {figures.collective.key for figures in case.collectives}
    for computation, instruction, cost in case.scheduled():
        place = (computation.name, instruction.name)
        linked = case.decisions.get(place)
        is_weighed = linked is not None and instruction.opcode not in _IDS
        seconds = case.least(cost)
        for result in (
            list_results(computation, instruction, linked) if linked and is_weighed else ()
        ):
            reason = _last_word(result.decisions)
            is_told = reason and not reason.startswith(_IN_PLACE)
            users = tuple(_work_of(collectives, computation, result.names)) if is_told else ()
            if not users:
                continue
            fusible = [user for user in users if not _is_closed(computation.by_name[user])]
            is_closed = _is_closed(instruction) or not fusible
            read = users if is_closed else fusible
            is_needed = instruction.is_root or not _are_all(computation, result.names, users)
            spares_write = not is_needed and len(read) == len(users)
            size = _size_read(computation, result)
            kernels = (place,) * spares_write + tuple((place[0], name) for name in read)
            saved = sum(_time_to_move(case, kernel, size) for kernel in kernels)
            group = closed if is_closed else refused
            group[reason].append(_Refused(place, users, seconds, saved, is_needed))
    yield from _closed_findings(case, closed)
    for reason, producers in sorted(refused.items()):
        if case.is_noticeable(sum(producer.saved for producer in producers), LEAST_SHARE):
            producers.sort(key=lambda producer: (-producer.saved, producer.place))
            yield _finding(case, reason, producers)


def _time_to_move(case: Case, kernel: InstructionKey, size: int) -> float:
    """Return the time in which all runs of a kernel move so many bytes, at most its roofline time.

    A kernel can read a part of a value alone.
    """
    cost = case.cost.instructions[kernel]
    seconds = case.time_of_bytes(size * cost.counted)
    return min(seconds, case.least(cost)) if estimate_time(cost, case.device) else seconds


def _size_read(computation: Computation, result: WeighedResult) -> int:
    """Return the bytes of a result; of a tuple, of the elements that are taken: no workspace."""
    if not result.shape.elements:
        return result.shape.byte_size or 0
    users = (user for name in result.names for user in computation.users.get(name, ()))
    taken = {user.taken_element for user in users if user.opcode == "get-tuple-element"}
    elements = enumerate(result.shape.elements)
    return sum(shape.byte_size or 0 for number, shape in elements if number in taken)


def _is_closed(instruction: Instruction) -> bool:
    """Return whether it is a kernel that takes in no more: a custom fusion or a library call."""
    kind = instruction.attributes.get("kind", "")
    return instruction.opcode in _KERNELS or kind == "kCustom"


def _are_all(computation: Computation, names: Iterable[str], users: Iterable[str]) -> bool:
    """Return whether nothing but these uses a value, by whatever name."""
    known = set(users)

    def renamed(name: str) -> list[str]:
        users = computation.users.get(name, ())
        return [user.name for user in users if user.opcode in ALIASES and not user.is_root]

    return all(
        user.name in known or (user.opcode in ALIASES and not user.is_root)
        for name in reachable(names, renamed)
        for user in computation.users.get(name, ())
    )


def _closed_findings(case: Case, closed: dict[str, list[_Refused]]) -> Iterator[Finding]:
    """Yield what only another lowering could fuse, all reasons together.

    No saving is known, but for the scores of attention, for which there are fused kernels.
    """
    names = dict.fromkeys(refusal.place[0] for alike in closed.values() for refusal in alike)
    module = case.module
    scores = {name: find_attention_scores(module, module.by_name[name]) for name in names}
    parts: tuple[dict[str, list[_Refused]], ...] = defaultdict(list), defaultdict(list)
    for reason, alike in closed.items():
        for refusal in alike:
            parts[refusal.place[1] in scores[refusal.place[0]]][reason].append(refusal)
    attention = sum(refusal.saved for alike in parts[True].values() for refusal in alike)
    if not case.is_noticeable(attention, LEAST_SHARE):
        yield from _closed_finding(case, closed)
        return
    yield from _closed_finding(case, parts[True], _ATTENTION)
    yield from _closed_finding(case, parts[False])


class _Remedy(Struct, frozen=True):
    """What could save the traffic of results that no fusion takes in, in words."""

    title: str
    of: str
    """Of what the producers are."""
    verb: str
    """Who could save the traffic."""
    suggestion: str
    is_known: bool
    """Whether there is such a kernel, so that the traffic counts as a saving."""


_ATTENTION = _Remedy(
    title="Attention scores are written to memory",
    of=" of scores, of their softmax or of their gradients",
    verb="fused attention can save",
    suggestion=(
        "Use fused attention, which keeps the scores on the chip: jax.nn.dot_product_attention "
        'with implementation="cudnn", or a Pallas kernel. The saving is an upper bound.'
    ),
    is_known=True,
)
_LOWERING = _Remedy(
    title="Custom fusion or library call not fused with its neighbor",
    of="",
    verb="only another lowering could save",
    suggestion=(
        "Triton fusions and library calls take in only what was assigned to them before. One "
        "kernel in place of several would save the traffic, such as fused attention or a Pallas "
        "kernel."
    ),
    is_known=False,
)


def _closed_finding(
    case: Case, closed: dict[str, list[_Refused]], remedy: _Remedy = _LOWERING
) -> Iterator[Finding]:
    """Yield a finding if the traffic is worth it; it is the saving of a known remedy."""
    producers = sorted(
        (producer for alike in closed.values() for producer in alike),
        key=lambda producer: (-producer.saved, producer.place),
    )
    moved = sum(producer.saved for producer in producers)
    if not case.is_noticeable(moved, LEAST_SHARE):
        return
    counts = sorted(closed.items(), key=lambda item: (-len(item[1]), item[0]))
    reasons = ", ".join(f"{len(alike)} ({reason})" for reason, alike in counts)
    first = producers[0]
    yield Finding(
        rule="refused-fusions",
        title=remedy.title,
        places=tuple(producer.place for producer in producers[:MOST_PLACES]),
        occurrences=len(producers),
        evidence=(
            f"{units.plural(len(producers), 'producer')}{remedy.of} by the log of the fusion pass: "
            f"{reasons}. Their results take {case.time_words(moved)}, "
            f"to be written and read, which {remedy.verb}. Consumers of `{first.place[1]}`: "
            f"{join_names(first.users)}."
        ),
        suggestion=remedy.suggestion,
        grade="matched",
        weight=moved if remedy.is_known else 0.0,
        seconds=moved if remedy.is_known else None,
    )


def _finding(case: Case, reason: str, producers: list[_Refused]) -> Finding:
    seconds, saved = (
        sum(producer.seconds for producer in producers),
        sum(producer.saved for producer in producers),
    )
    first = producers[0]
    needed = "; a loop, a collective or the caller needs it too" if first.is_needed else ""
    return Finding(
        rule="refused-fusions",
        title=f"Producer not fused into its consumer: {_in_words(reason)}",
        places=tuple(producer.place for producer in producers[:MOST_PLACES]),
        occurrences=len(producers),
        evidence=(
            f"{units.plural(len(producers), 'instruction')}, "
            f"{units.share(case.share(seconds))} of the module's roofline time, by the log of the "
            f"fusion pass: {reason}. Fusing them saves at most {case.time_or_share(saved)}, the "
            "time to read their results in each consumer and to write those that nothing else "
            f"needs, and the launches. Consumers of `{first.place[1]}`: "
            f"{join_names(first.users)}{needed}."
        ),
        suggestion=(
            "Check the reason and the consumers: elementwise work that is written so that each "
            "consumer has the same shape and layout can be fused into all of them."
        ),
        grade="matched",
        weight=saved,
        seconds=saved,
    )


_WORDS = (
    ("fusion into output of a reduce fusion", "it has a reduction"),
    ("both the producer and the consumer contain a reduce", "both have a reduction"),
    ("the consumer is not fusible", "no fusion takes in that kind of consumer"),
    ("the producer is not fusible", "no fusion takes in that kind of producer"),
    ("Fusion can not be tiled", "XLA cannot tile both together"),
)
"""Beginnings of XLA's reasons, with their meanings in a title."""


def _in_words(reason: str) -> str:
    """Return what a reason of XLA means; the reason itself where no words are known for it."""
    return next((words for text, words in _WORDS if reason.startswith(text)), reason)


def _work_of(
    collectives: AbstractSet[InstructionKey], computation: Computation, names: Iterable[str]
) -> Iterator[str]:
    users = (user for name in names for user in find_consumers(computation, name))
    for user in dict.fromkeys(users):
        if (computation.name, user) not in collectives:
            yield user


def _last_word(decisions: Iterable[FusionDecision]) -> str:
    """Return the reason for the refusal with which the steps end; empty where they end in none."""
    decision = last_refusal(decisions)
    if decision is None:
        return ""
    return decision.reason.partition(":")[0][:_LONGEST].replace("`", "'")
