"""Dumps in buckets, through the real libraries against servers of this machine.

Needs `pip install 'fsspec[s3,gcs]' 'moto[server]'`; without them the tests are skipped.
"""

import json
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from xlareport.dump.source import open_source
from xlareport.runtime.errors import UnreadableInputError
from xlareport.runtime.limits import Limits

FILES = {
    "dump/module_0001.x.before_optimizations.txt": b"HloModule x\n",
    "dump/deeper/a.txt": b"a",
    "dump/large.txt": bytes(2_000),
}


class Bucket(BaseHTTPRequestHandler):
    """Answers what gcsfs asks of a bucket that is called `dumps`."""

    files: Mapping[str, bytes] = FILES

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        name = unquote(address.path.rpartition("/o/")[2])
        asked = parse_qs(address.query)
        if address.path.endswith("/o"):
            self._send(self._listed(asked.get("prefix", [""])[0], asked.get("delimiter", [""])[0]))
        elif name not in self.files:
            self.send_error(404)
        elif "alt" in asked or address.path.startswith("/download"):
            self._send(self.files[name])
        else:
            self._send(json.dumps(self._told(name)).encode())

    def _listed(self, prefix: str, delimiter: str) -> bytes:
        names = [file for file in self.files if file.startswith(prefix)]
        rests = {name: name.removeprefix(prefix).partition(delimiter or "\0") for name in names}
        folders = {prefix + rest[0] + rest[1] for rest in rests.values() if rest[1]}
        items = [self._told(one) for one, rest in rests.items() if not rest[1]]
        return json.dumps({"items": items, "prefixes": sorted(folders)}).encode()

    def _told(self, name: str) -> Mapping[str, str]:
        size = str(len(self.files[name]))
        return {"name": name, "bucket": "dumps", "size": size, "updated": "2026-01-01T00:00:00Z"}

    def _send(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def gs(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the address of a folder in a bucket of Google's kind."""
    pytest.importorskip("gcsfs")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
    thread = Thread(target=server.serve_forever)
    thread.start()
    host = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", host)
    yield "gs://dumps/dump"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the address of a folder in a bucket of Amazon's kind."""
    pytest.importorskip("s3fs")
    moto = pytest.importorskip("moto.server")
    import boto3

    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (
        ("AWS_ENDPOINT_URL", f"http://{host}:{port}"),
        ("AWS_ACCESS_KEY_ID", "x"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    client = boto3.client("s3")
    client.create_bucket(Bucket="dumps")
    for name, content in FILES.items():
        client.put_object(Bucket="dumps", Key=name, Body=content)
    yield "s3://dumps/dump"
    server.stop()


@pytest.mark.parametrize("kind", ["gs", "s3"])
@pytest.mark.filterwarnings("default")  # those libraries' own
def test_a_folder_of_a_bucket(kind: str, request: pytest.FixtureRequest) -> None:
    address = request.getfixturevalue(kind)
    with open_source(address, Limits(file_bytes=1_000)) as found:
        read = {entry.path: entry.read() for entry in found.entries}
        assert [problem.path for problem in found.problems] == ["large.txt"]
        assert "--max-file-size" in found.problems[0].message
    assert read == {
        "module_0001.x.before_optimizations.txt": b"HloModule x\n",
        "deeper/a.txt": b"a",
    }
    with pytest.raises(UnreadableInputError), open_source(f"{address}/nothing"):
        pass
