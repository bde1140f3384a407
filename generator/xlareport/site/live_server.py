"""Serves a report to this machine; its pages reload when a build has replaced it.

The files of the report stay as they are: the script that reloads is added on the way.
"""

import os
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

from xlareport.runtime.errors import XlareportError
from xlareport.runtime.worker_pool import begin_worker

SERVER = "xlareport-server"
"""The name of the process that serves, where it is one of its own."""
_HOST = "127.0.0.1"
_NAMES = (_HOST, "localhost")
_SCRIPT_PATH, _STATE_PATH = "/xlareport-live.js", "/xlareport-live"
_ELEMENT = f'<script src="{_SCRIPT_PATH}"></script>'.encode()
_END = b"</body>"
_SCRIPT = b"""let known;
setInterval(async () => {
  const answer = await fetch("/xlareport-live").catch(() => null);
  if (!answer || !answer.ok) return;
  const state = await answer.text();
  if (known !== undefined && state !== known) location.reload();
  known = state;
}, 2000);
"""


class PortInUseError(XlareportError):
    """Another program listens at the port."""

    def __init__(self, port: int) -> None:
        super().__init__(f"Port {port} is in use; choose another one with --port.")


def start_server(site: Path, port: int) -> str:
    """Serve a site that may not be there yet as long as this process lives; return its address.

    Raises PortInUseError.
    """
    try:
        server = ThreadingHTTPServer((_HOST, port), partial(LiveHandler, directory=str(site)))
    except OSError as error:
        raise PortInUseError(port) from error
    if "fork" in get_all_start_methods() and os.name == "posix":  # threads make builds slower
        fork = get_context("fork")
        fork.Process(target=_serve, args=(server,), name=SERVER, daemon=True).start()
        server.socket.close()
    else:
        Thread(target=server.serve_forever, daemon=True).start()
    return f"http://{_HOST}:{server.server_port}/"


def _serve(server: ThreadingHTTPServer) -> None:
    begin_worker()
    server.serve_forever()


class LiveHandler(SimpleHTTPRequestHandler):
    """Answers with files of the site, and pages with a script that reloads them."""

    def do_GET(self) -> None:
        """Answer a request from a page of this server, by its own name."""
        path = urlsplit(self.path).path
        if self.headers.get("Host", "").rpartition(":")[0] not in _NAMES:
            self.send_error(HTTPStatus.FORBIDDEN)  # the name of another site leads here
        elif path == _SCRIPT_PATH:
            self._send(_SCRIPT, "text/javascript")
        elif path == _STATE_PATH:
            self._send(self._state().encode(), "text/plain")
        elif path.endswith((".html", "/")):
            self._send_page(Path(self.translate_path(path)))
        else:
            super().do_GET()

    def end_headers(self) -> None:
        """Forbid caching, because the next build may replace the file."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name above
        """Log no request."""

    def _state(self) -> str:
        """Return the identity of the current build: inode and time of the site folder."""
        try:
            state = Path(self.directory).stat()
        except OSError:
            return ""
        return f"{state.st_ino} {state.st_mtime_ns}"

    def _send_page(self, place: Path) -> None:
        try:
            content = (place / "index.html" if place.is_dir() else place).read_bytes()
        except OSError:
            if self._state():
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            content = b"<!doctype html><title>xlareport</title><body>Waiting for files.</body>"
        before, end, after = content.rpartition(_END)
        page = before + _ELEMENT + end + after if end else content + _ELEMENT
        self._send(page, "text/html; charset=utf-8")

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
