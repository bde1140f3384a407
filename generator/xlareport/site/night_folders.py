"""The folders of nightly reports: what is published, what the next night needs, what goes.

ROOT/site/       what to publish: index.html, latest/, NIGHT/site/ and NIGHT-compared/site/
ROOT/state/      nights.json, history.jsonl and baseline: what the next night needs
ROOT/summary.md  the verdict, and ROOT/budgets.xml the budgets, of the last night only
"""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, to_builtins

from xlareport.pages.nightly.index import NightOutcome, Outcome, index_page, latest_page
from xlareport.runtime.errors import XlareportError
from xlareport.site.folder import replace_file
from xlareport.site.nights import forget_nights

_NIGHT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", re.ASCII)
_MOST_BYTES = 16 << 20
"""Bytes of a list of nights that are read."""


class NightNameError(XlareportError):
    """A name of a night that cannot be a folder."""

    def __init__(self, night: str) -> None:
        super().__init__(f"{night!r} is no name of a night: letters, digits, `.`, `_` and `-`.")


class NightListError(XlareportError):
    """A list of nights that no earlier night wrote."""

    def __init__(self, path: Path, reason: object) -> None:
        super().__init__(f"{path} is no list of nights: {reason}. Remove it to begin anew.")


class NightFolders(Struct, frozen=True):
    """The folders and files of nightly reports."""

    root: Path
    night: str

    def __post_init__(self) -> None:
        """Refuse a name that leads elsewhere; raises NightNameError."""
        if not _NIGHT.fullmatch(self.night):
            raise NightNameError(self.night)

    @property
    def site(self) -> Path:
        """The folder that is published."""
        return self.root / "site"

    @property
    def state(self) -> Path:
        """The folder with the data for the next night."""
        return self.root / "state"

    @property
    def report(self) -> Path:
        """The report of the night."""
        return self.site / self.night

    @property
    def compared(self) -> Path:
        """Its comparison with the baseline."""
        return self.site / f"{self.night}-compared"

    @property
    def summary(self) -> Path:
        """The verdict as Markdown."""
        return self.root / "summary.md"

    @property
    def junit(self) -> Path:
        """The budgets as JUnit XML."""
        return self.root / "budgets.xml"

    @property
    def baseline(self) -> str | None:
        """The night that is the baseline; None if there is none, or its report is gone."""
        path = self.state / "baseline"
        night = path.read_text("utf-8").strip() if path.is_file() else ""
        return night if _NIGHT.fullmatch(night) and (self.site / night).is_dir() else None

    def pin(self) -> None:
        """Make this night the baseline."""
        replace_file(self.state / "baseline", f"{self.night}\n".encode())

    def prepare(self) -> None:
        """Make the folders; remove an earlier run of this night and the verdict of the last one."""
        for folder in (self.site, self.state):
            folder.mkdir(parents=True, exist_ok=True)
        for path in (self.summary, self.junit):
            path.unlink(missing_ok=True)
        for folder in (self.compared, self.report):
            if folder.is_dir() and folder.name != self.baseline:
                shutil.rmtree(folder)

    def strip(self) -> None:
        """Leave of the report and the comparison only their sites."""
        for folder in (self.report, self.compared):
            for path in folder.iterdir() if (folder / "site").is_dir() else ():
                if path.name != "site" and path.is_dir():
                    shutil.rmtree(path)
                elif path.name != "site":
                    path.unlink()

    def read_outcomes(self) -> tuple[NightOutcome, ...]:
        """Return the outcomes of the earlier nights, in order; raises NightListError."""
        path = self.state / "nights.json"
        if not path.is_file():
            return ()
        if path.stat().st_size > _MOST_BYTES:
            raise NightListError(path, "it is too large")
        try:
            records = json.loads(path.read_text("utf-8"))
            nights = tuple(
                NightOutcome(**{**record, "outcome": Outcome(record["outcome"])})
                for record in records
            )
            are_names = all(_NIGHT.fullmatch(night.night) for night in nights)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise NightListError(path, error) from error
        if not are_names:
            raise NightListError(path, "it names what cannot be a folder")
        return nights

    def publish(self, nights: Sequence[NightOutcome], title: str, keep: int) -> None:
        """List the nights, the last one last; remove all but the last `keep` and the baseline."""
        baseline = self.baseline
        stay = {night.night for night in nights[-keep:]} | {baseline}
        gone = [night.night for night in nights if night.night not in stay]
        for name in gone:
            for folder in (self.site / name, self.site / f"{name}-compared"):
                shutil.rmtree(folder, ignore_errors=True)
        forget_nights(self.state, gone)
        staying = [night for night in nights if night.night in stay]
        records = [to_builtins(night) for night in staying]
        replace_file(self.state / "nights.json", (json.dumps(records, indent=1) + "\n").encode())
        replace_file(self.site / "index.html", index_page(staying, title, baseline).encode())
        (self.site / "latest").mkdir(exist_ok=True)
        replace_file(self.site / "latest/index.html", latest_page(staying, title).encode())
