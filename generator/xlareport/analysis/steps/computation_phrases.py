"""Phrases of what became of whole computations."""

from collections.abc import Sequence

from xlareport.analysis.steps.groups import ChangeGroup
from xlareport.runtime import units


def uncalled(groups: Sequence[ChangeGroup]) -> str:
    """Return how many computations without a live call were removed, with their instructions."""
    return f"removed {_computations(groups, 'dead computation')}"


def unapplied(groups: Sequence[ChangeGroup]) -> str:
    """Return how many computations that instructions applied were removed, with their lines."""
    return f"removed {_computations(groups, 'computation')}"


def _computations(groups: Sequence[ChangeGroup], noun: str) -> str:
    """Return how many computations the changes have before, with their lines."""
    homes = set().union(*(group.homes for group in groups))
    instructions = units.plural(sum(group.count for group in groups), "instruction")
    return f"{units.plural(len(homes), noun)} of {instructions}"


def leftovers(groups: Sequence[ChangeGroup]) -> str:
    """Return how many instructions were added to computations without live callers."""
    homes = set().union(*(group.homes_after for group in groups))
    instructions = units.plural(sum(group.count for group in groups), "instruction")
    places = "a computation" if len(homes) == 1 else f"{len(homes):,} computations"
    return f"added {instructions} to {places} without live callers"


def unified(groups: Sequence[ChangeGroup]) -> str:
    """Return how many computations were merged as duplicates, with their instructions."""
    homes = set().union(*(group.homes for group in groups))
    instructions = units.plural(sum(group.sources for group in groups), "instruction")
    return f"merged {units.plural(len(homes), 'duplicate computation')} of {instructions}"


def defined(groups: Sequence[ChangeGroup]) -> str:
    """Return how many computations were added, with their instructions."""
    homes = set().union(*(group.homes_after for group in groups))
    instructions = units.plural(sum(group.count for group in groups), "instruction")
    return f"added {units.plural(len(homes), 'computation')} of {instructions}"


def copied(groups: Sequence[ChangeGroup]) -> str:
    """Return how many computations were cloned, and how often if more than once."""
    originals = set().union(*(group.homes for group in groups))
    clones = set().union(*(group.homes_after for group in groups))
    instructions = units.plural(sum(group.sources for group in groups), "instruction")
    message = f"cloned {units.plural(len(originals), 'computation')} of {instructions}"
    return f"{message} ({len(clones):,} clones)" if len(clones) > len(originals) else message
