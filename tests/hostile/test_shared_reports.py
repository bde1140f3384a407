"""Reports of strangers as input: bombs, paths that lead out, damaged payloads, absurd numbers."""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from xlareport.cli.extract import command
from xlareport.dump.source import open_source
from xlareport.extract import extract_texts
from xlareport.storage import texts
from xlareport.storage.payloads import compress_json, make_payload_file, read_payload

KEY = "m/x/texts"
GOOD = {"texts": [["a.txt", 3, None, 0, [0, 1]]], "chunks": [0]}
CHUNK = {"lines": [["abc"], [0], []], "blocks": [[0, 1]]}

MakeSite = Callable[..., Path]


@pytest.fixture
def made_site(tmp_path: Path) -> MakeSite:
    """Return a function that writes a site of one module from its index and its one chunk."""

    def make(index: Any, chunk: Any = CHUNK) -> Path:
        site = tmp_path / "site"
        folder = site / "assets/data/m/x"
        folder.mkdir(parents=True)
        (site / "report.json").write_text("{}")
        for name, value in ((KEY, index), (f"{KEY}-0", chunk)):
            script = value if isinstance(value, str) else make_payload_file(name, value)[1]
            (site / f"assets/data/{name}.js").write_text(script)
        return site

    return make


def told(site: Path) -> list[str]:
    with open_source(site) as source:
        return [problem.message for problem in source.problems]


def gzipped(content: bytes) -> str:
    return f'xlareport.deliver("{KEY}", "{compress_json(content)}", "gzip");\n'


def test_a_good_one_is_read(made_site: MakeSite, tmp_path: Path) -> None:
    assert extract_texts(made_site(GOOD), tmp_path / "out") == (1, ())
    assert (tmp_path / "out/a.txt").read_text() == "abc"


DAMAGED: dict[str, Any] = {
    "bomb": lambda: gzipped(b" " * (513 << 20)),  # seconds of work, not before its test
    "values": lambda: gzipped(b"[" + b"0," * 50_000_001 + b"0]"),
    "nested": gzipped(b"[" * 100_000),
    "nested in the open": f"xlareport.deliver(\"{KEY}\", '{'[' * 100_000}');\n",
    "cut off": gzipped(json.dumps(GOOD).encode() * 100).replace('", "gzip', 'AAAA", "gzip'),
    "no deflate": f'xlareport.deliver("{KEY}", "H4sIAAAAAAAA/////////w==", "gzip");\n',
    "too many chunks": {"texts": [], "chunks": 10**18},
    "chunks that are not there": {"texts": [], "chunks": [0, 1]},
    "fractions": {"texts": [["a", 3, None, 0, [0, 0.5]]], "chunks": [0]},
    "a moment too large": '{"texts": [["a", 3, 1' + "0" * 400 + ', 0, [0, 1]]], "chunks": [0]}',
    "wrong size": {"texts": [["a", 1 << 62, None, 0, [0, 1]]], "chunks": [0]},
    "negative": {"texts": [["a", 3, None, 0, [1, -5, 3]]], "chunks": [0]},
    "huge": {"texts": [["a", 3, None, 0, [0, 10**300]]], "chunks": [0]},
    "no list": {"texts": 5, "chunks": [0]},
    "a list": [GOOD],
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_damaged_is_told(made_site: MakeSite, name: str) -> None:
    index = DAMAGED[name]() if callable(DAMAGED[name]) else DAMAGED[name]
    if isinstance(index, str) and index.startswith("{"):
        index = gzipped(index.encode())
    (message,) = told(made_site(index))
    assert message.startswith("Not restored: this file of the report is damaged")


def _twice(age: int, count: int) -> list[int]:
    """Return a block of two copies of the same lines."""
    return [age, 0, count, age, -count, count]


CHUNKS = {
    "copies of copies": {
        "lines": [["x"], [0], []],
        "blocks": [[0, 1], *(_twice(number + 1, 1 << number) for number in range(40))],
    },
    "of itself": {"lines": [["x"], [0], []], "blocks": [[0, 1, 1, 0, 10**12]]},
    "without lines": {"lines": [[], [], []], "blocks": [[], []]},
    "half a run": {"lines": [["x"], [0], []], "blocks": [[0]]},
    "of later blocks": {"lines": [["x"], [0], []], "blocks": [[-1, 0, 1]]},
    "lines without end": {"lines": [["x" * 1_000_000], [0] * 1_100, []], "blocks": [[0, 1_100]]},
    "no lines": {"lines": ["x"], "blocks": [[0, 1]]},
    "surrogates": {"lines": [["\ud800"], [0], []], "blocks": [[0, 1]]},
}


@pytest.mark.parametrize("name", CHUNKS)
def test_impossible_blocks_are_told(made_site: MakeSite, name: str) -> None:
    (message,) = told(made_site(GOOD, CHUNKS[name]))
    assert message.startswith("Not restored: this file of the report is damaged")


def test_copies_of_texts_are_bounded(made_site: MakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "_MOST_BLOCKS", 1_000)
    listed = [["0", 3, None, 0, [0, 1]]]
    for number in range(12):
        size = 5 * (2 << number) - 2
        listed.append([str(number + 1), size, None, 0, [1, 0, 1 << number] * 2])
    (message,) = told(made_site({"texts": listed, "chunks": [0]}))
    assert "impossible number of blocks" in message


PATHS = (
    "../../xss-path",
    "/xss-path",
    "C:\\xss-path",
    "a\0b",
    "n" * 300,
    "d/e",
    "d",
    ".",
    "\x1b[2J",
)


def test_nothing_is_written_outside(made_site: MakeSite, tmp_path: Path) -> None:
    listed = [
        [path, 3, None, 0, [1, 0, 1] if place else [0, 1]] for place, path in enumerate(PATHS)
    ]
    out = tmp_path / "deep/er/out"
    done = CliRunner().invoke(
        command, [str(made_site({"texts": listed, "chunks": [0]})), "--out", str(out)]
    )

    assert done.exit_code == 0, done.exception
    assert {path.parent for path in tmp_path.rglob("*xss-path*")} == {
        *(out, out / "C:", out / "(2)")
    }
    assert (out / "d.whole").is_file()
    assert (out / "d/e").is_file()
    assert "Not written" in done.stderr
    assert "\x1b" not in done.output
    assert len([path for path in out.rglob("*") if path.is_file()]) == len(PATHS) - 2


def test_moments_that_no_clock_gives_are_not_believed(tmp_path: Path) -> None:
    target = tmp_path / "dump.tar"
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as archive:
        for name, moment in (("a", "inf"), ("b", "nan"), ("c", "-5"), ("d", "1e300"), ("e", "7")):
            member = tarfile.TarInfo(name)
            member.pax_headers = {"mtime": moment}
            archive.addfile(member, io.BytesIO())
    with open_source(target) as source:
        assert [entry.modified for entry in source.entries] == [None, None, None, None, 7]


def test_a_payload_of_another_kind_is_no_payload() -> None:
    for script in ("", "x", "alert(1)", f'xlareport.deliver("{KEY}", 5);\n'):
        with pytest.raises(ValueError, match="payload"):
            read_payload(script)
