"""Makes the static site: MkDocs builds aside, then the result takes the former site's place."""

import os
import re
import subprocess
import sys
from pathlib import Path

from xlareport.errors import XlareportError
from xlareport.site.folder import Folder

_RECORD = re.compile(r"^(?=[A-Z]+ +- )", re.MULTILINE)


class SiteBuildError(XlareportError):
    """MkDocs could not build the site; what it said is kept."""

    def __init__(self, said: str) -> None:
        super().__init__(f"MkDocs could not build the site from the pages:\n{said.strip()}")


class MissingPluginError(XlareportError):
    """The user's mkdocs.yml replaced our plugins, without which a report is not safe to open."""

    def __init__(self, out: Path) -> None:
        super().__init__(
            f"The settings in {out} leave out the plugin `xlareport`. Name plugins as a mapping "
            f"(`tags: {{}}` in place of `- tags`), so that they join those of the report."
        )


def build_site(out: Path, *, strict: bool = True) -> str:
    """Build OUT/site from OUT/site_src and return what MkDocs had to say, empty when all is well.

    With `strict` a warning of MkDocs is an error. A build that fails leaves the former site whole.
    """
    folder = Folder(out)
    folder.prepare()
    fresh = folder.aside / f"site-{os.getpid()}"  # not where the MkDocs of a killed build writes
    try:
        fresh.parent.mkdir(parents=True, exist_ok=True)
        said = _run_mkdocs(out, fresh, strict=strict)
        folder.swap(fresh)
    finally:
        folder.repair()
    return said


def _run_mkdocs(out: Path, fresh: Path, *, strict: bool) -> str:
    """Build the site into the folder `fresh` and return what MkDocs had to say."""
    finished = subprocess.run(  # noqa: S603
        _command(out, fresh, strict=strict),
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    page = fresh / "404.html"
    if page.exists() and "Content-Security-Policy" not in page.read_text("utf-8"):
        raise MissingPluginError(out)
    if finished.returncode != 0:
        raise SiteBuildError(_trouble(finished.stdout + finished.stderr))
    return _without_progress(finished.stdout + finished.stderr)


def _without_progress(said: str) -> str:
    """Return what MkDocs said apart from how far it is; --quiet would keep warnings from it."""
    return "".join(one for one in _RECORD.split(said) if not one.startswith("INFO"))


def _trouble(said: str) -> str:
    """Return what a MkDocs that failed said; a fault of it stands in the last line of all."""
    return _without_progress(said).strip() or said.strip().rpartition("\n")[2]


def _command(out: Path, fresh: Path, *, strict: bool) -> list[str]:
    """Return the call of MkDocs; -P keeps modules that lie in the current folder out of it."""
    settings = next(name for name in ("mkdocs.yml", "mkdocs.yaml") if (out / name).exists())
    return [
        *(sys.executable, "-P", "-m", "mkdocs", "build", "--clean"),
        *("--config-file", str(out / settings), "--site-dir", str(fresh.resolve())),
        "--strict" if strict else "--no-strict",
    ]
