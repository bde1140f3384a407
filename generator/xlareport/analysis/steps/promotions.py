"""Element types that combined instructions had, where the combined one has another."""

from collections import Counter
from collections.abc import Sequence

from xlareport.analysis.cost.shape_sizes import iterate_leaves
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.runtime import english


def promoted(matching: Matching, members: Sequence[Place], after: Place | None) -> str:
    """Return how many of the combined sent another type: `3 of them as f32 instead of bf16`."""
    whole = matching.after.find(*after) if after else None
    types = {array.element_type for array in iterate_leaves(whole.shape)} if whole else set()
    if len(types) != 1:
        return ""
    (now,) = types
    lines = [matching.before.find(*member) for member in members]
    values = [line.shape for line in lines if line and not line.shape.elements]
    counts = Counter(shape.element_type for shape in values if shape.element_type != now)
    listed = [f"{count:,} of them as {now} instead of {was}" for was, count in counts.items()]
    return english.listing(listed)
