"""Draws claims of the matching at random, for a person to check with both texts beside them.

Usage: `XLAREPORT_DUMPS=... python benchmarks/draw_sample.py FOLDER` writes the claims, one a line,
and the snapshots that they speak of. The same dumps give the same draw as long as the matching
says the same; tests/analysis/matching/data tells what was found.
"""

import csv
import random
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import zstandard
from dumps import content, dumps, modules
from real_steps import Step, steps

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Pairing, Place
from xlareport.dump.modules import SnapshotFiles

_SEED = 7
_WANTED = {
    "priority-fusion": 60,
    "rename-instructions": 30,
    "algsimp": 18,
    "triton-gemm-rewriter": 16,
    "layout_normalization": 12,
    "call-inliner": 8,
    "cse": 8,
    "spmd-cleanup (start)": 8,
    "spmd-partitioning": 8,
    "splitk-rewriter": 8,
    "dce": 6,
    "rename_fusions": 6,
    "reshape-mover": 6,
    "shardy-xla": 6,
}
"""Claims to draw, by pass: most from the two that names alone follow least."""
_EVERY_STEP = frozenset({"priority-fusion", "rename-instructions"})
"""Passes of which all steps are drawn from; of the others two at random, which keeps data small."""
_FEWEST_CLAIMS = 8

_COLUMNS = ("pass", "file_before", "file_after", "grade", "relation", "before", "after", "reason")

Claim = tuple[str, str, str, str, str]
"""Grade, relation, place before, place after, reason; a missing place is empty."""


@dataclass(frozen=True)
class Drawn:
    """A step that is drawn from."""

    dump: str
    step: Step
    claims: list[Claim]

    @property
    def files(self) -> tuple[str, str]:
        """Return the paths of both snapshots, from the folder of dumps."""
        before, after = (f"{self.dump}/{_file(stage)}" for stage in self.step.stages)
        return before, after


def _file(stage: SnapshotFiles) -> str:
    artifact = next(artifact for artifact in stage.artifacts if artifact.name.kind == "hlo-text")
    return artifact.entry.path.rpartition("/")[2]


def claims(pairing: Pairing) -> Iterator[Claim]:
    """Yield each place before with each place after."""
    for before in pairing.before or (None,):
        for after in pairing.after or (None,):
            yield pairing.grade, pairing.relation, _text(before), _text(after), str(pairing.reason)


def _text(place: Place | None) -> str:
    return "" if place is None else str(place)


def _steps() -> Iterator[Drawn]:
    for dump in dumps():
        if dump.is_dir() and dump.name.startswith("gpu-"):
            for files in modules(dump):
                for step in steps(files):
                    if step.ran in _WANTED:
                        yield Drawn(dump.name, step, _claims_of(step))


def _claims_of(step: Step) -> list[Claim]:
    pairings = match(step.before, step.after).pairings
    return [claim for pairing in pairings for claim in claims(pairing)]


def draw() -> list[tuple[Drawn, Claim]]:
    """Return the claims of the sample, pass by pass."""
    chance = random.Random(_SEED)  # noqa: S311 - repeatable on purpose
    found: list[tuple[Drawn, Claim]] = []
    every = list(_steps())
    for name, count in _WANTED.items():
        known = [one for one in every if one.step.ran == name]
        if name not in _EVERY_STEP:
            large = [one for one in known if len(one.claims) >= _FEWEST_CLAIMS]
            known = chance.sample(large, min(2, len(large)))
        pool = [(one, claim) for one in known for claim in one.claims]
        found += sorted(chance.sample(pool, count), key=lambda one: (one[0].files, one[1][2:4]))
    return found


def _pack(folder: Path, drawn: list[Drawn]) -> None:
    """Write the snapshots of the steps into one small archive."""
    texts: dict[str, bytes] = {}
    for one in drawn:
        for name, stage in zip(one.files, one.step.stages, strict=True):
            texts[name] = content(stage, "hlo-text") or b""
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as files:
        for name, text in sorted(texts.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            files.addfile(entry, BytesIO(text))
    packed = zstandard.ZstdCompressor(level=19).compress(buffer.getvalue())
    (folder / "snapshots.tar.zst").write_bytes(packed)


def main() -> None:
    """Write claims and snapshots into the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    drawing = draw()
    with (folder / "drawn.tsv").open("w", newline="") as file:
        rows = csv.writer(file, delimiter="\t", lineterminator="\n")
        rows.writerow(_COLUMNS)
        for one, claim in drawing:
            rows.writerow((one.step.ran, *one.files, *claim))
    _pack(folder, list({one.files: one for one, _ in drawing}.values()))


if __name__ == "__main__":
    main()
