"""Compares the module of some ranks with that of most: first difference, and its meaning."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.ranks.collective_order import (
    OrderDifference,
    collective_order,
    compare_order,
    run_apart,
)
from xlareport.analysis.ranks.differing_side_files import compare_decisions, compare_side_files
from xlareport.analysis.ranks.instructions import InstructionDifference, list_differences
from xlareport.analysis.ranks.verdicts import (
    REASONS,
    VERDICTS,
    DifferenceKind,
    RankDifference,
    RankVerdict,
    worse,
)
from xlareport.dump.equivalent_modules import METADATA
from xlareport.dump.modules import RUN_KIND, ModuleFiles, SnapshotFiles
from xlareport.hlo.dot import DotReader
from xlareport.hlo.model import HloModule
from xlareport.hlo.proto import ProtoReader
from xlareport.hlo.text import TextReader

_NAMED = re.compile(rb"\s{0,99}(?:ROOT )?%([\w.\-]{1,1000}) = ")
_HEADER = re.compile(rb"(?:ENTRY )?%([\w.\-]{1,1000}) \(")
_NAMES = re.compile(rb"%[\w.\-]{1,1000}+")
_LONGEST = 400
_FIRST = "before_optimizations"
_LAST = "after_optimizations"


class RankPair(Struct, frozen=True):
    """Two modules to be compared: that of most ranks, and another one."""

    reference: ModuleFiles
    module: ModuleFiles
    by_lines: bool = False
    """Whether they are known to be equal except for names, so that the first different line is
    enough."""


class _ComparedSnapshot(Struct, frozen=True):
    """A snapshot of both modules that differs."""

    stage: SnapshotFiles
    base: HloModule
    other: HloModule


def compare_rank_pair(pair: RankPair) -> RankDifference:
    """Return the first difference of the most severe kind; raises OSError if a file is gone."""
    line = _find_first_line(pair.reference, pair.module) if pair.by_lines else None
    if line is not None:
        return line
    renamed: dict[str, str] = {}
    differences = list(_of_snapshots(pair, renamed))
    decision, _ = compare_decisions(pair.reference, pair.module, renamed)
    gravest = gravest_of(differences)
    if gravest is None or gravest.verdict is RankVerdict.HARMLESS:
        differences += compare_side_files(pair.reference, pair.module, renamed)
        gravest = gravest_of(differences)
    if gravest is None:
        gravest = _difference(pair, "files", "")
    return replace(gravest, decision=gravest.decision or decision)


def gravest_of(differences: Iterable[RankDifference]) -> RankDifference | None:
    """Return the first of the differences with the worst verdict; None if there are none."""
    gravest: RankDifference | None = None
    for difference in differences:
        if gravest is None or worse(difference.verdict, gravest.verdict):
            gravest = difference
    return gravest


def _of_snapshots(pair: RankPair, renamed: dict[str, str]) -> Iterator[RankDifference]:
    """Yield the first difference of each kind, in the order of the snapshots.

    `renamed` is filled with instruction names and their names in the other module.
    """
    snapshots = list(_compare_snapshots(pair))
    if snapshots and _is_stage(snapshots[0], snapshots[-1]):
        yield _difference(pair, "stage", snapshots[0].stage.label)
        return
    hangs = _hangs(snapshots, pair.reference.stages)
    seen_kinds: set[DifferenceKind] = set()
    for compared in snapshots:
        order = compare_order(collective_order(compared.base), collective_order(compared.other))
        if order is not None and hangs:
            yield _of_order(pair, compared, order)
            return
        for difference in list_differences(compared.base, compared.other):
            if difference.kind == "names" and difference.attribute == "name":
                renamed[difference.value] = difference.other_value
            kind = _in_place(difference, compared)
            if kind not in seen_kinds:
                seen_kinds.add(kind)
                yield _of_instruction(pair, compared, difference, kind)
    if {*_by_snapshot_key(pair.reference.stages)} != {*_by_snapshot_key(pair.module.stages)}:
        yield _other_passes(pair)


def _hangs(snapshots: Iterable[_ComparedSnapshot], stages: Sequence[SnapshotFiles]) -> bool:
    """Return whether the optimized modules run their collectives in different orders.

    Before scheduling the order in a text is not that of execution.
    """
    optimized = [stage for stage in stages if stage.name == _LAST]
    last = optimized[0] if optimized else stages[-1]
    return any(
        compare_order(collective_order(compared.base), collective_order(compared.other)) is not None
        for compared in snapshots
        if compared.stage is last
    )


def _is_stage(first: _ComparedSnapshot, last: _ComparedSnapshot) -> bool:
    """Return whether these are programs for different devices, and different from the beginning."""
    if not run_apart(collective_order(last.base), collective_order(last.other)):
        return False
    return any(
        difference.kind in ("structure", "order")
        for difference in list_differences(first.base, first.other)
    )


def _in_place(difference: InstructionDifference, compared: _ComparedSnapshot) -> DifferenceKind:
    """Return the kind of difference, refined by its stage of compilation."""
    if difference.kind not in ("structure", "order"):
        return difference.kind
    if compared.stage.name == _FIRST:
        return "program"
    passes = f"{compared.stage.after or ''} {compared.stage.pipeline or ''}"
    if difference.kind == "structure" and "fusion" in passes:
        return "fusion"
    if difference.kind == "structure" and "autotun" in passes:
        return "autotuning"
    return difference.kind


def _of_instruction(
    pair: RankPair,
    compared: _ComparedSnapshot,
    difference: InstructionDifference,
    kind: DifferenceKind,
) -> RankDifference:
    base, other = difference.base, difference.other
    return replace(
        _difference(pair, kind, compared.stage.label),
        computation=difference.computation,
        instruction=other.name if other else "",
        reference_instruction=base.name if base else "",
        attribute=difference.attribute,
        value=difference.other_value,
        reference_value=difference.value,
    )


def _of_order(
    pair: RankPair, compared: _ComparedSnapshot, order: OrderDifference
) -> RankDifference:
    kind: DifferenceKind = "values" if order.only_values else "collectives"
    base, other = order.base, order.other
    return replace(
        _difference(pair, kind, compared.stage.label),
        computation=(base or other).computation if base or other else "",  # type: ignore[union-attr]
        instruction=other.name if other else "",
        reference_instruction=base.name if base else "",
        attribute=f"collective {order.number} in order",
        value=other.words if other else "none",
        reference_value=base.words if base else "none",
        grade="matched" if order.only_values else "exact",
    )


def _other_passes(pair: RankPair) -> RankDifference:
    ours, theirs = _by_snapshot_key(pair.reference.stages), _by_snapshot_key(pair.module.stages)
    first = next(key for key in [*ours, *theirs] if (key in ours) is not (key in theirs))
    label = (ours.get(first) or theirs[first]).label
    return replace(
        _difference(pair, "passes", label),
        attribute="snapshot",
        value="written" if first in theirs else "not written",
        reference_value="written" if first in ours else "not written",
    )


def _difference(pair: RankPair, kind: DifferenceKind, step: str) -> RankDifference:
    return RankDifference(
        module=pair.module.key,
        reference=pair.reference.key,
        verdict=VERDICTS[kind],
        kind=kind,
        step=step,
        reason=REASONS[kind],
    )


_Key = tuple[str, str | None, str | None, str | None, int]


def _by_snapshot_key(stages: Sequence[SnapshotFiles]) -> dict[_Key, SnapshotFiles]:
    """Return the snapshots by key, without numbers, which shift if a pass changed nothing."""
    stage_of: dict[_Key, SnapshotFiles] = {}
    for stage in stages:
        key = _snapshot_key(stage)
        while key in stage_of:
            key = (*key[:4], key[4] + 1)
        stage_of[key] = stage
    return stage_of


def _snapshot_key(stage: SnapshotFiles) -> _Key:
    return stage.name, stage.pipeline, stage.after, stage.before, 0


def _compare_snapshots(pair: RankPair) -> Iterator[_ComparedSnapshot]:
    """Yield the snapshots that both have and that differ, in the order of the reference."""
    protos = ProtoReader()
    readers = {
        "hlo-text": TextReader(),
        "hlo-proto": protos,
        RUN_KIND: protos,
        "hlo-dot": DotReader(),
    }
    theirs = _by_snapshot_key(pair.module.stages)
    for key, stage in _by_snapshot_key(pair.reference.stages).items():
        files, others = stage.readable(), theirs[key].readable() if key in theirs else ()
        for file in files[:1]:
            other = next((other for other in others if other.name.kind == file.name.kind), None)
            if other is None:
                continue
            contents = file.entry.read(), other.entry.read()
            if contents[0] == contents[1]:
                continue
            reader = readers[file.name.kind]
            base = reader.read(contents[0], file.path)
            against = reader.read(contents[1], other.path)
            if base is not None and against is not None:
                yield _ComparedSnapshot(stage, base, against)


def _find_first_line(reference: ModuleFiles, module: ModuleFiles) -> RankDifference | None:
    """Return the first line of the snapshots that differs; None where none does; raises OSError.

    They are known to be the same program, so that nothing is parsed: fast enough for very many
    ranks.
    """
    for stage, other in zip(reference.stages, module.stages, strict=False):
        ours, theirs = _snapshot_text(stage), _snapshot_text(other)
        if ours == theirs:
            continue
        computation = b""
        for line, counterpart in zip_longest(ours.split(b"\n"), theirs.split(b"\n"), fillvalue=b""):
            header = _HEADER.match(line)
            computation = header[1] if header else computation
            if line != counterpart:
                return _line_difference(reference, module, stage, (computation, line, counterpart))
    return None


def _snapshot_text(stage: SnapshotFiles) -> bytes:
    texts = (artifact for artifact in stage.artifacts if artifact.name.kind == "hlo-text")
    text = next(texts, None)
    return text.entry.read() if text is not None else b""


def _line_difference(
    reference: ModuleFiles,
    module: ModuleFiles,
    stage: SnapshotFiles,
    lines: tuple[bytes, bytes, bytes],
) -> RankDifference:
    computation, line, counterpart = lines
    kind = _kind(line, counterpart)
    named, other = _NAMED.match(line), _NAMED.match(counterpart)
    return RankDifference(
        module=module.key,
        reference=reference.key,
        verdict=VERDICTS[kind],
        kind=kind,
        step=stage.label,
        computation=_words(computation) if named else "",
        instruction=_words(other[1]) if other else "",
        reference_instruction=_words(named[1]) if named else "",
        attribute="metadata" if kind == "metadata" and named else "line",
        value=_words(counterpart.strip()),
        reference_value=_words(line.strip()),
        reason=REASONS[kind],
    )


def _kind(line: bytes, counterpart: bytes) -> DifferenceKind:
    if not _NAMED.match(line) and not _HEADER.match(line):
        return "metadata"
    ours, theirs = METADATA.sub(b"", line), METADATA.sub(b"", counterpart)
    if ours == theirs:
        return "metadata"
    same_names = _NAMES.findall(ours) == _NAMES.findall(theirs)
    return "ids" if same_names else "names"


def _words(text: bytes) -> str:
    return text.decode("utf-8", "replace")[:_LONGEST]
