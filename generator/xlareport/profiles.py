"""What profilers saw while the modules of a dump ran: in the dump, beside it, and elsewhere."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from xlareport.analysis.profile.times import ModuleTimes, sum_times
from xlareport.dump.filename import sanitised
from xlareport.dump.source import Source, open_source
from xlareport.runtime import units
from xlareport.runtime.errors import Problem
from xlareport.runtime.limits import LIMITS, Limits
from xlareport.runtime.progress import ProgressCallback, silent
from xlareport.side_files import ProfileReading, profile_events, profiles_beside

if TYPE_CHECKING:
    from pathlib import Path


_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class ProfiledModules:
    """What profilers saw while modules ran."""

    modules: Mapping[str, ModuleTimes]
    """By the name of the module, as it stands in file names."""
    read: tuple[str, ...]
    """Paths of the files that were read."""
    problems: tuple[Problem, ...]


def read_profiles(
    source: Source,
    profiles: Sequence[str],
    limits: Limits = LIMITS,
    progress: ProgressCallback = silent,
    *,
    beside: Sequence["Path"] | None = None,
) -> ProfiledModules:
    """Read what profilers wrote into the dump, beside it, and where the caller says.

    `beside` are the folders beside it, where the caller knows better which of them are its own.
    Raises UnreadableInputError where one of `profiles` cannot be opened.
    """
    with ExitStack() as opened:
        near = profiles_beside(source.location) if beside is None else beside
        places: list[str | Path] = [*profiles, *near]
        more = [opened.enter_context(open_source(place, limits)) for place in places]
        reading = ProfileReading(progress)
        entries = chain(source.entries, *(source.entries for source in more))
        times = sum_times(profile_events(entries, reading, limits))
    modules = {sanitised(name): times for name, times in times.items()}
    return ProfiledModules(modules, tuple(reading.read), tuple(reading.problems))


def list_unjoined(watched: ProfiledModules, names: Collection[str]) -> tuple[Problem, ...]:
    """Tell of the events of modules that the dump does not have; `names` are those it has."""
    others = [module for name, module in watched.modules.items() if name not in names]
    if not others:
        return ()
    others.sort(key=lambda times: -times.events)
    named = [times.module or "no module that was running" for times in others[:_MOST_NAMED]]
    more = [f"{len(others) - _MOST_NAMED} more"] if len(others) > _MOST_NAMED else []
    events = units.plural(sum(times.events for times in others), "event")
    words = f"{events} of {', '.join([*named, *more])}: the dump has no such module."
    return (Problem(watched.read[0], None, words),)
