"""Makes the static site: MkDocs builds aside, then the result takes the former site's place."""

import os
import re
from pathlib import Path

from xlareport.runtime.errors import XlareportError
from xlareport.runtime.worker_pool import WorkerPool
from xlareport.site.folder import Folder
from xlareport.site.mkdocs_run import MkdocsRun, MkdocsWorker, report_death, run_mkdocs

_PAGES = 100
"""Pages of modules for which one more process is worth its beginning."""

_RECORD = re.compile(r"^(?=[A-Z]+ +- )", re.MULTILINE)


class SiteBuildError(XlareportError):
    """MkDocs could not build the site; what it said is kept."""

    def __init__(self, text: str) -> None:
        super().__init__(f"MkDocs could not build the site from the pages:\n{text.strip()}")


class MissingPluginError(XlareportError):
    """The user's mkdocs.yml replaced our plugins, without which a report is not safe to open."""

    def __init__(self, out: Path) -> None:
        super().__init__(
            f"The settings in {out} leave out the plugin `xlareport`. Name plugins as a mapping "
            f"(`tags: {{}}` in place of `- tags`), so that they join those of the report."
        )


def build_site(
    out: Path,
    *,
    strict: bool = True,
    workers: WorkerPool | None = None,
    mkdocs_worker: MkdocsWorker | None = None,
) -> str:
    """Build OUT/site from OUT/site_src and return what MkDocs had to say, empty when all is well.

    With `strict` a warning of MkDocs is an error. A build that fails leaves the former site whole.
    The MkDocs worker makes it, and `workers` help where there are very many pages.
    """
    if mkdocs_worker is None:
        with MkdocsWorker() as own:
            return build_site(out, strict=strict, workers=workers, mkdocs_worker=own)
    folder = Folder(out)
    folder.prepare()
    fresh = folder.aside / str(os.getpid()) / "site"  # not where a killed build may still write
    try:
        fresh.parent.mkdir(parents=True, exist_ok=True)
        message = _run_mkdocs(folder, fresh, workers, mkdocs_worker, strict=strict)
        folder.swap(fresh)
    finally:
        folder.repair()
    return message


def _run_mkdocs(
    folder: Folder,
    fresh: Path,
    workers: WorkerPool | None,
    mkdocs_worker: MkdocsWorker,
    *,
    strict: bool,
) -> str:
    """Build the site into the folder `fresh` and return what MkDocs had to say."""
    pages = sum(1 for _ in (folder.sources / "m").glob("*.md"))
    shares = min(workers.jobs, 1 + pages // _PAGES) if workers else 1
    places = [fresh, *(fresh.with_name(f"site-{number}") for number in range(1, shares))]
    settings = _settings(folder.out)
    runs = [
        MkdocsRun(settings, place, strict, number, shares) for number, place in enumerate(places)
    ]
    tasks = [workers.submit(run_mkdocs, run, report_death) for run in runs[1:]] if workers else []
    finished = [mkdocs_worker.ask(runs[0], report_death), *(task.result() for task in tasks)]
    page = fresh / "404.html"
    if page.exists() and "Content-Security-Policy" not in page.read_text("utf-8"):
        raise MissingPluginError(folder.out)
    for mkdocs_end in finished:
        if mkdocs_end.code != 0:
            raise SiteBuildError(_trouble(mkdocs_end.output))
    for place in places[1:]:
        _join(place, fresh)
    return "".join(
        dict.fromkeys(record for mkdocs_end in finished for record in _warnings(mkdocs_end.output))
    )


def _join(place: Path, fresh: Path) -> None:
    """Add the pages of modules that another process made."""
    (fresh / "m").mkdir(exist_ok=True)
    for page in (place / "m").iterdir():
        page.replace(fresh / "m" / page.name)


def _warnings(text: str) -> list[str]:
    """Return what MkDocs said apart from how far it is; --quiet would keep warnings from it."""
    return [item for item in _RECORD.split(text) if not item.startswith("INFO")]


def _trouble(text: str) -> str:
    """Return what a MkDocs that failed said; a fault of it stands in the last line of all."""
    return "".join(_warnings(text)).strip() or text.strip().rpartition("\n")[2]


def _settings(out: Path) -> Path:
    return next(out / name for name in ("mkdocs.yml", "mkdocs.yaml") if (out / name).exists())
