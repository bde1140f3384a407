"""Changes of shardings, layouts, configs and numbers of summands, as phrases."""

from collections.abc import Sequence

from xlareport.analysis.steps import wording
from xlareport.analysis.steps.group_counts import BEFORE, count_by_opcode, counted
from xlareport.analysis.steps.groups import ChangeGroup
from xlareport.runtime import english
from xlareport.runtime.grouping import group_by_key


def configured(groups: Sequence[ChangeGroup]) -> str:
    """Return of how many the backend config changed, and of how many it only got defaults."""
    quiet = [group for group in groups if group.sets_defaults]
    others = [group for group in groups if not group.sets_defaults]
    of_what = "in the backend_config of" if not others else "in that of"
    parts = [
        f"changed backend_config of {counted(others, BEFORE)}" if others else "",
        f"set defaults {of_what} {counted(quiet, BEFORE)}" if quiet else "",
    ]
    return english.listing([part for part in parts if part])


def laid_out(groups: Sequence[ChangeGroup]) -> str:
    """Return of how many the layout changed, and of how many only its tiles."""
    tiled = [group for group in groups if group.is_tiling]
    others = [group for group in groups if not group.is_tiling]
    parts = [
        f"the layout of {counted(others, BEFORE)}" if others else "",
        f"the tiling of {counted(tiled, BEFORE)}" if tiled else "",
    ]
    return f"changed {english.listing([part for part in parts if part])}"


def summed(groups: Sequence[ChangeGroup]) -> str:
    """Return of how many the number of summands changed, and of how many the reduced elements."""
    sums = [group for group in groups if group.is_summed]
    others = [group for group in groups if not group.is_summed]
    parts = [
        f"the number of summands of {counted(sums, BEFORE)}" if sums else "",
        f"the number of reduced elements of {counted(others, BEFORE)}" if others else "",
    ]
    return f"changed {english.listing([part for part in parts if part])}"


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
