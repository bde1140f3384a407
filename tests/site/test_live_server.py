"""The server of `build --watch`: pages with a script that reloads, for this machine only."""

from collections.abc import Iterator
from http.client import HTTPConnection
from multiprocessing import active_children
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from xlareport.site.live_server import SERVER, PortInUseError, start_server


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "site"


@pytest.fixture
def line(site: Path) -> Iterator[HTTPConnection]:
    address = urlsplit(start_server(site, 0))
    connection = HTTPConnection(address.hostname or "", address.port or 0, timeout=60)
    yield connection
    connection.close()
    for process in active_children():  # it would hold the lines of this process's own children
        if process.name == SERVER:
            process.terminate()
            process.join()


def get(line: HTTPConnection, path: str, **headers: str) -> tuple[int, str]:
    line.request("GET", path, headers=headers)
    answer = line.getresponse()
    return answer.status, answer.read().decode()


def test_pages_reload_when_the_site_is_replaced(line: HTTPConnection, site: Path) -> None:
    assert "Waiting for files" in get(line, "/")[1]
    assert get(line, "/xlareport-live") == (200, "")
    site.mkdir()
    (site / "index.html").write_text("<body>a page</body>")
    (site / "style.css").write_text("p {}")
    page = '<body>a page<script src="/xlareport-live.js"></script></body>'
    assert get(line, "/") == get(line, "/index.html?x") == (200, page)
    assert get(line, "/style.css") == (200, "p {}")
    assert "location.reload" in get(line, "/xlareport-live.js")[1]
    first = get(line, "/xlareport-live")[1]
    assert first
    site.rename(site.with_name("former"))
    site.mkdir()
    assert get(line, "/xlareport-live")[1] not in ("", first)
    assert get(line, "/nothing.html")[0] == 404


def test_nothing_outside_of_the_site_is_served(line: HTTPConnection, site: Path) -> None:
    site.mkdir()
    (site.parent / "secret.html").write_text("outside")
    for path in ("/../secret.html", "/%2e%2e/secret.html", "//../secret.html"):
        assert get(line, path)[0] == 404
    assert get(line, "/", Host="example.org:80")[0] == 403


def test_a_port_in_use_is_told(line: HTTPConnection, site: Path) -> None:
    with pytest.raises(PortInUseError, match=f"Port {line.port} is in use"):
        start_server(site, line.port)
