"""Scores "where numbers may change": which steps change bits, run on the CPU, against those named.

Usage: `python benchmarks/score_numbers.py [--show N] [DUMP...]`; XLAREPORT_JAX_PYTHON names an
interpreter with jaxlib 0.12.
Every snapshot of every small module is run on the same inputs as the others of its module. A step
is compared where both of its snapshots ran. Bits that stay equal on these inputs do not prove that
a step changes no number, so a false one may still be worth its name.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired

from asking import ask, jax_python
from dumps import content, dumps, modules

from xlareport.analysis.passes.step_boundaries import find_boundaries
from xlareport.analysis.steps.numbers_changed import numbers_changed
from xlareport.analysis.steps.step import step
from xlareport.dump.modules import ModuleFiles
from xlareport.program import ParsedModule, read_module
from xlareport.snapshots import ParsedSnapshot

RUNNER = Path(__file__).with_name("run_snapshots.py")
_MOST_INSTRUCTIONS = 2_000
_KEPT_AS_WRITTEN = "algsimp,constant_folding,fusion,layout-assignment,call-inliner,dot_decomposer"
"""Passes that are off, so that each text is run as nearly as it stands as XLA can."""
_PATIENCE = 300
"""Seconds for all snapshots of a module; of one that takes longer no step counts."""
_NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run says of one step."""

    place: str
    differs: bool
    """Whether the results of both snapshots differ in any bit."""
    named: tuple[str, ...]
    """What the report names in it."""

    @property
    def kind(self) -> str:
        """`right`, `missed`, `false`, or `quiet` where nothing differs and nothing is named."""
        if self.named:
            return "right" if self.differs else "false"
        return "missed" if self.differs else "quiet"


def verdicts(python: str, files: ModuleFiles) -> Iterator[Verdict]:
    """Run the snapshots of a module and judge each step that can be compared."""
    module = read_module(files)
    texts = [
        snapshot for snapshot in module.snapshots if snapshot.read_from.name.kind == "hlo-text"
    ]
    if len(texts) < 2 or max(text.hlo.instruction_count for text in texts) > _MOST_INSTRUCTIONS:
        return
    digests = dict(zip(texts, _digests(python, texts), strict=True))
    yield from _judged(module, digests)


def _judged(module: ParsedModule, digests: dict[ParsedSnapshot, str | None]) -> Iterator[Verdict]:
    for boundary in find_boundaries(module):
        before, after = module.snapshots[boundary.number - 1 : boundary.number + 1]
        results = digests.get(before), digests.get(after)
        if None not in results and before.hlo is not after.hlo:
            change = step(before.hlo, after.hlo, boundary.actor)
            named = tuple(f"{one.what}: {one.example}" for one in numbers_changed(change))
            yield Verdict(after.stage.label, results[0] != results[1], named)


def _digests(python: str, snapshots: Sequence[ParsedSnapshot]) -> list[str | None]:
    """Return the digest of each snapshot, None where it does not run."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, snapshot in enumerate(snapshots):
            path = Path(folder, f"{number}.txt")
            path.write_bytes(content(snapshot.stage, "hlo-text") or b"")
            paths.append(str(path))
        disabled = {"XLA_FLAGS": f"--xla_disable_hlo_passes={_KEPT_AS_WRITTEN}"}
        answers = ask(python, RUNNER, paths, disabled, _PATIENCE)
        return [answer.get("digest") for answer in answers]


def main() -> None:
    """Print how many steps were named right, missed and named falsely, and some of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", nargs="*", type=Path)
    parser.add_argument("--show", type=int, default=0, help="how many of each kind")
    options = parser.parse_args()
    python = jax_python()
    counts: Counter[str] = Counter()
    for dump in options.dumps or dumps():
        for files in modules(dump):
            try:
                judged = list(verdicts(python, files))
            except TimeoutExpired:
                print(f"not run, takes over {_PATIENCE} s: {dump.name}/{files.key}")
                counts[_NOT_RUN] += 1
                continue
            for verdict in judged:
                counts[verdict.kind] += 1
                if counts[verdict.kind] <= options.show and verdict.kind != "quiet":
                    words = "; ".join(verdict.named)
                    print(f"{verdict.kind}: {dump.name}/{files.key} {verdict.place}: {words}")
    for kind in ("right", "missed", "false", "quiet"):
        print(f"{kind:<8}{counts[kind]:>6,}")
    if counts[_NOT_RUN]:
        print(f"modules {_NOT_RUN}: {counts[_NOT_RUN]:,}")


if __name__ == "__main__":
    main()
