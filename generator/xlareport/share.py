"""A report as one file to share, as it is or without what says who made it and where."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from xlareport.dump.redact import Redactor
from xlareport.dump.source import open_source
from xlareport.knowledge import opcodes
from xlareport.report import BuildOptions, build
from xlareport.runtime.errors import UnreadableInputError
from xlareport.runtime.progress import ProgressCallback
from xlareport.site.fitting import Packed, find_report_site
from xlareport.site.pack import NO_NOTES, pack
from xlareport.site.single import pack_single

NOTE = "REDACTED.txt"


@dataclass(frozen=True, slots=True)
class Shared:
    """What was packed, and what was taken out of it before."""

    packed: Packed
    replaced: Mapping[str, str]
    """What was taken out, and what is there now; empty where nothing was asked for."""


@dataclass(frozen=True, slots=True)
class PackOptions:
    """Where a report is packed to, and how."""

    target: Path
    limit: int
    """Bytes."""
    single: bool = False
    """One HTML file instead of a zip."""

    def pack(self, report: Path, notes: Mapping[str, str] = NO_NOTES) -> Packed:
        """Pack the site of a report; raises XlareportError."""
        make = pack_single if self.single else pack
        return make(report, self.target, self.limit, notes)


def share(report: Path, packing: PackOptions) -> Shared:
    """Pack the site of a report as it is; raises XlareportError."""
    return Shared(packing.pack(report), NO_NOTES)


def share_redacted(
    report: Path, packing: PackOptions, options: BuildOptions, progress: ProgressCallback
) -> Shared:
    """Build the report once more from redacted texts, and pack that; raises XlareportError.

    What the report was made from beside its texts, protos and object files, is not in it, so
    nothing can be taken out of that, and nothing of it gets into the file.
    """
    redactor = Redactor(keep=frozenset(opcodes.all_entries()))
    with tempfile.TemporaryDirectory(prefix="xlareport-") as folder:
        dump, out = Path(folder) / "dump", Path(folder) / "out"
        _redact(find_report_site(report), dump, redactor)
        build(dump, replace(options, out=out, name="redacted"), progress)
        packed = packing.pack(out, {NOTE: _note(redactor)})
    return Shared(packed, redactor.replaced)


def _redact(site: Path, dump: Path, redactor: Redactor) -> None:
    """Write the texts that a site carries, redacted; raises where it carries none."""
    with open_source(site) as source:
        if any(entry.path.endswith("report.json") for entry in source.entries):
            raise UnreadableInputError(f"{site} carries no texts, so it cannot be redacted.")
        for entry in source.entries:
            redactor.learn(entry.path, entry.read())
        for entry in source.entries:
            path = dump / redactor.path(entry.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(redactor.text(entry.read()))


def _note(redactor: Redactor) -> str:
    """Describe what was redacted without repeating it."""
    lines = [f"{count:>6} {what}" for what, count in sorted(redactor.counts.items())]
    head = "Taken out of this report, and replaced by the same words everywhere:"
    return "\n".join([head, "", *(lines or ["nothing"]), ""])
