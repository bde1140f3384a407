"""The first different line of modules that are equal except for names, ids and notes.

Such modules are known to be the same program, so that the first different line is enough and
nothing is parsed. This is fast enough for very many ranks.
"""

import re
from itertools import zip_longest

from xlareport.analysis.ranks.verdicts import REASONS, VERDICTS, DifferenceKind, RankDifference
from xlareport.dump.modules import ModuleFiles, SnapshotFiles
from xlareport.dump.rank_twins import METADATA

_NAMED = re.compile(rb"\s{0,99}(?:ROOT )?%([\w.\-]{1,1000}) = ")
_HEADER = re.compile(rb"(?:ENTRY )?%([\w.\-]{1,1000}) \(")
_NAMES = re.compile(rb"%[\w.\-]{1,1000}+")
_LONGEST = 400


def find_first_line(reference: ModuleFiles, module: ModuleFiles) -> RankDifference | None:
    """Return the first line of the snapshots that differs; None where none does; raises OSError."""
    for stage, other in zip(reference.stages, module.stages, strict=False):
        ours, theirs = _text(stage), _text(other)
        if ours == theirs:
            continue
        computation = b""
        for line, counterpart in zip_longest(ours.split(b"\n"), theirs.split(b"\n"), fillvalue=b""):
            header = _HEADER.match(line)
            computation = header[1] if header else computation
            if line != counterpart:
                return _difference(reference, module, stage, (computation, line, counterpart))
    return None


def _text(stage: SnapshotFiles) -> bytes:
    texts = (artifact for artifact in stage.artifacts if artifact.name.kind == "hlo-text")
    text = next(texts, None)
    return text.entry.read() if text is not None else b""


def _difference(
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
