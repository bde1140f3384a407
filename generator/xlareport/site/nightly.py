"""A nightly report: its night among the nights before it, and pages that keep their addresses."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from xlareport.analysis.trends import kept_slugs, labels
from xlareport.dump.modules import GroupedDump
from xlareport.pages.nightly.page import Nightly, tonight
from xlareport.records.report import ReportRecord
from xlareport.site.folder import Folder
from xlareport.site.nights import read_nights


def read_nightly(report: ReportRecord, history: Path, out: Path) -> Nightly:
    """Return all nights of a history with that of this report as the last."""
    site = Folder(out).site
    when = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    address = os.path.relpath(site / "index.html", history).replace("\\", "/")
    nights, problems = read_nights(history)
    return Nightly((*nights, tonight(report, when, address)), history, site, problems)


def keep_slugs(grouped: GroupedDump, history: Path | None) -> GroupedDump:
    """Name the pages of modules as the night before did, so that addresses stay the same."""
    nights = read_nights(history)[0] if history else ()
    if not nights:
        return grouped
    named = labels(module.name for module in grouped.modules)
    slugs = kept_slugs(named, [module.slug for module in grouped.modules], nights[-1].slugs)
    modules = zip(grouped.modules, slugs, strict=True)
    return replace(grouped, modules=tuple(replace(module, slug=slug) for module, slug in modules))
