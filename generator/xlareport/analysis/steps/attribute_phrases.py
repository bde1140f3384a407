"""Changes of shardings, layouts, configs and numbers of summands, as phrases."""

from collections.abc import Sequence

from xlareport.analysis.steps import wording
from xlareport.analysis.steps.group_counts import BEFORE, count_by_opcode, counted_apart
from xlareport.analysis.steps.groups import ChangeGroup
from xlareport.runtime import english
from xlareport.runtime.grouping import group_by_key


def configured(groups: Sequence[ChangeGroup]) -> str:
    """Return of how many the backend config changed, and of how many it only got defaults."""
    alone = all(group.sets_defaults for group in groups)
    of_what = "in the backend_config of" if alone else "in that of"
    words = "changed backend_config of {}", f"set defaults {of_what} {{}}"
    return counted_apart(groups, lambda group: group.sets_defaults, *words)


def laid_out(groups: Sequence[ChangeGroup]) -> str:
    """Return of how many the layout changed, and of how many only its tiles."""
    words = "the layout of {}", "the tiling of {}"
    return f"changed {counted_apart(groups, lambda group: group.is_tiling, *words)}"


def summed(groups: Sequence[ChangeGroup]) -> str:
    """Return of how many the number of summands changed, and of how many the reduced elements."""
    words = "the number of summands of {}", "the number of reduced elements of {}"
    return f"changed {counted_apart(groups, lambda group: not group.is_summed, *words)}"


def sharded(groups: Sequence[ChangeGroup]) -> str:
    """Return of how many the sharding was set, removed and changed, the most first."""
    by_verb = group_by_key((group.sharding_verb, group) for group in groups)
    parts = [(verb, count_by_opcode(part, BEFORE)) for verb, part in by_verb.items()]
    parts.sort(key=lambda part: -sum(count for _, count in part[1]))
    objects = ["the sharding of", *["that of"] * len(parts)]
    return english.listing(
        [
            f"{verb} {words} {wording.counted(counts)}"
            for words, (verb, counts) in zip(objects, parts, strict=False)
        ]
    )
