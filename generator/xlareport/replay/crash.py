"""A snapshot that XLA refuses or dies of, shrunk while it still fails in the same way.

The shrinking is delta debugging, Zeller's ddmin.
"""

import re
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from xlareport.program import ParsedModule
from xlareport.replay.bisect import Runner, make_inputs, program_of
from xlareport.replay.child_process import Child, ReplayError, RunError
from xlareport.replay.cutting import cut, inlined, shared_names
from xlareport.replay.flatten import flatten
from xlareport.replay.runnable_program import NotRunnableError, RunnableProgram

T = TypeVar("T")

_MOST_TESTS = 200
_SECONDS = 900
"""After this time the smallest program so far is the result: a process that died is restarted."""
_WORD = re.compile(r"[%\w.\-]++", re.ASCII)
_LONGEST, _LONGEST_LINE = 120, 2_000


def minimized(
    items: Sequence[T], fails: Callable[[Sequence[T]], bool], most_tests: int
) -> tuple[T, ...]:
    """Return a part of the items that still fails, of which no single one can be left out.

    After `most_tests` tests the smallest part so far is returned. `items` themselves must fail.
    """
    smallest, parts, tests = tuple(items), 2, 0
    while len(smallest) > 1 and tests < most_tests:
        size = -(-len(smallest) // parts)
        chunks = [smallest[start : start + size] for start in range(0, len(smallest), size)]
        candidates = chunks if parts == 2 else []
        candidates = [*candidates, *(_without(chunks, place) for place in range(len(chunks)))]
        for candidate in dict.fromkeys(candidates):
            tests += 1
            if candidate and fails(candidate):
                parts = 2 if candidate in chunks else max(parts - 1, 2)
                smallest = candidate
                break
            if tests >= most_tests:
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(smallest))
    return smallest


def _without(chunks: Sequence[tuple[T, ...]], place: int) -> tuple[T, ...]:
    return tuple(item for number, chunk in enumerate(chunks) if number != place for item in chunk)


class Crash(Struct, frozen=True):
    """A program that does not run."""

    stage: str
    """The label of its snapshot."""
    program: RunnableProgram
    inputs: Path | None
    """None where inputs cannot be made either."""
    message: str
    instructions: int
    """Before it was minimized."""


def failure_kind(message: str) -> str:
    """Return the failure message without names and sizes of the program."""
    first = message.strip().split("\n")[0][:_LONGEST_LINE]
    return _WORD.sub(_without_number, first)[:_LONGEST]


def _without_number(word: re.Match[str]) -> str:
    return "#" if any(map(str.isdigit, word[0])) else word[0]


def minimize_crash(module: ParsedModule, key: str, child: Child, seed: int) -> Crash | None:
    """Return the smallest part of a snapshot that fails as the whole does; None where it runs.

    Raises ReplayError where it is refused before anything is compiled.
    """
    snapshot = module.snapshot(key)
    program = program_of(module, snapshot)
    if not isinstance(program, RunnableProgram):
        raise ReplayError(f"{snapshot.stage.label} cannot be run: {program}.")
    child.use_devices(program.devices)
    trial = _Trial(child, seed)
    message = trial.failure(program)
    if message is None:
        return None
    smallest = program if program.placement is not None else trial.minimize(program, message)
    again = trial.failure(smallest)
    if again is None:
        raise ReplayError(f"{snapshot.stage.label} failed once and not again: {message}.")
    label, count = snapshot.stage.label, program.line_count
    return Crash(label, smallest, trial.inputs, again, count)


class _Trial:
    """Runs programs to see whether they fail."""

    def __init__(self, child: Child, seed: int) -> None:
        self.inputs: Path | None = None
        """Of the last program."""
        self._child, self._seed = child, seed
        self._end = time.monotonic() + _SECONDS

    def failure(self, program: RunnableProgram) -> str | None:
        """Return how a program fails; None where it runs, or no inputs can be made."""
        self.inputs = None
        try:
            self.inputs = make_inputs(self._child, program, self._seed).path
        except (RunError, ReplayError):
            return None
        try:
            Runner(self._child, self.inputs).run(program)
        except RunError as error:
            return str(error)
        return None

    def minimize(self, program: RunnableProgram, message: str) -> RunnableProgram:
        """Return the smallest part that fails in the same way."""
        try:
            whole = inlined(program)
        except NotRunnableError:
            return program
        shared, kind = shared_names([whole]), failure_kind(message)
        names = frozenset(shared)

        def fails(kept: Sequence[str]) -> bool:
            if time.monotonic() > self._end:
                return False
            part = _smaller_program(whole, kept, names)
            again = self.failure(part) if part is not None else None
            return again is not None and failure_kind(again) == kind

        if not fails(shared):
            return program
        return _smaller_program(whole, minimized(shared, fails, _MOST_TESTS), names) or program


def _smaller_program(
    whole: RunnableProgram, kept: Collection[str], names: frozenset[str]
) -> RunnableProgram | None:
    try:
        (part,) = cut([whole], frozenset(kept), names)
        flatten(part)
    except NotRunnableError:
        return None
    return part
