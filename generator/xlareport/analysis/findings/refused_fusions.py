"""Producer not fused into its consumer.

GPU only, and only if the dump has `priority_fusion_dump`: the fusion pass rejected the fusion. The
finding quotes the reason of the pass and lists the current consumers. It appears if writing the
results of the producers and reading them in each consumer takes 3% or more of the roofline time.
That is the upper bound of the saving, without kernel launches. Each kernel counts for at most its
roofline time: it can read a part of a result alone.

Results that a loop, a collective or the caller also needs are written in any case, so only reading
them counts. Neither collectives nor instructions that later passes made count as consumers. Custom
fusions (Triton) and library calls contain only what was assigned to them earlier. Matmuls whose
partial sums are a finding of their own are left out. If the producer or all consumers are of this
kind, the pass cannot save anything, and the finding states no saving. What the rule on attention
scores reports is left out. Operands that a scatter updates in place, and its results, are in memory
in any case and are not reported. The names of the log are followed through the fusions to the final
module.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from xlareport.analysis.code.unfused_pairs import CONSUMER_NOT_FUSIBLE, last_refusal, list_results
from xlareport.analysis.findings.attention_scores import list_score_traffic
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.analysis.findings.result_traffic import (
    ResultTraffic,
    main_memory_bytes,
    weigh_result,
)
from xlareport.analysis.findings.split_products import split_products
from xlareport.hlo.opcode_groups import DEVICE_IDS
from xlareport.readers.fusion_decisions import FusionDecision
from xlareport.runtime import units
from xlareport.runtime.english import first_few

_CONVOLUTION = "__cudnn$conv"
LEAST_SHARE = 0.03
"""Of the module's roofline time, what all that were refused for one reason could save together."""
_LONGEST = 200
_MOST_UNREAD = 3
_ALSO_NEEDED = "a loop, a collective, the caller or what a later pass made needs it too"
_IN_PLACE = ("do not fuse into the in-place operand", "do not fuse into the output of scatter")
"""How the reason begins where a scatter updates a buffer in place, which has to be in memory."""


def refused_fusions(case: Case) -> Iterator[Finding]:
    """Report what the fusion pass refused to fuse into its users, together for each reason.

    Only the last word of the pass counts, and only where there is a user to be fused into: a
    collective is none.
    """
    refused: dict[str, list[ResultTraffic]] = defaultdict(list)
    closed: dict[str, list[ResultTraffic]] = defaultdict(list)
    split = case.places_of((split_products,))
    for reason, traffic in _refusals(case):
        if traffic.is_closed and traffic.place in split:
            continue  # the finding of its partial sums states this traffic
        group = closed if traffic.is_closed else refused
        group[reason].append(traffic)
    yield from _closed_finding(case, closed)
    for reason, producers in sorted(refused.items()):
        if case.is_noticeable(sum(producer.saved for producer in producers), LEAST_SHARE):
            producers.sort(key=lambda producer: (-producer.saved, producer.place))
            yield _finding(case, reason, producers)


def _refusals(case: Case) -> Iterator[tuple[str, ResultTraffic]]:
    """Yield each refused result with the reason, without reported scores of attention."""
    if not case.decisions:
        return
    scores = {traffic.place for traffic in list_score_traffic(case)}
    for computation, instruction, _ in case.scheduled:
        place = (computation.name, instruction.name)
        linked = case.decisions.get(place)
        if linked is None or instruction.opcode in DEVICE_IDS or place in scores:
            continue
        for result in list_results(computation, instruction, linked):
            reason = _last_word(result.decisions)
            if reason and not reason.startswith(_IN_PLACE):
                traffic = weigh_result(case, computation, instruction, result)
                yield from [(reason, traffic)] if traffic else ()


def _closed_finding(case: Case, closed: Mapping[str, list[ResultTraffic]]) -> Iterator[Finding]:
    """Yield what only another lowering could fuse, all reasons together: no saving is known."""
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
        title="Custom fusion or library call not fused with its neighbor",
        places=tuple(producer.place for producer in producers),
        evidence=(
            f"{units.plural(len(producers), 'producer')} by the log of the fusion pass: "
            f"{reasons}. Their results take {case.time_words(moved)}, "
            "to be written and read, which only another lowering could save. Consumers of "
            f"`{first.place[1]}`: {join_names(first.users)}."
        ),
        suggestion=_advise_closed(case, first),
        grade="matched",
        weight=0.0,
    )


def _advise_closed(case: Case, first: ResultTraffic) -> str:
    """Return the remedy for what only another lowering could fuse, by what the largest feeds."""
    users = (case.module.find(first.place[0], name) for name in first.users)
    if any(user is not None and _CONVOLUTION in user.attributes_text for user in users):
        return (
            "A convolution of a library reads its input from memory: what pads, transposes or "
            "converts it before writes it whole. Give the convolution the layout and the type that "
            "it reads, and as few inserted or padded elements as possible."
        )
    return (
        "Triton fusions and library calls take in only what was assigned to them before. One "
        "kernel in place of several would save the traffic, such as fused attention or a "
        "Pallas kernel."
    )


def _finding(case: Case, reason: str, producers: Sequence[ResultTraffic]) -> Finding:
    seconds, saved = (
        sum(producer.seconds for producer in producers),
        sum(producer.saved for producer in producers),
    )
    first = producers[0]
    needed = f"; {_ALSO_NEEDED}" if first.is_needed else ""
    elements = _reads_elements(case, first) if reason.startswith(CONSUMER_NOT_FUSIBLE) else ""
    return Finding(
        title=f"Producer not fused into its consumer: {_in_words(reason)}",
        places=tuple(producer.place for producer in producers),
        evidence=(
            f"{units.plural(len(producers), 'instruction')}, "
            f"{case.share_words(seconds)}, by the log of the "
            f"fusion pass: {reason}. Fusing them saves at most {case.time_or_share(saved)}, the "
            "time to read their results in each consumer and to write those that nothing else "
            f"needs, and the launches. Consumers of `{first.place[1]}`: "
            f"{join_names(first.users)}{needed}.{elements}{_unread(case, first)}"
        ),
        suggestion=_OF_ELEMENTS if elements else _OF_SHAPES,
        grade="matched",
        weight=saved,
        seconds=saved,
    )


_OF_SHAPES = (
    "Check the reason and the consumers: elementwise work that is written so that each consumer "
    "has the same shape and layout can be fused into all of them."
)
_OF_ELEMENTS = (
    "For a fusion with several results, no shape or layout of the consumers changes that. Of the "
    "other producers, check the consumers."
)


def _reads_elements(case: Case, producer: ResultTraffic) -> str:
    """Return that elements of a tuple are the consumers into which the pass fuses nothing."""
    home = case.module.by_name[producer.place[0]]
    users = home.users.get(producer.place[1], ())
    count = sum(user.opcode == "get-tuple-element" for user in users)
    if not count:
        return ""
    return (
        f" `{producer.place[1]}` is a fusion with several results: its direct consumers are "
        f"{units.plural(count, 'get-tuple-element')}, into which the pass fuses nothing."
    )


def _unread(case: Case, producer: ResultTraffic) -> str:
    """Return the elements of a result that are written although nothing reads them."""
    home = case.module.by_name[producer.place[0]]
    line = home.by_name[producer.place[1]]
    users = home.users.get(line.name, ())
    if line.is_root or any(user.opcode != "get-tuple-element" for user in users):
        return ""
    read = {user.taken_element for user in users if user.is_root or home.users.get(user.name)}
    unread = [
        f"`{{{number}}}` ({units.byte_size(size)})"
        for number, shape in enumerate(line.shape.elements)
        if number not in read and (size := main_memory_bytes(shape))
    ]
    if not unread:
        return ""
    which = units.plural(len(unread), "element")
    return f" Nothing reads {which} that it writes: {first_few(unread, _MOST_UNREAD)}."


_WORDS = (
    ("fusion into output of a reduce fusion", "it has a reduction"),
    ("both the producer and the consumer contain a reduce", "both have a reduction"),
    ("Fusion can not be tiled", "XLA cannot tile both together"),
)
"""Beginnings of XLA's reasons, with their meanings in a title."""


def _in_words(reason: str) -> str:
    """Return what a reason of XLA means; the reason itself where no words are known for it."""
    return next((words for text, words in _WORDS if reason.startswith(text)), reason)


def _last_word(decisions: Iterable[FusionDecision]) -> str:
    """Return the reason for the refusal with which the steps end; empty where they end in none."""
    decision = last_refusal(decisions)
    if decision is None:
        return ""
    return decision.reason.partition(":")[0][:_LONGEST].replace("`", "'")
