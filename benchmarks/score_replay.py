"""Scores `xlareport replay --bisect`: clean dumps give no alarm, planted edits their own step.

Usage: `python benchmarks/score_replay.py clean|planted|control --python PYTHON DUMP...`.
PYTHON has jax. `clean` runs the largest modules of each dump, `planted` plants edits at steps of
the first module that allows them, and `control` compiles modules again without a change. An edit
stays in all later snapshots that still have the instruction.
"""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dumps import modules
from msgspec.structs import replace
from planting import KINDS, EditKind, PlantedEdit, planted

from xlareport.program import ParsedModule, read_module
from xlareport.replay.bisect import Bisection, bisect
from xlareport.replay.child_process import Bounds, Child, ReplayError, child_process
from xlareport.replay.whatif import recompile


def main() -> None:
    """Print a table of what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("clean", "planted", "control"))
    parser.add_argument("dumps", nargs="+", type=Path)
    parser.add_argument("--python", required=True)
    parser.add_argument("--modules", type=int, default=2, help="of each dump, the largest")
    parser.add_argument("--most", type=int, default=60_000, help="instructions of a snapshot")
    options = parser.parse_args()
    score = {"clean": _clean, "planted": _planted, "control": _control}[options.what]
    score([module for dump in options.dumps for module in _largest(dump, options)], options.python)


def _largest(dump: Path, options: argparse.Namespace) -> Iterator[tuple[str, ParsedModule]]:
    read = [
        read_module(files)
        for files in sorted(modules(dump), key=lambda module: -module.bytes)[: options.modules]
    ]
    for module in read:
        if module.snapshots and module.snapshots[0].hlo.instruction_count <= options.most:
            yield dump.name, module


def _bisected(module: ParsedModule, python: str, seed: int = 0) -> Bisection | str:
    """Return the bisection, or why there is none."""
    with tempfile.TemporaryDirectory(prefix="score-replay-") as folder:
        try:
            with Child(python, Path(folder), Bounds()) as child:
                return bisect(module, child, seed)
        except ReplayError as error:
            return str(error)


def _clean(chosen: Sequence[tuple[str, ParsedModule]], python: str) -> None:
    alarms = ran = known = 0
    reasons: Counter[str] = Counter()
    for dump, module in chosen:
        result = _bisected(module, python)
        if isinstance(result, str):
            print(f"{dump:32} {module.files.key:40} none ran: {result[:120]}", flush=True)
            reasons[result.rpartition(": ")[2][:100]] += len(module.snapshots)
            known += len(module.snapshots)
            continue
        here = sum(run.ran for run in result.runs)
        alarms += result.first is not None
        ran, known = ran + here, known + len(result.runs)
        reasons.update(run.reason.splitlines()[0][:100] for run in result.runs if not run.ran)
        worst = max(
            (run.difference.max_relative_error or 0 for run in result.runs if run.difference),
            default=0,
        )
        first = result.first.stage if result.first else "-"
        print(
            f"{dump:32} {module.files.key:40} ran {here:3} of {len(result.runs):3}  "
            f"worst {worst:.2g} of {result.tolerance.limit:.2g}  NaN {result.uninformative}  "
            f"alarm {first}",
            flush=True,
        )
    print(f"{alarms} alarms; {ran} of {known} snapshots ran ({ran / max(1, known):.1%})")
    for reason, count in reasons.most_common(20):
        print(f"  {count:5} {reason}")


def _control(chosen: Sequence[tuple[str, ParsedModule]], python: str) -> None:
    counts: Counter[str] = Counter()
    for dump, module in chosen:
        try:
            with child_process(python, Bounds()) as child:
                control = recompile(module, child, {}).control
        except ReplayError as error:
            print(f"{dump:32} {module.files.key[:50]:50} {str(error)[:120]}", flush=True)
            counts["not compiled"] += 1
            continue
        imported = control.imported and not control.header
        counts["imported as it was"] += imported
        counts["  of these, optimized to the same"] += imported and control.optimized
        counts["changed on the way"] += not imported
        counts["  of these, optimized to the same "] += control.optimized and not imported
        print(f"{dump:32} {module.files.key[:50]:50} {control}", flush=True)
    for name, count in counts.items():
        print(f"{count:5} {name}")


@dataclass(frozen=True, slots=True)
class _Outcome:
    edit: PlantedEdit
    place: int
    named: str

    def verdict(self, stage: str) -> str:
        """Return right, not observable or wrong."""
        if self.named == "-":
            return "not observable"
        return "right" if self.named == stage else "wrong"


def _planted(chosen: Sequence[tuple[str, ParsedModule]], python: str) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    chance = random.Random(0)  # noqa: S311 - repeatable, not secret
    taken: set[str] = set()
    for kind in KINDS:
        for dump, module in chosen:
            made = _plant(module, kind, chance, taken)
            if made is None:
                continue
            place, edit, changed = made
            stage = module.snapshots[place].stage
            taken.add(stage.after or stage.name)
            result = _bisected(changed, python)
            if isinstance(result, str):
                print(f"{dump} {kind.name}: {result}")
                continue
            named = result.first.stage if result.first else "-"
            verdict = _Outcome(edit, place, named).verdict(stage.key)
            counts[kind.group, verdict] += 1
            before, here = (result.runs[at].difference for at in (place - 1, place))
            print(
                f"{kind.group:7} {kind.name:22} at {stage.key} after {stage.after or '-':28} in "
                f"{edit.later:2} later  {verdict:15} {before and before.max_relative_error} -> "
                f"{here and here.max_relative_error} of {result.tolerance.limit:.2g} ({dump})",
                flush=True,
            )
            break
    for (group, verdict), count in sorted(counts.items()):
        print(f"{group:8} {verdict:16} {count}")


def _plant(
    module: ParsedModule, kind: EditKind, chance: random.Random, taken: set[str]
) -> tuple[int, PlantedEdit, ParsedModule] | None:
    """Plant an edit of a kind at a step after a pass that has none yet."""
    places = list(range(1, len(module.snapshots)))
    chance.shuffle(places)
    for place in places:
        stage = module.snapshots[place].stage
        if (stage.after or stage.name) in taken:
            continue
        edit = planted([each.hlo for each in module.snapshots], place, kind, chance)
        if edit is not None:
            pairs = zip(module.snapshots, edit.modules, strict=True)
            snapshots = tuple(replace(snapshot, hlo=hlo) for snapshot, hlo in pairs)
            return place, edit, replace(module, snapshots=snapshots)
    return None


if __name__ == "__main__":
    main()
