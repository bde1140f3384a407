"""Pairs that the GPU fusion pass did not fuse, as groups of its step: one group for each reason."""

from collections.abc import Sequence
from typing import Any

from xlareport.analysis.code.unfused_pairs import OF_THE_PRODUCER, UnfusedPair
from xlareport.knowledge.grades import weakest
from xlareport.pages.words import fusion_estimate
from xlareport.runtime.english import first_few
from xlareport.runtime.grouping import group_by_key

_LONGEST_REASON = 200
_MOST_LISTED = 4
_MOST_PAIRS = 300
"""Limit on listed pairs of one reason."""


def unfused_groups(pairs: Sequence[UnfusedPair]) -> list[dict[str, Any]]:
    """Return the groups of a step's payload, the most frequent reason first."""
    by_reason = group_by_key((pair.reason, pair) for pair in pairs)
    return [
        {
            "kind": "unfused",
            "label": "Producers not fused into their consumers",
            "title": reason[:_LONGEST_REASON],
            "count": len(alike),
            "grade": weakest(pair.grade for pair in alike),
            "examples": [_example(pair) for pair in alike[:_MOST_PAIRS]],
        }
        for reason, alike in sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0]))
    ]


def _example(pair: UnfusedPair) -> dict[str, Any]:
    fused, apart = pair.microseconds_fused, pair.microseconds_unfused
    sentences = []
    if pair.consumers > 1 and not pair.reason.startswith(OF_THE_PRODUCER):
        sentences.append(f"One of {pair.consumers} consumers on which the pass decides together")
    if fused is not None and apart is not None:
        names = [f"%{name}" for name in pair.listed]
        of = f"with {first_few(names, _MOST_LISTED)}" if names else "with all consumers"
        sentences.append(f"XLA's estimate {of} and launches: {fusion_estimate(fused, apart)}")
    return {
        "before": f"%{pair.producer}",
        "after": f"%{pair.consumer}",
        "where": "",
        "reason": ". ".join(sentences),
        "grade": pair.grade,
    }
