"""Makes the static site: MkDocs builds aside, then the result takes the former site's place.

MkDocs runs in processes of its own: one makes all pages but its share of the modules' pages.
"""

import gc
import os
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from itertools import count
from pathlib import Path

from click import ClickException
from msgspec import Struct

from xlareport.pages.rendering.templates import compile_templates
from xlareport.runtime.errors import XlareportError
from xlareport.runtime.worker_pool import Worker, WorkerPool
from xlareport.site.folder import Folder
from xlareport.site.kept_site import KEPT, KeptSite, is_guide_kept
from xlareport.site.site_shares import SHARE, write_shares

_NEEDED = ("mkdocs.__main__", "material.plugins.search.plugin", "material.plugins.offline.plugin")
_QUIET = "NO_MKDOCS_2_WARNING"
_RUNS = count()
"""Runs of MkDocs that this process has begun."""


class MkdocsRun(Struct, frozen=True):
    """A process of MkDocs that builds a share of a site."""

    settings: Path
    site: Path
    strict: bool
    share: Path | None = None
    """The list of the pages of modules that it makes, as of `write_shares`; None for all pages."""
    kept: KeptSite | None = None
    """Where finished pages are kept for the next build; None where they are not."""


class MkdocsEnd(Struct, frozen=True):
    """The end of a MkDocs run: its exit code and its output."""

    code: int
    output: str


class MkdocsWorker(Worker[Mapping[str, bytes], MkdocsRun, MkdocsEnd]):
    """A process that runs MkDocs; start it before other work, so that it can prepare.

    It also compiles the templates of the pages.
    """

    def __init__(self) -> None:
        super().__init__(prepare_mkdocs, run_mkdocs)


def prepare_mkdocs() -> Mapping[str, bytes]:
    """Import what MkDocs needs for a report, and compile the templates of its theme and ours.

    From a user's second build on templates are compiled already, and each is loaded on use.
    """
    _import_mkdocs()
    plugin = import_module("xlareport.mkdocs_plugin")
    if is_guide_kept():
        return {}
    plugin.compile_theme()
    return compile_templates()


def _import_mkdocs() -> None:
    os.environ[_QUIET] = "1"
    for name in _NEEDED:
        import_module(name)


def run_mkdocs(run: MkdocsRun) -> MkdocsEnd:
    """Run MkDocs in this process; modules in the current folder are not imported."""
    if next(_RUNS):  # files, pages and settings of the last one name one another
        gc.collect()
    sys.path[:] = [path for path in sys.path if path not in ("", str(Path.cwd()))]
    _import_mkdocs()
    os.environ[SHARE] = str(run.share.resolve()) if run.share else ""
    os.environ[KEPT] = run.kept.written() if run.kept else ""
    o = StringIO()
    with redirect_stdout(o), redirect_stderr(o):
        code = _exit_code(run)
    return MkdocsEnd(code, o.getvalue())


def report_death(_: MkdocsRun) -> MkdocsEnd:
    """Return the end of a MkDocs process that died."""
    return MkdocsEnd(1, "The process that ran MkDocs died, perhaps out of memory.")


def _exit_code(run: MkdocsRun) -> int:
    cli = import_module("mkdocs.__main__").cli
    arguments = ["build", "--clean", "--config-file", str(run.settings)]
    arguments += ["--site-dir", str(run.site.resolve())]
    arguments.append("--strict" if run.strict else "--no-strict")
    try:
        cli(arguments, standalone_mode=False)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1
    except ClickException as error:  # settings that cannot be read, for one
        sys.stdout.write(f"{error.format_message()}\n")
        return 1
    except Exception:  # noqa: BLE001 - a plugin or a hook of the user may raise anything
        traceback.print_exc()
        return 1
    return 0


_RECORD = re.compile(r"^(?=[A-Z]+ +- )", re.MULTILINE)


class SiteBuildError(XlareportError):
    """MkDocs could not build the site; its output is kept."""

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
    kept: KeptSite | None = None,
) -> str:
    """Build OUT/site from OUT/site_src and return the warnings of MkDocs, empty if there are none.

    With `strict` a warning of MkDocs is an error. After an error the former site remains. The
    MkDocs worker builds it, and `workers` help if there are very many pages. `kept` is where
    finished pages are taken from and kept.
    """
    if mkdocs_worker is None:
        with MkdocsWorker() as worker:
            return build_site(out, strict=strict, workers=workers, mkdocs_worker=worker, kept=kept)
    folder = Folder(out)
    folder.prepare()
    fresh = folder.aside / str(os.getpid()) / "site"  # not where a killed build may still write
    try:
        fresh.parent.mkdir(parents=True, exist_ok=True)
        jobs, former = workers.jobs if workers else 1, folder.site if kept else None
        shares = write_shares(folder.sources, fresh.parent, jobs, former)
        settings = _settings(out)
        runs = [
            MkdocsRun(
                settings,
                fresh.with_name(f"site-{number}") if number else fresh,
                strict,
                share,
                kept,
            )
            for number, share in enumerate(shares)
        ]
        message = _run_mkdocs(folder, runs, workers, mkdocs_worker)
        folder.swap(fresh)
    finally:
        folder.repair()
    return message


def _settings(out: Path) -> Path:
    return next(path for name in ("mkdocs.yml", "mkdocs.yaml") if (path := out / name).exists())


def _run_mkdocs(
    folder: Folder,
    runs: Sequence[MkdocsRun],
    workers: WorkerPool | None,
    mkdocs_worker: MkdocsWorker,
) -> str:
    """Build the site where the first run does and return the warnings of MkDocs."""
    finished = _run_all(runs, workers, mkdocs_worker)
    fresh = runs[0].site
    page = fresh / "404.html"
    if page.exists() and "Content-Security-Policy" not in page.read_text("utf-8"):
        raise MissingPluginError(folder.out)
    for mkdocs_end in finished:
        if mkdocs_end.code != 0:
            raise SiteBuildError(_failure_message(mkdocs_end.output))
    for run in runs[1:]:
        _join(run.site, fresh)
    return "".join(
        dict.fromkeys(record for mkdocs_end in finished for record in _warnings(mkdocs_end.output))
    )


def _run_all(
    runs: Sequence[MkdocsRun], workers: WorkerPool | None, mkdocs_worker: MkdocsWorker
) -> list[MkdocsEnd]:
    """Return the ends of all runs; without `workers` the MkDocs worker does them one by one."""
    if workers is None:
        return [mkdocs_worker.ask(run, report_death) for run in runs]
    tasks = [workers.submit(run_mkdocs, run, report_death) for run in runs[1:]]
    return [mkdocs_worker.ask(runs[0], report_death), *(task.result() for task in tasks)]


def _join(place: Path, fresh: Path) -> None:
    """Add the pages of modules that another process made."""
    (fresh / "m").mkdir(exist_ok=True)
    for page in (place / "m").iterdir():
        page.replace(fresh / "m" / page.name)


def _warnings(text: str) -> list[str]:
    """Return MkDocs' messages without progress; --quiet would also suppress warnings."""
    return [item for item in _RECORD.split(text) if not item.startswith("INFO")]


def _failure_message(text: str) -> str:
    """Return the messages of a failed MkDocs; an exception is in the very last line."""
    return "".join(_warnings(text)).strip() or text.strip().rpartition("\n")[2]
