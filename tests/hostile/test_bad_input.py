"""Input that is broken, hostile or no dump at all: a clear message, or a report of the rest."""

import errno
import io
import os
import select
import signal
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xlareport.compare import compare
from xlareport.dump import source
from xlareport.extract import extract_texts
from xlareport.records.report import ReportRecord
from xlareport.report import BuildOptions, build
from xlareport.runtime.errors import (
    InputInsideOutputError,
    OutputInsideInputError,
    UnreadableInputError,
    UnwritableOutputError,
    XlareportError,
)
from xlareport.runtime.limits import LIMITS, Limits
from xlareport.site.folder import Folder, FolderInUseError

GOOD = "HloModule x\n\nENTRY %e (a: f32[]) -> f32[] {\n  ROOT %a = f32[] parameter(0)\n}\n"
NAME = "module_0001.x.before_optimizations.txt"
POSIX = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX files")

Build = Callable[[Path], ReportRecord]


@pytest.fixture
def built(tmp_path: Path) -> Build:
    """Return a function that builds all but the HTML of a dump and returns its records."""

    def make(dump: Path) -> ReportRecord:
        return build(dump, BuildOptions(out=tmp_path / "out", html=False)).report

    return make


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Return a folder with one good module and room for bad ones."""
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / "module_0009.good.before_optimizations.txt").write_text(GOOD)
    return folder


def messages(report: ReportRecord) -> dict[str, str]:
    assert not [problem for problem in report.problems if "a fault of xlareport" in problem.message]
    return {problem.path: problem.message for problem in report.problems}


BROKEN = (
    b"",
    b"\n\n",
    b"\0" * 5000,
    bytes(range(256)) * 20,
    GOOD.encode("utf-16"),
    b"HloModule",
    b"HloModule x",
    GOOD.encode()[:50],
    b"HloModule x, a={" + b"{" * 50_000,
    b"HloModule x\n" + b"(" * 100_000,
    b"ENTRY %e () -> f32[] {\n  %a = " + b"(" * 50_000 + b"f32[]\n}\n",
    b"digraph G {" + b"subgraph {" * 5_000,
    b"\x1f\x8b" + b"\xff" * 100,
    b"\x0a\xff\xff\xff\xff\x7f" + b"x" * 10,
)
ENDINGS = (
    "before_optimizations.txt",
    "before_optimizations.hlo.pb",
    "before_optimizations.dot",
    "debug_options",
    "cpu_after_optimizations-buffer-assignment.txt",
    "cpu_after_optimizations-live-range.txt",
    "cpu_after_optimizations-memory-usage-report.txt",
)


def test_what_is_broken_costs_itself_alone(dump: Path, built: Build) -> None:
    for number, content in enumerate(BROKEN):
        for place, ending in enumerate(ENDINGS):
            (dump / f"module_{100 * place + number + 10:04d}.x.{ending}").write_bytes(content)
    report = built(dump)
    found = messages(report)
    assert {file.path for file in report.files} == {path.name for path in dump.iterdir()}
    snapshots = [path for path in dump.iterdir() if "before_optimizations" in path.name]
    assert {path.name for path in snapshots if "good" not in path.name} <= set(found)
    (good,) = (module for module in report.modules if module.id == 9)
    assert good.final.instructions == 1


@POSIX
def test_links_pipes_and_loops_are_listed_and_not_followed(
    dump: Path, built: Build, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text(GOOD)
    (dump / NAME).symlink_to(tmp_path / "secret")
    (dump / "loop").symlink_to("loop")
    (dump / "up").symlink_to("..")
    (dump / "gone").symlink_to("nothing")
    os.mkfifo(dump / "pipe")
    (dump / "module_0002.y.before_optimizations.txt").symlink_to(
        "module_0009.good.before_optimizations.txt"
    )
    report = built(dump)
    assert set(messages(report)) == {NAME, "loop", "up", "gone", "pipe"}
    assert {module.id for module in report.modules} == {2, 9}


def test_a_file_that_vanishes_is_listed(dump: Path, tmp_path: Path) -> None:
    (dump / NAME).write_text(GOOD)

    def vanish(_what: str, _done: int, _total: int) -> None:
        (dump / NAME).unlink(missing_ok=True)

    report = build(dump, BuildOptions(out=tmp_path / "out", html=False), vanish).report
    assert messages(report) == {NAME: "Not read: No such file or directory."}
    assert len(report.files) == 2


def test_a_file_too_large_to_be_held_is_listed(dump: Path, built: Build) -> None:
    with (dump / NAME).open("wb") as file:
        file.truncate(LIMITS.file_bytes + 1)
    report = built(dump)
    assert (
        "more than 2,000,000,000 bytes; allow more with --max-file-size" in (messages(report)[NAME])
    )
    assert len(report.files) == 2


def test_an_archive_cannot_write_outside_and_keeps_files_of_one_path(
    tmp_path: Path, built: Build
) -> None:
    path = tmp_path / "in" / "slip.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("../../evil.txt", "/evil.txt", "a\\..\\..\\evil.txt", NAME):
            archive.writestr(name, GOOD)
    report = built(path)
    assert {file.path for file in report.files} == {
        *("evil.txt", "(2)/evil.txt", "a/evil.txt", NAME)
    }
    assert "There are 2 files of this path." in messages(report)["evil.txt"]
    assert not list(tmp_path.parent.glob("evil*"))
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out"}


def test_links_and_devices_in_an_archive_are_listed(tmp_path: Path, built: Build) -> None:
    path = tmp_path / "in.tar"
    with tarfile.open(path, "w") as archive:
        for name, kind in (("a", tarfile.SYMTYPE), ("b", tarfile.LNKTYPE), ("c", tarfile.CHRTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        member = tarfile.TarInfo(NAME)
        member.size = len(GOOD)
        archive.addfile(member, io.BytesIO(GOOD.encode()))
    assert set(messages(built(path))) == {"a", "b", "c"}


def test_a_bomb_ends_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", b"\0" * 5_000_000)
    limits = Limits(files=10, total_bytes=1_000_000)
    with (
        pytest.raises(UnreadableInputError, match=r"unpacks to more.*--max-total-size"),
        source.open_source(path, limits),
    ):
        pass


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tar.gz", "x.tar.bz2", "x.tar.xz", "x.tzst"])
def test_what_is_no_archive_is_said(name: str, tmp_path: Path, built: Build) -> None:
    (tmp_path / name).write_bytes(b"\xfd7zXZ\0 this is no archive" * 50)
    with pytest.raises(UnreadableInputError, match="cannot be read as an archive"):
        built(tmp_path / name)


def test_the_dump_and_the_report_stay_apart(dump: Path) -> None:
    with pytest.raises(OutputInsideInputError):
        build(dump, BuildOptions(out=dump / "out", html=False))
    inside = dump.parent / "site_src" / "dump"
    inside.mkdir(parents=True)
    with pytest.raises(InputInsideOutputError):
        build(inside, BuildOptions(out=dump.parent, html=False))


def test_two_builds_do_not_meet_in_one_folder(dump: Path, tmp_path: Path) -> None:
    options = BuildOptions(out=tmp_path / "out", html=False)
    with Folder(options.out).locked(), pytest.raises(FolderInUseError):
        build(dump, options)
    assert build(dump, options).report.modules


def test_a_folder_that_cannot_be_written_is_said(dump: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UnwritableOutputError, match="cannot be written"):
        build(dump, BuildOptions(out=tmp_path / "file" / "out", html=False))


@pytest.mark.parametrize("name", ["x" * 300, "loop/dump", "nothing"])
def test_a_dump_that_is_not_there_is_said(name: str, tmp_path: Path, built: Build) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(XlareportError) as caught:
        built(tmp_path / name)
    assert caught.value.exit_code == 3


@POSIX
def test_an_interrupt_ends_with_130_and_few_words(dump: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "settings")
    code = (
        "import os, sys, time\n"
        "from xlareport import cli, report\n"
        "def wait(*_, **__):\n"
        f"    open({str(tmp_path / 'settings')!r}, 'w').close()\n"
        "    time.sleep(60)\n"
        "report.open_source = wait\n"
        f"sys.argv = ['xlareport', 'build', {str(dump)!r}, '--out', {str(tmp_path / 'out')!r}]\n"
        "cli.main()\n"
    )
    pipe = os.open(tmp_path / "settings", os.O_RDONLY | os.O_NONBLOCK)
    with (
        os.fdopen(pipe),
        subprocess.Popen(
            [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as running,
    ):
        assert select.select([pipe], [], [], 60)[0]  # the build has begun
        os.killpg(running.pid, signal.SIGINT)
        said = running.communicate()[1]
    assert running.returncode == 130
    assert said.strip() == "Interrupted; the previous output is unchanged."


def test_no_command_writes_into_its_dump(dump: Path, tmp_path: Path) -> None:
    options = BuildOptions(out=dump / "out", html=False)
    with pytest.raises(OutputInsideInputError):
        compare(tmp_path / "other", dump, options)
    with pytest.raises(OutputInsideInputError):
        extract_texts(dump, dump / "out")
    inside = tmp_path / "site_src" / "dump"
    inside.mkdir(parents=True)
    with pytest.raises(InputInsideOutputError):
        compare(inside, dump, BuildOptions(out=tmp_path, html=False))


@POSIX
def test_a_file_that_became_a_pipe_is_not_waited_for(dump: Path, tmp_path: Path) -> None:
    (dump / NAME).write_text(GOOD)

    def swap(_what: str, _done: int, _total: int) -> None:
        if (dump / NAME).is_file():
            (dump / NAME).unlink()
            os.mkfifo(dump / NAME)

    report = build(dump, BuildOptions(out=tmp_path / "out", html=False), swap).report
    assert messages(report) == {NAME: "Not read: it is not a regular file."}


def test_a_file_that_grows_is_read_as_it_was(dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dump / NAME
    path.write_text(GOOD)
    looked = os.fstat

    def growing(descriptor: int) -> os.stat_result:
        found = looked(descriptor)
        with path.open("a") as file:
            file.write("more")
        return found

    with source.open_source(dump) as opened:
        monkeypatch.setattr(source.os, "fstat", growing)
        (entry,) = (one for one in opened.entries if one.path == NAME)
        assert entry.read() == GOOD.encode()


def test_what_may_not_be_read_is_listed(dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests may run as root, who may read everything: the system's answer is made up."""
    (dump / NAME).write_text(GOOD)
    (dump / "locked").mkdir()
    opened, listed = os.open, os.scandir

    def forbidden(path: str, flags: int, **named: Any) -> int:
        if NAME in str(path):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, flags, **named)

    def unlisted(folder: Path) -> Any:
        if Path(folder).name == "locked":
            raise PermissionError(errno.EACCES, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(source.os, "scandir", unlisted)
    with source.open_source(dump) as found:
        assert [problem.message for problem in found.problems] == [
            "This folder cannot be listed: Permission denied."
        ]
        (entry,) = (one for one in found.entries if one.path == NAME)
        monkeypatch.setattr(source.os, "open", forbidden)
        assert entry.head() == b""
        with pytest.raises(OSError, match="denied"):
            entry.read()
        monkeypatch.undo()


def test_too_many_files_are_said(dump: Path, tmp_path: Path) -> None:
    for number in range(20):
        (dump / f"x{number:02d}").write_text("x")
    limits = Limits(files=10)
    with source.open_source(dump, limits) as found:
        assert len(found.entries) == 10
        assert "--max-files" in found.problems[0].message
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for number in range(20):
            archive.addfile(tarfile.TarInfo(f"{number}"))
    with source.open_source(tmp_path / "x.tar", limits) as found:
        assert len(found.entries) == 10
        assert "--max-files" in found.problems[0].message


def test_a_zip_that_lists_millions_is_not_taken_into_memory(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for number in range(200):
            archive.writestr(f"{number}", "")
    with (
        pytest.raises(UnreadableInputError, match="--max-files"),
        source.open_source(tmp_path / "x.zip", Limits(files=100)),
    ):
        pass
    with source.open_source(tmp_path / "x.zip", Limits(files=200)) as found:
        assert len(found.entries) == 200


def test_a_member_too_large_costs_itself_alone(tmp_path: Path) -> None:
    limits = Limits(file_bytes=1000)
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a", bytes(1001))
        archive.writestr("b", "b")
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        for name, size in (("a", 1001), ("b", 1)):
            member = tarfile.TarInfo(name)
            member.size = size
            tar.addfile(member, io.BytesIO(bytes(size)))
    for name in ("x.zip", "x.tar"):
        with source.open_source(tmp_path / name, limits) as found:
            assert [entry.path for entry in found.entries] == ["b"]
            assert "--max-file-size" in found.problems[0].message


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_header_of_absurd_length_is_refused(tmp_path: Path, kind: bytes) -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, 1 << 33
    (tmp_path / "x.tar").write_bytes(header.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 16))
    with (
        pytest.raises(UnreadableInputError, match="a header of"),
        source.open_source(tmp_path / "x.tar"),
    ):
        pass


def test_a_full_disk_leaves_the_former_report_whole(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    build(dump, BuildOptions(out=out))
    former = {path: path.read_bytes() for path in (out / "site").rglob("*") if path.is_file()}
    (dump / NAME).write_text(GOOD)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for place in ("write_bytes", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(Path, place, full)
            with pytest.raises(UnwritableOutputError, match="No space left"):
                build(dump, BuildOptions(out=out))
    assert {
        path: path.read_bytes() for path in (out / "site").rglob("*") if path.is_file()
    } == former
    assert not (out / ".xlareport").exists()


@POSIX
def test_the_end_that_a_system_asks_for_removes_copies(dump: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "told")
    code = (
        "import sys, time\n"
        "from xlareport import cli, report\n"
        "def wait(*_, **__):\n"
        f"    open({str(tmp_path / 'told')!r}, 'w').close()\n"
        "    time.sleep(60)\n"
        "report.analyze = wait\n"
        f"sys.argv = ['xlareport', 'build', {str(dump)!r}, '--out', {str(tmp_path / 'out')!r}]\n"
        "cli.main()\n"
    )
    spool = tmp_path / "spool"
    spool.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(spool)},
    ) as running:
        (tmp_path / "told").read_text()
        assert _copies(spool)
        running.terminate()
        said = running.communicate()[1]
    assert running.returncode == 143
    assert said.strip() == "Terminated; the previous output is unchanged."
    assert _copies(spool) == []


def _copies(spool: Path) -> list[Path]:
    """Return what a build put into the temporary folder, without what is kept for all builds."""
    found = spool.glob("xlareport-*")
    return [path for path in found if not path.name.startswith("xlareport-kept-")]
