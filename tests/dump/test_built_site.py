"""A report in one file, read as a source: only what is one, and nothing of it is believed."""

from pathlib import Path
from typing import Any

import pytest

from xlareport.dump.built_site import SINGLE_FILE_MARK, is_single_file, single_file_members
from xlareport.dump.spool import Limits, Spool
from xlareport.storage.payloads import embed_payload, make_payload_file

BLOCK = '<script type="application/json" id="{}">{}</script>\n'


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    folder = tmp_path / "spool"
    folder.mkdir()
    return Spool(folder, Limits())


def test_it_is_known_by_its_mark_and_not_by_its_name(tmp_path: Path) -> None:
    report, graph, text = (tmp_path / name for name in ("a.html", "graph.html", "a.txt"))
    report.write_text(f"<html>{SINGLE_FILE_MARK}")
    graph.write_text("<html><svg></svg>" + " " * 5000 + SINGLE_FILE_MARK)
    text.write_text(SINGLE_FILE_MARK)

    known = [is_single_file(one, one.name) for one in (report, graph, text)]
    assert known == [True, False, False]


def test_its_data_comes_back_as_files(tmp_path: Path, spool: Spool) -> None:
    _, script = make_payload_file("m/x/texts", ["a", "</script>"] * 2000)
    file = tmp_path / "bug.html"
    file.write_text(BLOCK.format("assets/data/m/x/texts.js", embed_payload(script)))
    ((path, place, modified),) = single_file_members(file, "bug.html", spool, [])

    assert (path, place.read_text(), modified) == ("assets/data/m/x/texts.js", script, None)


@pytest.mark.parametrize(
    "data", ["", "[", "{}", '["k", 1, null]', '["../k", "1", null]', "[" * 9000]
)
def test_damaged_data_is_a_problem(tmp_path: Path, spool: Spool, data: str) -> None:
    file = tmp_path / "bug.html"
    file.write_text(BLOCK.format("../../x.js", data))
    problems: list[Any] = []

    assert list(single_file_members(file, "bug.html", spool, problems)) == []
    assert [problem.path for problem in problems] == ["bug.html"]
