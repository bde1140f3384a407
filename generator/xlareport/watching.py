"""What profilers saw while the modules of a dump ran: in the dump, beside it, and elsewhere."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from xlareport.analysis.clock.times import ModuleTimes, times_of
from xlareport.beside import ProfileReading, profile_events, profiles_beside
from xlareport.dump.filename import sanitised
from xlareport.dump.limits import LIMITS, Limits
from xlareport.dump.source import Source, open_source
from xlareport.errors import Problem

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Watched:
    """What profilers saw while modules ran."""

    modules: Mapping[str, ModuleTimes]
    """By the name of the module, as it stands in file names."""
    read: tuple[str, ...]
    """Paths of the files that were read."""
    problems: tuple[Problem, ...]


def watch(source: Source, profiles: Sequence[str], limits: Limits = LIMITS) -> Watched:
    """Read what profilers wrote into the dump, beside it, and where the caller says.

    Raises UnreadableInputError where one of `profiles` cannot be opened.
    """
    with ExitStack() as opened:
        places: list[str | Path] = [*profiles, *profiles_beside(source.location)]
        more = [opened.enter_context(open_source(one, limits)) for one in places]
        reading = ProfileReading()
        entries = chain(source.entries, *(one.entries for one in more))
        times = times_of(profile_events(entries, reading, limits))
    modules = {sanitised(name): one for name, one in times.items()}
    return Watched(modules, tuple(reading.read), tuple(reading.problems))
