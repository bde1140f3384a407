"""Which characters of the page script the browser ran, where the environment asks for it.

`make coverage` names a folder in XLAREPORT_SCRIPT_COVERAGE; every process that drives a browser
leaves a file there with a byte for each character of the script: 1 where it ran. What a page did
before another address was opened in it may be missing: the figures are lower bounds.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlareport.runtime.resources import find_resource

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

FOLDER = "XLAREPORT_SCRIPT_COVERAGE"
SCRIPT = "assets/xlareport.js"


class ScriptCoverage:
    """Collects from pages what ran in them."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / f"{os.getpid()}.ran"
        self.ran = bytearray(len(find_resource("site_src").joinpath(SCRIPT).read_text("ascii")))
        self.sessions: list[CDPSession] = []

    def watch(self, page: "Page") -> None:
        """Count in a page from now on."""
        session = page.context.new_cdp_session(page)
        session.send("Profiler.enable")
        session.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": True})
        self.sessions.append(session)

    def take(self) -> None:
        """Add what ran so far in the pages that are open."""
        from playwright.sync_api import Error

        for session in self.sessions:
            try:
                scripts = session.send("Profiler.takePreciseCoverage")["result"]
            except Error:  # the test closed the page
                continue
            for script in scripts:
                if script["url"].endswith(SCRIPT):
                    add(self.ran, painted(script["functions"], len(self.ran)))

    def finish(self) -> None:
        """Take what is left, and write it."""
        self.take()
        self.sessions.clear()
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(self.ran)


def script_coverage() -> ScriptCoverage | None:
    """Return a collector where the environment names a folder for it."""
    folder = os.environ.get(FOLDER)
    return ScriptCoverage(Path(folder)) if folder else None


def painted(functions: Iterable[Mapping[str, Any]], length: int) -> bytearray:
    """Return 1 for each character that ran: inner ranges have the last word."""
    ran = bytearray(length)
    for function in functions:
        for span in sorted(
            function["ranges"], key=lambda one: (one["startOffset"], -one["endOffset"])
        ):
            start, end = span["startOffset"], min(span["endOffset"], length)
            ran[start:end] = (b"\1" if span["count"] else b"\0") * (end - start)
    return ran


def add(total: bytearray, more: bytearray) -> None:
    """Let `total` have what either has."""
    both = int.from_bytes(total, "big") | int.from_bytes(more, "big")
    total[:] = both.to_bytes(len(total), "big")
