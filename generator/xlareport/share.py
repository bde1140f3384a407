"""A report as one file to share, with or without information on who made it and where."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

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


class Shared(Struct, frozen=True):
    """The packed file, and the texts that were removed before."""

    packed: Packed
    replaced: Mapping[str, str]
    """Replacements by the removed text; empty without redaction."""


class PackOptions(Struct, frozen=True):
    """Where a report is packed to, and how."""

    target: Path
    limit: int
    """Bytes."""
    single: bool = False
    """Whether to write one HTML file instead of a zip."""

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
    """Build the report again from redacted texts, and pack it; raises XlareportError.

    Binary sources of the report, such as protos and object files, are not in it: they can neither
    be redacted nor get into the file.
    """
    redactor = Redactor(keep=frozenset(opcodes.all_entries()))
    with tempfile.TemporaryDirectory(prefix="xlareport-") as folder:
        dump, out = Path(folder) / "dump", Path(folder) / "out"
        _redact(find_report_site(report), dump, redactor)
        build(dump, replace(options, out=out, name="redacted"), progress)
        packed = packing.pack(out, {NOTE: _redaction_sentence(redactor)})
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


def _redaction_sentence(redactor: Redactor) -> str:
    """Describe what was redacted without repeating it."""
    lines = [f"{count:>6} {what}" for what, count in sorted(redactor.counts.items())]
    head = "Taken out of this report, and replaced by the same words everywhere:"
    return "\n".join([head, "", *(lines or ["nothing"]), ""])
