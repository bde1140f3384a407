"""Scores by running them whether instructions that a step pairs compute equal values.

Usage: `python benchmarks/score_values.py [--show N] [DUMP...]`; XLAREPORT_JAX_PYTHON names an
interpreter with jaxlib 0.12.
Each pair of entry computations or loop bodies runs once before and once after the step, on the same
random inputs. A pair is asked about unless the report says that it reads other operands, and where
all that both depend on is paired. Elements are compared in any order, for layouts and transposes
move; steps of the SPMD partitioner divide arrays, and are left out. Random inputs are not what a
program has: a compare that XLA knows from the range of a value may differ.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from asking import ask, jax_python
from dumps import dumps, modules
from record import Row, record
from value_programs import UnusableError, ValueProgram

from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.passes.step_boundaries import find_boundaries
from xlareport.analysis.steps.boundaries import Boundary
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import StepChange, step
from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.model import HloModule
from xlareport.program import read_module

RUNNER = Path(__file__).with_name("run_values.py")
_MOST_INSTRUCTIONS = 6_000
_PATIENCE = 900
"""Seconds for all programs of a step."""
_DIVIDING = re.compile(r"shard|spmd|partition")
_SAME_VALUE = frozenset(
    {
        *(Relation.SAME, Relation.REPLACED, Relation.REWRITTEN, Relation.EXPANDED),
        *(Relation.MERGED, Relation.CLONED),
    }
)
_OTHER_VALUE = frozenset({Kind.OPERANDS, Kind.REBUILT, Kind.REDIRECTED, Kind.REWIRED, Kind.SHARED})
"""What is said to read something else may compute something else: it is an input."""


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


def verdicts(python: str, files: ModuleFiles) -> Iterator[tuple[Boundary, Verdict]]:
    """Run both sides of each step of a module and judge its claims."""
    module = read_module(files)
    for boundary in find_boundaries(module):
        before, after = (
            snapshot.hlo for snapshot in module.snapshots[boundary.number - 1 : boundary.number + 1]
        )
        large = max(before.instruction_count, after.instruction_count) > _MOST_INSTRUCTIONS
        if before is after or large or _DIVIDING.search(boundary.actor.lower()):
            continue
        questions = list(questions_of(before, after, step(before, after, boundary.actor)))
        asked = [question.asked for question in questions]
        answers = ask(python, RUNNER, asked, {"JAX_ENABLE_X64": "1"}, _PATIENCE)
        for question, answer in zip(questions, answers, strict=True):
            for claim, equal in zip(question.claims, answer.get("equal", ()), strict=False):
                yield boundary, Verdict(claim, equal)


def questions_of(before: HloModule, after: HloModule, change: StepChange) -> Iterator[Question]:
    """Yield the programs of each pair of computations, with the claims that they decide."""
    if change.matching is None:
        return
    others = [known for known in change.changes if not _OTHER_VALUE.isdisjoint(known.kinds)]
    given = [{known.before for known in others}, {known.after for known in others}]
    claims = [claim for claim in _claims(change.matching) if claim.before not in given[0]]
    old_roots = set(_roots(before))
    for root in _roots(after) if claims else ():
        former = change.matching.computation_before(root)
        if former not in old_roots:
            continue
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
    keys = _shared_inputs(matching, before, after)
    shared = set(keys.values())
    asked = [
        claim
        for claim in claims
        if (old := before.variables.get(claim.before)) is not None
        and (new := after.variables.get(claim.after)) is not None
        and not (old in before.sources and new in after.sources)
        and before.inputs[old] <= keys.keys()
        and after.inputs[new] <= shared
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


def _shared_inputs(matching: Matching, before: ValueProgram, after: ValueProgram) -> dict[str, str]:
    """Return the input after of each input before, where they are paired and of one shape."""
    by_place = {source.place: name for name, source in after.sources.items()}
    keys = {}
    for name, source in before.sources.items():
        partner = matching.partner_after(source.place) if source.place.instruction else source.place
        other = None if partner is None else by_place.get(partner)
        if other is not None and after.sources[other].shape == source.shape:
            keys[name] = other
    return keys


def main() -> None:
    """Print how many claims hold, by relation and grade, and some that do not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", nargs="*", type=Path)
    parser.add_argument("--show", type=int, default=0, help="how many that do not hold")
    options = parser.parse_args()
    python = jax_python()
    counts: Counter[tuple[str, str, bool | None]] = Counter()
    shown = 0
    for dump in options.dumps or dumps():
        for files in modules(dump):
            for boundary, verdict in verdicts(python, files):
                pairing = verdict.claim.pairing
                counts[pairing.relation, pairing.grade, verdict.equal] += 1
                if verdict.equal is False and shown < options.show:
                    shown += 1
                    place = f"{dump.name}/{files.key} step {boundary.number}"
                    print(f"{place}: {verdict.claim.before} > {verdict.claim.after}", flush=True)
    rows: list[Row] = [
        {
            "relation": relation,
            "grade": grade,
            "equal": counts[relation, grade, True],
            "other": counts[relation, grade, False],
        }
        for relation, grade in sorted({key[:2] for key in counts})
    ]
    for row in rows:
        print(
            f"{row['relation']:<10}{row['grade']:<9}{row['equal']:>8,} equal{row['other']:>7,} not"
        )
    if not options.dumps:
        record("values", rows)


if __name__ == "__main__":
    main()
