"""Scores by running them whether instructions that a step pairs compute equal values.

And whether a step tells where a value is that it has on the other side: `missed_values.py`.

Usage: `python benchmarks/score_values.py [--show N] [--each N] [--most N] [DUMP...]`;
XLAREPORT_JAX_PYTHON names an interpreter with jaxlib, 0.10 to 0.12. Read are the dumps that
XLAREPORT_DUMPS names, or else the test data; of these the modules of at most --most instructions,
of each pass the first --each steps of a dump that change anything, and the step from the first
snapshot to the final one.
Each pair of entry computations or loop bodies runs once before and once after the step, on the same
random inputs. A pair is asked about unless the report says that it reads other operands, and where
all that one depends on is paired with all that the other does. Elements are compared in any order,
for layouts and transposes move; steps of the SPMD partitioner divide arrays, and are left out.
Random inputs are not what a program has: a compare that XLA knows from the range of a value may
differ.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from asking import ask, jax_python
from dumps import large_dumps, modules, test_data
from missed_values import CLASSES, ClassQuestion, Outcome, class_questions, shared_inputs
from record import Row, record
from value_programs import UnusableError, ValueProgram

from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.passes.step_boundaries import find_boundaries
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import StepChange, step
from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.model import HloModule
from xlareport.program import read_module

RUNNER = Path(__file__).with_name("run_values.py")
_PATIENCE = 3_600
"""Seconds for all programs of a module."""
_PASSES, _ENDS = "each pass", "first and final only"
_FATES = ("removed", "added", "not known", "continued")
_DIVIDING = re.compile(r"shard|spmd|partition")
_SAME_VALUE = frozenset(
    {
        *(Relation.SAME, Relation.REPLACED, Relation.REWRITTEN, Relation.EXPANDED),
        *(Relation.MERGED, Relation.CLONED),
    }
)
_NO_WORK = frozenset({Kind.CONFIG, Kind.METADATA, Kind.RENAMED, Kind.REORDERED, Kind.SHARDING})
"""Kinds of changes after which every value is what it was."""
_OTHER_VALUE = frozenset({Kind.OPERANDS, Kind.REBUILT, Kind.REDIRECTED, Kind.REWIRED, Kind.SHARED})
"""What is said to read something else may compute something else: it is an input."""
_FILLS = frozenset({"broadcast", "constant", "iota"})
"""These are computed: `x - 1` as `x + -1` reads another fill value, which no input stands for."""


@dataclass(frozen=True)
class Claim:
    """A pair of instructions that is told to compute the same value."""

    before: Place
    after: Place
    pairing: Pairing


@dataclass(frozen=True)
class Question:
    """What the runner is asked: two programs, and which of their outputs should be equal."""

    claims: Sequence[Claim]
    asked: str


@dataclass(frozen=True)
class Verdict:
    """A claim, and whether both values are equal; None where their sizes differ."""

    claim: Claim
    equal: bool | None


@dataclass(frozen=True)
class AskedStep:
    """A step of a module, with what the runners are asked about it."""

    claims: Sequence[Question]
    values: Sequence[ClassQuestion]
    module: str = ""
    number: int = 0
    """0 for the step from the first snapshot to the final one."""

    @property
    def span(self) -> str:
        """Return what the step spans: a pass, or the whole compilation."""
        return _PASSES if self.number else _ENDS


def steps_of(files: ModuleFiles, seen: Counter[str], each: int, most: int) -> Iterator[AskedStep]:
    """Yield the steps of a module to ask about, and count them by what made them in `seen`."""
    module = read_module(files)
    boundaries = [*find_boundaries(module)]
    for boundary in boundaries:
        if seen[boundary.actor] < each and not _DIVIDING.search(boundary.actor.lower()):
            before, after = module.snapshots[boundary.number - 1 : boundary.number + 1]
            asked = _asked_step((before.hlo, after.hlo), boundary.actor, most)
            if asked is not None:
                asked = replace(asked, module=files.key, number=boundary.number)
                seen[boundary.actor] += 1
                yield asked
    if len(boundaries) > 1:
        ends = module.snapshots[0].hlo, module.snapshots[-1].hlo
        asked = _asked_step(ends, "", most)
        if asked is not None:
            yield replace(asked, module=files.key, claims=())


def _asked_step(sides: tuple[HloModule, HloModule], actor: str, most: int) -> AskedStep | None:
    """Return what is asked about a step; None of a large one, or where nothing is."""
    before, after = sides
    if before is after or max(side.instruction_count for side in sides) > most:
        return None
    change = step(before, after, actor) if actor else step(before, after)
    if change.matching is None or not any(set(row.kinds) - _NO_WORK for row in change.changes):
        return None
    values = [*class_questions(change, _pairs_of_roots(change.matching))]
    claims = [*questions_of(before, after, change)]
    return AskedStep(claims, values) if claims or values else None


def verdicts(python: str, steps: Sequence[AskedStep]) -> Iterator[tuple[AskedStep, Verdict]]:
    """Run both sides of steps and judge their claims."""
    asked = [(known, question) for known in steps for question in known.claims]
    texts = [question.asked for _, question in asked]
    answers = ask(python, RUNNER, texts, {"JAX_ENABLE_X64": "1"}, _PATIENCE)
    for (known, question), answer in zip(asked, answers, strict=True):
        for claim, equal in zip(question.claims, answer.get("equal", ()), strict=False):
            yield known, Verdict(claim, equal)


def outcomes(python: str, steps: Sequence[AskedStep]) -> Iterator[tuple[AskedStep, Outcome]]:
    """Run both sides of steps and yield what became known of what they tell."""
    asked = [(known, question) for known in steps for question in known.values]
    texts = [question.asked for _, question in asked]
    answers = ask(python, CLASSES, texts, {"JAX_ENABLE_X64": "1"}, _PATIENCE)
    for (known, question), answer in zip(asked, answers, strict=True):
        yield from ((known, outcome) for outcome in question.outcomes(answer))


def questions_of(before: HloModule, after: HloModule, change: StepChange) -> Iterator[Question]:
    """Yield the programs of each pair of computations, with the claims that they decide."""
    if change.matching is None:
        return
    others = [known for known in change.changes if not _OTHER_VALUE.isdisjoint(known.kinds)]
    told = {known.before for known in others}
    claims = [claim for claim in _claims(change.matching) if claim.before not in told]
    others = [known for known in others if _FILLS.isdisjoint(known.opcodes)]
    given = [{known.before for known in others}, {known.after for known in others}]
    for former, root in _pairs_of_roots(change.matching) if claims else ():
        try:
            programs = ValueProgram(before, former, given[0]), ValueProgram(after, root, given[1])
        except (UnusableError, LookupError, ValueError):
            continue
        question = _question(change.matching, claims, *programs)
        if question is not None:
            yield question


def _claims(matching: Matching) -> Iterator[Claim]:
    for pairing in matching.pairings:
        if pairing.relation not in _SAME_VALUE or not (pairing.before and pairing.after):
            continue
        places = [(before, pairing.after[0]) for before in pairing.before]
        if pairing.relation is not Relation.EXPANDED:
            places += [(pairing.before[0], after) for after in pairing.after[1:]]
        yield from (Claim(before, after, pairing) for before, after in places)


def _pairs_of_roots(matching: Matching) -> Iterator[tuple[str, str]]:
    """Yield the names before and after of computations that run by themselves."""
    former = set(_roots(matching.before))
    pairs = ((matching.computation_before(root), root) for root in _roots(matching.after))
    yield from (pair for pair in pairs if pair[0] in former)


def _roots(module: HloModule) -> Iterator[str]:
    """Yield the computations that nothing calls but loops, as bodies."""
    inner = {
        name
        for line in module.instructions
        for attribute, name in line.called
        if attribute not in ("body", "branch_computations")
    }
    yield from (home.name for home in module.computations if home.name not in inner)


def _question(
    matching: Matching, claims: Sequence[Claim], before: ValueProgram, after: ValueProgram
) -> Question | None:
    keys = shared_inputs(matching, before, after)
    asked = [
        claim
        for claim in claims
        if (old := before.variables.get(claim.before)) is not None
        and (new := after.variables.get(claim.after)) is not None
        and not (old in before.sources and new in after.sources)
        and before.inputs[old] <= keys.keys()
        and {keys[name] for name in before.inputs[old]} == after.inputs[new]
    ]
    if not asked:
        return None
    old_names = list(dict.fromkeys(before.variables[claim.before] for claim in asked))
    new_names = list(dict.fromkeys(after.variables[claim.after] for claim in asked))
    (old_text, old_inputs), (new_text, new_inputs) = before.text(old_names), after.text(new_names)
    numbers = [
        (
            old_names.index(before.variables[claim.before]),
            new_names.index(after.variables[claim.after]),
        )
        for claim in asked
    ]
    message = {
        "before": old_text,
        "after": new_text,
        "inputs_before": [(keys[name], before.sources[name].shape) for name in old_inputs],
        "inputs_after": [(name, after.sources[name].shape) for name in new_inputs],
        "pairs": numbers,
    }
    return Question(asked, json.dumps(message))


def main() -> None:
    """Print how many claims hold and how many values are missed, and some of either."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", nargs="*", type=Path)
    parser.add_argument("--show", type=int, default=0, help="how many that do not hold")
    parser.add_argument("--each", type=int, default=1, help="how many steps of a pass in a dump")
    parser.add_argument("--most", type=int, default=1_500, help="most instructions of a module")
    options = parser.parse_args()
    python = jax_python()
    tally = _Tally(options.show)
    for dump in options.dumps or large_dumps() or test_data():
        seen: Counter[str] = Counter()
        steps = [
            known
            for files in modules(dump)
            for known in steps_of(files, seen, options.each, options.most)
        ]
        tally.dumps += bool(steps)
        print(f"{dump.name}: {len(steps):,} steps", file=sys.stderr, flush=True)
        tally.add_claims(dump.name, verdicts(python, steps))
        tally.add_values(dump.name, outcomes(python, steps))
    for row in (*tally.claims(), *tally.values()):
        print(*(f"{key} {value}" for key, value in row.items()), sep=", ")
    if not options.dumps:
        record("values", tally.claims())
        record("missed_values", tally.values())


class _Tally:
    """Counts of claims and of values, of which it prints the first that are wrong."""

    def __init__(self, show: int) -> None:
        self.dumps = 0
        self._left = show
        self._claims: Counter[tuple[str, str, bool | None]] = Counter()
        self._values: Counter[tuple[str, str, str]] = Counter()

    def add_claims(self, dump: str, judged: Iterable[tuple[AskedStep, Verdict]]) -> None:
        """Count claims by relation and grade."""
        for known, verdict in judged:
            claim = verdict.claim
            self._claims[claim.pairing.relation, claim.pairing.grade, verdict.equal] += 1
            if verdict.equal is False:
                self._show(f"{dump}/{known.module} {known.number}: {claim.before} > {claim.after}")

    def add_values(self, dump: str, found: Iterable[tuple[AskedStep, Outcome]]) -> None:
        """Count values by what is told of their instructions."""
        for known, outcome in found:
            key = known.span, outcome.told
            self._values[(*key, "run")] += 1
            self._values[(*key, "equal")] += bool(outcome.others)
            self._values[(*key, "missed")] += outcome.missed
            if outcome.missed:
                names = ", ".join(map(str, outcome.others[:3]))
                row = f"{outcome.row.kind}: {outcome.row.reason}"
                place = f"{dump}/{known.module} {known.number}: {outcome.place}"
                self._show(f"{place} has the value of {names}; told as {row}")

    def _show(self, line: str) -> None:
        self._left -= 1
        if self._left >= 0:
            print(line, flush=True)

    def claims(self) -> list[Row]:
        """Return the claims by relation and grade."""
        counts = self._claims
        return [
            {
                "relation": relation,
                "grade": grade,
                "equal": counts[relation, grade, True],
                "other": counts[relation, grade, False],
            }
            for relation, grade in sorted({key[:2] for key in counts})
        ]

    def values(self) -> list[Row]:
        """Return what is told of instructions, and of how many the value was missed."""
        return [
            {
                "snapshots": span,
                "told": told,
                "dumps": self.dumps,
                **{key: self._values[span, told, key] for key in ("run", "equal", "missed")},
            }
            for span in (_PASSES, _ENDS)
            for told in _FATES
        ]


if __name__ == "__main__":
    main()
