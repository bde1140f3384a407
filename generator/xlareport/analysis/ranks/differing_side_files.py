"""Differences in other files than snapshots of two ranks' modules, and their meaning."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from msgspec.structs import replace

from xlareport import reader_table
from xlareport.analysis.code.kernel_links import name_kernel
from xlareport.analysis.ranks.verdicts import REASONS, VERDICTS, DifferenceKind, RankDifference
from xlareport.dump.content_digests import content_digest
from xlareport.dump.modules import HLO_KINDS, Artifact, ModuleFiles
from xlareport.readers.autotune_results import MOST_RESULTS, TuningResult, read_autotune_results
from xlareport.readers.fusion_decisions import FusionDecision

_PREFIX = re.compile(r"(?:\d{10,20}\.)?module_\d{4,}(?=[./]|\Z)", re.ASCII)
_CODE = ("llvm-ir", "ptx", "assembly", "object", "mlir", "mlir-log")
_LINE = 200
_NAME = re.compile(rb"[\w.\-]{1,1000}")
_DRAWN = ("hlo-html", "hlo-url")


def compare_side_files(
    base: ModuleFiles, other: ModuleFiles, renamed: Mapping[str, str]
) -> Iterator[RankDifference]:
    """Yield the first file of each kind that differs; raises OSError.

    `renamed` are instructions of the base with other names in the other module: files that differ
    only in these names count as equal.
    """
    ours, theirs = _files(base), _files(other)
    kinds: set[DifferenceKind] = set()
    for ending in dict.fromkeys([*ours, *theirs]):
        file, counterpart = ours.get(ending), theirs.get(ending)
        if file and counterpart and _is_same(file, counterpart, renamed):
            continue
        kind = _kind(file or theirs[ending])
        decision = instruction = ""
        if kind == "fusion":
            decision, instruction = compare_decisions(base, other, renamed)
        if kind == "autotuning" and file and counterpart:
            decision = compare_tuning(file, counterpart)
            kind = kind if decision else "times"
        if kind not in kinds:
            kinds.add(kind)
            difference = _of_files(base, other, file, counterpart, kind)
            yield replace(difference, decision=decision, instruction=instruction)


def compare_decisions(
    base: ModuleFiles, other: ModuleFiles, renamed: Mapping[str, str]
) -> tuple[str, str]:
    """Return the first decision of the GPU fusion pass that differs, in words, and its producer.

    Both are empty where none differs.

    Instructions of the base that are `renamed` go by their names in the other module.
    """
    ours_renamed = (_with_names(decision, renamed) for decision in _decisions(base))
    rows = zip_longest(ours_renamed, _decisions(other))
    for number, (ours, theirs) in enumerate(rows, 1):
        if ours != theirs:
            decision = theirs or ours
            words = f"decision {number:,}: {_words(theirs)}; most ranks: {_words(ours)}"
            return words, decision.producer if decision else ""
    return "", ""


def _with_names(decision: FusionDecision, renamed: Mapping[str, str]) -> FusionDecision:
    return replace(
        decision,
        producer=renamed.get(decision.producer, decision.producer),
        consumers=tuple(renamed.get(name, name) for name in decision.consumers),
        fusion=renamed.get(decision.fusion, decision.fusion),
    )


def _decisions(files: ModuleFiles) -> tuple[FusionDecision, ...]:
    row = reader_table.FUSION_DECISIONS
    for artifact in row.choose(files):
        return row.read(artifact.entry.read(), artifact.path)[0]
    return ()


def _words(decision: FusionDecision | None) -> str:
    if decision is None:
        return "none"
    into = f" into {', '.join(decision.consumers)}" if decision.consumers else ""
    why = f" ({decision.reason})" if decision.reason else ""
    return f"{decision.kind} of {decision.producer}{into}{why}"


def _files(module: ModuleFiles) -> Mapping[str, Artifact]:
    """Return the files that are no snapshots, by path without folder and number."""
    start = len(module.folder) + 1 if module.folder else 0
    return {
        _PREFIX.sub("module", artifact.path[start:], count=1): artifact
        for artifact in module.artifacts
    }


def _kind(file: Artifact) -> DifferenceKind:
    name = file.name
    if name.kind in HLO_KINDS or name.kind in _DRAWN:
        return "ids"
    if name.stage == "priority_fusion_dump":
        return "fusion"
    if name.kind == "autotune":
        return "autotuning"
    if name.stage in ("debug_options", "flagfile"):
        return "flags"
    return "code" if name.kind in _CODE else "files"


def _is_same(file: Artifact, other: Artifact, renamed: Mapping[str, str]) -> bool:
    if file.name.kind == "hlo-text":  # compared as a snapshot
        return True
    if content_digest(file.entry) == content_digest(other.entry):
        return True
    if not renamed:
        return False
    kernels = {name_kernel(old): name_kernel(new) for old, new in renamed.items()}
    content, expected = file.entry.read(), other.entry.read()
    both = (kernels | dict(renamed), dict(renamed) | kernels)
    return any(_with_new_names(content, names) == expected for names in both)


def _with_new_names(content: bytes, renamed: Mapping[str, str]) -> bytes:
    """Return a text with instructions, or their kernels, renamed."""
    names = {old.encode(): new.encode() for old, new in renamed.items()}
    return _NAME.sub(lambda match: names.get(match[0], match[0]), content)


def _of_files(
    base: ModuleFiles,
    other: ModuleFiles,
    ours: Artifact | None,
    theirs: Artifact | None,
    kind: DifferenceKind,
) -> RankDifference:
    """Return the difference of one file; None if one of the modules does not have it."""
    contents = [file.entry.read() if file else b"" for file in (ours, theirs)]
    number, line, other_line = _first_lines(*contents)
    if ours is None or theirs is None:
        number, line, other_line = 0, _whether(ours), _whether(theirs)
    return RankDifference(
        module=other.key,
        reference=base.key,
        verdict=VERDICTS[kind],
        kind=kind,
        step=(theirs or ours).path,  # type: ignore[union-attr]
        attribute=f"line {number}" if number else "file",
        value=other_line,
        reference_value=line,
        reason=REASONS[kind],
    )


def _whether(file: Artifact | None) -> str:
    return "written" if file else "not written"


def _line_words(line: bytes) -> str:
    return line.decode("utf-8", "replace")[:_LINE]


def _first_lines(ours: bytes, theirs: bytes) -> tuple[int, str, str]:
    """Return the number of the first different line, and both lines; 0 for binary files."""
    if b"\0" in ours[:4096] or b"\0" in theirs[:4096]:
        return 0, "", ""
    rows = zip_longest(ours.split(b"\n"), theirs.split(b"\n"), fillvalue=b"")
    for number, (line, other) in enumerate(rows, 1):
        if line != other:
            return number, _line_words(line), _line_words(other)
    return 0, "", ""


_RESULTS = "autotune_results"
_UNREAD = "not known: the results could not be read whole"
_MOST_CHARACTERS = 120
_Choices = dict[tuple[str, str], tuple[str, ...]]


def compare_tuning(base: Artifact, other: Artifact) -> str:
    """Return the first choice that differs; empty where all are the same; raises OSError.

    Logs of what was timed make no choice: those of two runs always differ. Of what cannot be read
    whole it is not known.
    """
    if base.name.stage != _RESULTS or other.name.stage != _RESULTS:
        return ""
    both = _read(base), _read(other)
    if None in both:
        return _UNREAD
    ours, theirs = (_choices(results or ()) for results in both)
    for key in [*ours, *(key for key in theirs if key not in ours)]:
        if ours.get(key) != theirs.get(key):
            _, hlo = key
            choice, most = _choice_words(theirs.get(key)), _choice_words(ours.get(key))
            return f"{choice} for {_shown_choices(hlo)}; most ranks: {most}"
    return ""


def _read(artifact: Artifact) -> Sequence[TuningResult] | None:
    """Return the results; None if they may be incomplete."""
    results, problems = read_autotune_results(artifact.entry.read(), artifact.path)
    return None if problems or len(results) >= MOST_RESULTS else results


def _choices(results: Sequence[TuningResult]) -> _Choices:
    """Return the choice for each instruction of a device."""
    return {
        (result.device, result.hlo): (
            result.made_by,
            *(f"{name}={value}" for name, value in sorted(result.settings.items())),
        )
        for result in results
    }


def _choice_words(choice: tuple[str, ...] | None) -> str:
    return " ".join(filter(None, choice))[:_MOST_CHARACTERS] if choice else "none"


def _shown_choices(hlo: str) -> str:
    """Return the instruction without its layout of lines, cut where it is long."""
    text = " ".join(hlo.split())
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
