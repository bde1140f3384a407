"""Public dumps are fetched from the commit that the table names, here from own repositories."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import fetch_public

KEPT = "module_0001.jit_f.before_optimizations.txt"


def commit(folder: Path) -> str:
    options = ("-c", "user.name=n", "-c", "user.email=n@example.com")
    for arguments in (("init", "-q"), ("add", "."), (*options, "commit", "-qm", "dump")):
        subprocess.run(["git", "-C", folder, *arguments], check=True)
    head = ["git", "-C", folder, "rev-parse", "HEAD"]
    return subprocess.run(head, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of two dumps, of which one was a folder and one a zip."""
    origin = tmp_path / "origin"
    (origin / "runs/xla dump").mkdir(parents=True)
    for name in (KEPT, "module_0001.jit_f.0001.simplification.txt", "notes.md"):
        (origin / "runs/xla dump" / name).write_text("HloModule f")
    with zipfile.ZipFile(origin / "p.zip", "w") as archive:
        archive.writestr(f"dump/{KEPT}", "HloModule g")
        archive.writestr("dump/other.txt", "")
    told = commit(origin)
    table = [
        ["plain", "jit_f", "example.com/o/r:runs/xla dump", told, "held", "why"],
        ["packed", "jit_f", "example.com/o/r:p.zip", told, "held", "why"],
    ]
    monkeypatch.setattr(fetch_public, "rows", lambda _: table)
    into = tmp_path / "public"
    clone = into / "clones" / "example.com+o+r"
    subprocess.run(["git", "clone", "-q", "--bare", origin, clone], check=True)
    fetch_public.main(into)
    return into


def test_only_files_that_the_ranking_reads_are_kept(fetched: Path) -> None:
    assert [path.name for path in (fetched / "plain/plain").iterdir()] == [KEPT]
    assert (fetched / "packed/packed" / KEPT).read_text() == "HloModule g"


def test_what_is_there_is_left_alone(fetched: Path) -> None:
    kept = fetched / "plain/plain" / KEPT
    kept.write_text("mine")
    fetch_public.main(fetched)
    assert kept.read_text() == "mine"
