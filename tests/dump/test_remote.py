"""Dumps at URLs: fsspec's memory, and a web server of our own on this machine."""

import errno
import gzip
import http.server
import importlib.util
import io
import socket
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from queue import Empty
from typing import Any

import pytest

from xlareport.dump import remote
from xlareport.dump.modules import files_here
from xlareport.dump.source import Source, local_path, open_source
from xlareport.runtime.errors import UnreadableInputError
from xlareport.runtime.limits import Limits

fsspec = pytest.importorskip("fsspec", reason="fsspec is an extra")

NAME = "module_0000.jit_f.before_optimizations.txt"
FILES = {NAME: b"HloModule jit_f\n", "module_0000.jit_f/module.mlir": b"module {}\n", "a b": b"c"}


def contents(source: Source) -> dict[str, bytes]:
    return {entry.path: entry.read() for entry in source.entries}


@pytest.fixture
def memory() -> Iterator[Any]:
    """Return fsspec's file system in memory, with a dump in it."""
    system = fsspec.filesystem("memory")
    for name, content in FILES.items():
        system.pipe(f"/dump/{name}", content)
    yield system
    system.rm("/", recursive=True)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Return the address of a web server on this machine, and the folder that it serves."""
    pytest.importorskip("aiohttp", reason="of the extra url")
    folder = tmp_path / "served"
    for name, content in FILES.items():
        path = folder / "dump" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    handler = partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", folder
        running.shutdown()


@pytest.mark.usefixtures("memory")
def test_a_folder_of_another_machine_is_a_dump() -> None:
    with open_source("memory://dump") as source:
        assert contents(source) == FILES
        assert source.name == "memory://dump"
        places = [entry.location for entry in source.entries]
    assert not [place for place in places if place.exists()]


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(("protocol", "time"), [("sftp", 5.0), ("memory", None)])
def test_times_of_uploads_are_not_times_of_files(
    protocol: str, time: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Object stores tell when a file came to them; XLA wrote it before."""
    system = type(fsspec.filesystem("memory"))
    listed = system.ls

    def ls(*args: Any, **options: Any) -> list[Any]:
        return [child | {"mtime": 5.0} for child in listed(*args, **options)]

    monkeypatch.setattr(system, "ls", ls)
    monkeypatch.setattr(system, "protocol", protocol)
    with open_source("memory://dump/") as source:
        assert {entry.modified for entry in source.entries} == {time}


def test_an_archive_of_another_machine_is_opened(memory: Any) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
    memory.pipe("/dump.zip", packed.getvalue())
    with open_source("memory://dump.zip") as source:
        assert contents(source) == FILES


@pytest.mark.usefixtures("memory")
def test_one_file_of_another_machine_is_a_dump() -> None:
    with open_source(f"memory://dump/{NAME}") as source:
        assert contents(source) == {NAME: FILES[NAME]}


@pytest.mark.usefixtures("memory")
def test_what_is_not_there_is_said() -> None:
    with pytest.raises(UnreadableInputError, match="memory://nothing cannot be read"):
        open_source("memory://nothing").__enter__()


@pytest.mark.usefixtures("memory")
def test_what_cannot_be_fetched_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    opened = MemoryFileSystem.open

    def failing(self: Any, path: str, *arguments: Any, **named: Any) -> Any:
        if path.endswith("a b"):
            raise OSError("the line is down, https://x/y?key=secret")
        return opened(self, path, *arguments, **named)

    monkeypatch.setattr(MemoryFileSystem, "open", failing)
    with open_source("memory://dump") as source:
        assert set(contents(source)) == {*FILES} - {"a b"}
        (problem,) = source.problems
    assert (problem.path, problem.message) == (
        "a b",
        "Not fetched: the line is down, https://x/y.",
    )


@pytest.mark.usefixtures("memory")
def test_limits_hold_for_other_machines() -> None:
    with open_source("memory://dump", Limits(file_bytes=12)) as source:
        assert set(contents(source)) == {*FILES} - {NAME}
        assert "--max-file-size" in source.problems[0].message
    with pytest.raises(UnreadableInputError, match="--max-total-size"):
        open_source("memory://dump", Limits(total_bytes=0)).__enter__()
    with pytest.raises(UnreadableInputError, match="--max-files"):
        open_source("memory://dump", Limits(files=2)).__enter__()


def test_a_folder_on_the_web_is_a_dump(server: tuple[str, Path]) -> None:
    address, _ = server
    with open_source(f"{address}/dump/") as source:
        assert contents(source) == FILES
        assert source.problems == ()


def test_a_file_on_the_web_is_a_dump(server: tuple[str, Path]) -> None:
    address, folder = server
    (folder / "x.log").write_bytes(b"*** Begin a.txt ***\nx\n\n*** End a.txt ***\n")
    with open_source(f"{address}/x.log?key=secret") as source:
        assert set(contents(source)) == {"x.log", "x.log/a.txt"}
        assert "secret" not in source.name


def test_a_web_page_in_place_of_a_file_is_said(server: tuple[str, Path]) -> None:
    address, folder = server
    (folder / "login").write_bytes(b"<!DOCTYPE html><title>Who are you?</title>")
    with open_source(f"{address}/login") as source:
        assert "A web page came" in source.problems[0].message


def test_a_server_cannot_lead_elsewhere(server: tuple[str, Path]) -> None:
    address, folder = server
    (folder / "secret.txt").write_bytes(b"secret")
    links = ("../secret.txt", "/secret.txt", "%2e%2e/secret.txt", "x/../../secret.txt", "a%20b")
    page = "".join(f'<a href="{one}">x</a>' for one in (*links, "http://127.0.0.2:1/x", "?C=N"))
    (folder / "dump/index.html").write_text(page)
    with open_source(f"{address}/dump/") as source:
        found = contents(source)
    assert b"secret" not in found.values()
    assert not [path for path in found if ".." in path]
    assert found["a b"] == b"c"


def test_what_a_server_packs_is_a_bomb_no_more(server: tuple[str, Path]) -> None:
    address, folder = server
    (folder / "bomb.tar.gz").write_bytes(gzip.compress(bytes(20_000_000)))
    with pytest.raises(UnreadableInputError):
        open_source(f"{address}/bomb.tar.gz", Limits(total_bytes=1_000_000)).__enter__()


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    for url, extra in (("gs://b/x", "gcs"), ("s3://b/x", "s3"), ("https://h/x", "url")):
        with pytest.raises(UnreadableInputError, match=rf"pip install 'xlareport\[{extra}\]'"):
            open_source(url).__enter__()


def test_a_file_system_that_is_not_installed_is_named() -> None:
    if importlib.util.find_spec("gcsfs"):
        pytest.skip("it is installed here")
    with pytest.raises(UnreadableInputError, match=r"xlareport\[gcs\]"):
        open_source("gs://bucket/x").__enter__()


def test_an_address_is_shown_without_keys() -> None:
    url = "https://user:pass@host:8/a/b.zip?X-Signature=abc#x"
    assert remote.shown(url) == "https://host:8/a/b.zip"


def test_paths_and_addresses_are_told_apart(tmp_path: Path) -> None:
    for path in ("x", "/x", "a:b", "C:\\x", "C://x", "x/a://b"):
        assert not remote.is_url(path), path
    assert local_path("-") is None
    assert local_path("gs://b/x") is None
    assert local_path((tmp_path / "a b").as_uri()) == tmp_path / "a b"


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing of this environment stand between a store and who asks it."""
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "STORAGE_EMULATOR_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(fsspec, "get_filesystem_class", lambda _scheme: object)


@pytest.mark.usefixtures("no_proxy")
def test_a_store_that_cannot_be_reached_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def unreachable(place: tuple[str, int], timeout: float) -> None:
        asked.append((place, timeout))
        raise OSError("no route")

    monkeypatch.setattr(socket, "create_connection", unreachable)
    with pytest.raises(UnreadableInputError, match=r"googleapis\.com cannot be reached.*no route"):
        open_source("gs://bucket/dump").__enter__()
    assert asked == [(("storage.googleapis.com", 443), 5.0)]


@pytest.mark.usefixtures("memory")
def test_files_of_a_folder_stay_there_until_they_are_read() -> None:
    with open_source("memory://dump", in_place=True) as source:
        assert contents(source) == FILES
        assert all(entry.stored is not None for entry in source.entries)
        assert [entry.head() for entry in source.entries] == [
            entry.read() for entry in source.entries
        ]
        assert all(entry.open().read() == FILES[entry.path] for entry in source.entries)
        with files_here(source.entries) as here:
            assert {path: one.location.read_bytes() for path, one in here.items()} == FILES
            assert all(one.stored is None for one in here.values())


@pytest.mark.parametrize("place", ["pathlib.Path.write_bytes", "tempfile.mkdtemp"])
@pytest.mark.usefixtures("memory")
def test_a_full_disk_leaves_files_where_they_are(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with (
        open_source("memory://dump", in_place=True) as source,
        monkeypatch.context() as patch,
    ):
        patch.setattr(place, full)
        with files_here(source.entries) as here:
            assert {path: one.read() for path, one in here.items()} == FILES


def test_a_file_that_went_is_an_error_of_its_own(memory: Any) -> None:
    with open_source("memory://dump", Limits(file_bytes=14), in_place=True) as source:
        by_path = {entry.path: entry for entry in source.entries}
        memory.rm("/dump/a b")
        with pytest.raises(OSError, match="a b"):
            by_path["a b"].read()
        assert by_path["a b"].head() == b""
        with pytest.raises(OSError, match="--max-file-size"):
            by_path[NAME].read()


def test_an_archive_is_fetched_though_files_may_stay(memory: Any) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
    memory.pipe("/dump.zip", packed.getvalue())
    with open_source("memory://dump.zip", in_place=True) as source:
        assert contents(source) == FILES


@pytest.mark.usefixtures("no_proxy")
def test_a_store_that_never_answers_is_left_after_ten_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of its addresses may be silent for seconds, and so may what looks up its name."""
    limits: list[float] = []

    class Unanswered:
        def put(self, _answer: object) -> None: ...

        def get(self, timeout: float) -> None:
            limits.append(timeout)
            raise Empty

    monkeypatch.setattr(remote, "SimpleQueue", Unanswered)
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: socket.socket())
    with pytest.raises(UnreadableInputError, match=r"googleapis\.com cannot .*no answer in 10 s"):
        open_source("gs://bucket/dump").__enter__()
    assert limits == [10.0]
