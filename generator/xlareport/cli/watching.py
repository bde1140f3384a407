"""`xlareport build --watch`: builds a report again and again while a program writes its dump."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import click

from xlareport.cli.terminal import say
from xlareport.runtime.errors import XlareportError

_LOOK = 2.0
"""Seconds between two looks at the files."""
_PATIENCE = 20.0
"""Seconds after which the files at rest are built while others still change."""


def watch_dump(dump: str, out: Path, port: int, build: Callable[[str], None]) -> NoReturn:
    """Serve OUT/site, and call `build` with a folder of the files at rest whenever they change.

    It ends with the process: by Ctrl-C.
    """
    from xlareport.site.folder import Folder, check_apart
    from xlareport.site.live_server import start_server
    from xlareport.site.watched_dump import WatchedDump

    folder = Folder(out)
    if not Path(dump).is_dir():
        raise click.BadParameter("--watch follows a directory of this machine.")
    check_apart(dump, out, folder.replaced())
    address = start_server(out.resolve() / "site", port)
    say(f"Watching {dump}; the report is at {address}. Ctrl-C ends it.")
    watched = WatchedDump(
        Path(dump), folder.cache / "watched" / (Path(dump).resolve().name or "dump")
    )
    built = -_PATIENCE
    while True:
        is_new = watched.look()
        if is_new and (watched.is_quiet or time.monotonic() - built > _PATIENCE):
            watched.link()
            try:
                build(str(watched.mirror))
            except XlareportError as error:
                say(f"Not built: {error}", err=True)
            built = time.monotonic()
        time.sleep(_LOOK)
