"""Scores the matching of instructions against known truth.

Synthetic truth: known rewrites of real modules. Usage: `python benchmarks/score_matching.py
[--workers N] [REWRITE...]`; with XLAREPORT_DUMPS naming a folder of unpacked dumps, on their
modules as well, and recorded. Texts that several dumps hold are counted once. Failures are printed
where rewrites are named.
"""

import argparse
import os
import random
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from io import BytesIO
from pathlib import Path

import zstandard
from program import Program, program_of
from record import Row, record
from rewrites import REWRITES, Rewrite

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.knowledge.grades import Grade

_ROOT = Path(__file__).resolve().parent.parent
_CLAIMS = frozenset({Relation.SAME, Relation.REPLACED, Relation.MERGED, Relation.CLONED})


@dataclass
class Score:
    """Counts of right and wrong claims by grade, and of what was to be found."""

    right: Counter[Grade] = field(default_factory=Counter)
    wrong: Counter[Grade] = field(default_factory=Counter)
    to_find: int = 0
    found: int = 0

    def add(self, other: "Score") -> None:
        """Add another's counts."""
        self.right += other.right
        self.wrong += other.wrong
        self.to_find += other.to_find
        self.found += other.found

    def precision(self, grade: Grade) -> float | None:
        """Return the share of right claims of a grade."""
        total = self.right[grade] + self.wrong[grade]
        return self.right[grade] / total if total else None

    @property
    def recall(self) -> float | None:
        """Return the share found of what was to be found."""
        return self.found / self.to_find if self.to_find else None


def scored(original: Program, rewritten: Program, show: int = 0) -> Score:
    """Match a program with its rewritten self and judge every claim."""
    reader = TextReader()
    before, after = original.read(reader), rewritten.read(reader)
    matching = match(before, after)
    truth = _truth(original, rewritten)
    score = Score()
    for pairing in matching.pairings:
        for one, other in _claims(pairing):
            right = other in truth.get(one, ())
            (score.right if right else score.wrong)[pairing.grade] += 1
            if not right and show > 0:
                show -= 1
                print(
                    "WRONG",
                    pairing.grade,
                    pairing.relation,
                    pairing.reason,
                    one,
                    other,
                    truth.get(one),
                )
    for place, partners in truth.items():
        if partners and not _kept(matching, place, partners):
            score.to_find += 1
            score.found += matching.partner_after(place) in partners
            if matching.partner_after(place) not in partners and show > 0:
                show -= 1
                print("MISSED", place, partners, matching.pairing_before(place))
    return score


def _truth(original: Program, rewritten: Program) -> dict[Place, set[Place]]:
    """Return, for each original place, where its work is done now."""
    now: dict[int, set[Place]] = {}
    for body, line in rewritten.places():
        for origin in line.origins:
            now.setdefault(origin, set()).add(Place(body.name, line.name))
    return {
        Place(body.name, line.name): now.get(line.origins[0], set())
        for body, line in original.places()
    }


def _claims(pairing: Pairing) -> Iterator[tuple[Place, Place]]:
    if pairing.relation in _CLAIMS and pairing.before and pairing.after:
        for one in pairing.before:
            yield one, pairing.after[0]
        for other in pairing.after[1:]:
            yield pairing.before[0], other


def _kept(matching: Matching, place: Place, partners: set[Place]) -> bool:
    """Whether a line is unchanged in its computation, so that there is nothing to find."""
    home = matching.computations.get(place.computation, place.computation)
    stays = Place(home, place.instruction)
    old, new = matching.before.find(*place), matching.after.find(*stays)
    return stays in partners and old is new


def modules() -> Iterator[tuple[str, HloModule]]:
    """Yield real modules to rewrite: from the test data, and from the dumps where there are any."""
    reader = TextReader()
    seen: set[bytes] = set()
    for name, content in _texts():
        digest = blake2b(content).digest()
        module = None if digest in seen else reader.read(content, name)
        seen.add(digest)
        if module is not None and module.instruction_count >= 100:
            yield name, module


_STAGES = ("before_optimizations.txt", "after_optimizations.txt")


def _texts() -> Iterator[tuple[str, bytes]]:
    archives = [*(_ROOT / "tests/data").glob("*.tar.zst"), *(_ROOT / "examples").glob("*.tar.zst")]
    for archive in sorted(archives):
        content = zstandard.ZstdDecompressor().stream_reader(BytesIO(archive.read_bytes())).read()
        with tarfile.open(fileobj=BytesIO(content)) as files:
            for member in files:
                stream = files.extractfile(member) if member.name.endswith(_STAGES) else None
                if stream is not None:
                    yield member.name, stream.read()
    dumps = os.environ.get("XLAREPORT_DUMPS")
    for path in sorted(Path(dumps).glob("*/*/*.txt")) if dumps else ():
        if path.name.endswith(_STAGES) and path.stat().st_size > 50_000:
            yield str(path), path.read_bytes()


def main() -> None:
    """Print precision, recall and shares of the grades, for each kind of rewrite."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rewrites", nargs="*")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    real = _modules()
    print(f"{len(real)} modules, {sum(one.instruction_count for _, one in real):,} instructions")
    rows = _rows(options.rewrites or [*REWRITES], options.workers, 10 if options.rewrites else 0)
    if not options.rewrites and "XLAREPORT_DUMPS" in os.environ:
        record("rewrites", rows)


def _rows(names: Sequence[str], workers: int, show: int) -> list[Row]:
    """Print the figures of rewrites as they come, and of all together; return what to record."""
    total = Score()
    rows = []
    print(_row("rewrite", ("exact", "matched", "guessed", "recall", "to find", "grades")))
    with ProcessPoolExecutor(workers) as pool:
        for name, score in zip(names, pool.map(_score, names, [show] * len(names)), strict=True):
            total.add(score)
            rows.append(_recorded(name, score))
            print(_row(name, _figures(score)), flush=True)
    print(_row("all", _figures(total)))
    return [*rows, _recorded("all", total)]


@cache
def _modules() -> list[tuple[str, HloModule]]:
    """Return the modules, read once in each process."""
    return list(modules())


def _score(name: str, show: int) -> Score:
    """Return the score of one rewrite of all modules."""
    return _scored_everywhere(_modules(), REWRITES[name], show)


def _recorded(name: str, score: Score) -> Row:
    """Return the counts of one rewrite."""
    right = {f"{grade}_right": score.right[grade] for grade in Grade}
    wrong = {f"{grade}_wrong": score.wrong[grade] for grade in Grade}
    return {"rewrite": name, **right, **wrong, "to_find": score.to_find, "found": score.found}


def _scored_everywhere(real: list[tuple[str, HloModule]], rewrite: Rewrite, show: int) -> Score:
    total = Score()
    for name, module in real:
        original = program_of(module)
        rewritten = original.copy()
        if rewrite(rewritten, random.Random(name)):  # noqa: S311 - repeatable on purpose
            total.add(scored(original, rewritten, show))
    return total


def _figures(score: Score) -> tuple[str, ...]:
    shares = [score.precision(grade) for grade in Grade]
    counts = [score.right[grade] + score.wrong[grade] for grade in Grade]
    total = sum(counts) or 1
    return (
        *(_percent(share) for share in shares),
        _percent(score.recall),
        f"{score.to_find:,}",
        "/".join(f"{100 * count / total:.0f}" for count in counts),
    )


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f}%"


def _row(name: str, cells: tuple[str, ...]) -> str:
    return f"{name:<24}" + "".join(f"{cell:>10}" for cell in cells)


if __name__ == "__main__":
    main()
