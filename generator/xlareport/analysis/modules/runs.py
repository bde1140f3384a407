"""The programs of several runs in one dump: the main program of each group of processes."""

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.modules.helper_modules import classify_helper
from xlareport.analysis.modules.measures import Relations
from xlareport.analysis.modules.processes import places_of
from xlareport.analysis.modules.ranking import MainGuess, guess_main, rank_modules
from xlareport.storage.packed_keys import ChosenValues


class Run(Struct, frozen=True):
    """Processes that compiled the same program, and the main program guessed for them."""

    processes: tuple[int, ...]
    """Their numbers, from 1."""
    main: MainGuess


def find_runs(
    relations: Relations,
    guess: MainGuess | None,
    holders: Mapping[str, Sequence[int]],
) -> tuple[Run, ...]:
    """Return the programs of a dump by run, that of the main program first.

    `holders` are the processes that compiled each module, by its key.

    Empty where all processes compiled one program, or where the processes are not known. Ranks of
    a program are one run; a process that compiled nothing but helpers is none.
    """
    summaries = relations.summaries
    waiting: dict[int, array[int]] = defaultdict(lambda: array("q"))
    for place, summary in enumerate(summaries):
        for process in holders[summary.files.key]:
            if summary.final.instructions is not None:
                waiting[process].append(place)
    numbered = places_of(summaries)
    runs: list[Run] = []
    while guess is not None and waiting:
        again = {numbered[key] for key in guess.recompilations}
        numbers = [number for number, members in waiting.items() if not again.isdisjoint(members)]
        if not numbers:
            break
        if runs == [] or classify_helper(guess.best.summary) is None:
            runs.append(Run(tuple(numbers), guess))
        waiting = {number: waiting[number] for number in waiting if number not in numbers}
        waiting_places = next(iter(waiting.values()), array("q"))
        guess = guess_main(rank_modules(ChosenValues(summaries, waiting_places), relations))
    return tuple(runs) if len(runs) > 1 else ()
