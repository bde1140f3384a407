"""MkDocs in a process of its own, which gets ready while others read the dump.

Several can build one site: each makes its share of the pages of modules, the first all the rest.
"""

import os
import sys
import traceback
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from pathlib import Path

from click import ClickException

from xlareport.pages.rendering.templates import compile_templates
from xlareport.runtime.worker_pool import SHARE, Worker

_NEEDED = ("mkdocs.__main__", "material.plugins.search.plugin", "material.plugins.offline.plugin")
_QUIET = "NO_MKDOCS_2_WARNING"


@dataclass(frozen=True, slots=True)
class MkdocsRun:
    """One process of MkDocs that makes a share of a site."""

    settings: Path
    site: Path
    strict: bool
    share: int = 0
    of: int = 1


@dataclass(frozen=True, slots=True)
class MkdocsEnd:
    """How MkDocs ended: its exit code, and what it said."""

    code: int
    output: str


class MkdocsWorker(Worker[Mapping[str, bytes], MkdocsRun, MkdocsEnd]):
    """A process that runs MkDocs; begin it before other work, during which it gets ready.

    Beside that it makes the compiled templates of the pages.
    """

    def __init__(self) -> None:
        super().__init__(prepare_mkdocs, run_mkdocs)


def prepare_mkdocs() -> Mapping[str, bytes]:
    """Import what MkDocs needs for a report, and compile the templates of its theme and ours."""
    _import_mkdocs()
    import_module("xlareport.mkdocs_plugin").compile_theme()
    return compile_templates()


def _import_mkdocs() -> None:
    os.environ[_QUIET] = "1"
    for name in _NEEDED:
        import_module(name)


def run_mkdocs(run: MkdocsRun) -> MkdocsEnd:
    """Run MkDocs in this process; modules that lie in the current folder are kept out of it."""
    sys.path[:] = [path for path in sys.path if path not in ("", str(Path.cwd()))]
    _import_mkdocs()
    os.environ[SHARE] = f"{run.share}/{run.of}"
    o = StringIO()
    with redirect_stdout(o), redirect_stderr(o):
        code = _exit_code(run)
    return MkdocsEnd(code, o.getvalue())


def report_death(_: MkdocsRun) -> MkdocsEnd:
    """Stand in for an end that could not be told."""
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
