"""Many nightly jobs below one folder: `ROOT/JOB/state/nights.json`, or one folder deeper."""

from collections.abc import Iterator
from pathlib import Path

from xlareport.pages.nightly.jobs import NightlyJob, jobs_page
from xlareport.runtime.errors import Problem, writing
from xlareport.site.folder import replace_file
from xlareport.site.night_folders import NightFolders, NightListError
from xlareport.site.nights import read_nights

_LIST = "state/nights.json"
_MOST_FOLDERS = 3
"""Folders below that of all jobs in which a job is looked for: `team/model/machine`."""
_MOST_JOBS = 10_000
"""Jobs that are read."""


def read_jobs(root: Path) -> tuple[tuple[NightlyJob, ...], tuple[Problem, ...]]:
    """Return the jobs below a folder by name, and problems with unreadable ones."""
    jobs: list[NightlyJob] = []
    problems: list[Problem] = []
    for folder in _folders(root):
        name = folder.relative_to(root).as_posix()
        try:
            outcomes = NightFolders(folder, "none").read_outcomes()
        except (NightListError, OSError) as error:
            problems.append(Problem(name, None, f"Not read: {error}"))
            continue
        nights, unread = read_nights(folder / "state")
        problems += unread
        jobs.append(NightlyJob(name, outcomes, nights))
    return tuple(jobs), tuple(problems)


def _folders(root: Path) -> Iterator[Path]:
    """Yield the folders of jobs in the order of their names."""
    folders = {
        path.parent.parent
        for depth in range(1, _MOST_FOLDERS + 1)
        for path in root.glob(f"{'*/' * depth}{_LIST}")
    }
    yield from sorted(folders)[:_MOST_JOBS]


def write_jobs_page(root: Path) -> tuple[Path, int]:
    """Write the page of all jobs below a folder; return its path, and how many jobs there are.

    Raises UnwritableFileError.
    """
    jobs, problems = read_jobs(root)
    path = root / "index.html"
    with writing(path):
        replace_file(path, jobs_page(jobs, problems).encode())
    return path, len(jobs)
