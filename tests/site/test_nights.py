"""The history of nights: appended to, never lost, read as far as it can be read."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from xlareport.analysis.trends import Night
from xlareport.runtime.errors import UnwritableFileError
from xlareport.site.nights import FILE, append_night, read_nights


def night(number: int) -> Night:
    figures = {"jit_f": {"flops": number, "temp_bytes": None}}
    return Night(
        f"2026-11-{number:02d}T00:00:00Z", "dump", f"../{number}/index.html", "jit_f", figures
    )


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        append_night(tmp_path / "history", night(number))

    assert read_nights(tmp_path / "history") == ((night(1), night(2), night(3)), ())


def test_of_a_long_history_the_last_nights_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2, 3):
        append_night(tmp_path, night(number))
    monkeypatch.setattr("xlareport.site.nights._MOST_BYTES", (tmp_path / FILE).stat().st_size - 1)
    parsed, problems = read_nights(tmp_path)

    assert parsed == (night(2), night(3))
    assert ["Only its last" in problem.message for problem in problems] == [True]


def test_a_first_night_has_none_before(tmp_path: Path) -> None:
    assert read_nights(tmp_path) == ((), ())


def test_only_the_last_are_kept(tmp_path: Path) -> None:
    for number in range(1, 6):
        append_night(tmp_path, night(number), keep=3)

    assert read_nights(tmp_path)[0] == (night(3), night(4), night(5))


def test_jobs_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: append_night(tmp_path, night(number)), range(1, 29)))
    nights, problems = read_nights(tmp_path)

    assert problems == ()
    assert {one.when for one in nights} == {night(number).when for number in range(1, 29)}


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b"null",
        b'{"when":"x"}',
        b"\xff\xfe",
        b'{"when":"x","dump":"d","report":"r","main":null,"figures":{"f":{"flops":"<b>"}}}',
        b'{"when":"x","dump":"d","report":"r","main":null,"figures":{"f":{"flops":1e999}}}',
        b'{"when":"x","dump":"d","report":"r","main":null,"figures":[1]}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_line_costs_itself(tmp_path: Path, line: bytes) -> None:
    append_night(tmp_path, night(1))
    with (tmp_path / FILE).open("ab") as file:
        file.write(line)
    append_night(tmp_path, night(2))
    nights, problems = read_nights(tmp_path)

    assert nights == (night(1), night(2))
    assert [problem.line for problem in problems] == [2]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(UnwritableFileError):
        append_night(tmp_path / "file", night(1))


def test_a_slug_that_is_no_name_of_a_page_is_forgotten(tmp_path: Path) -> None:
    slugs = {"f": "module_1.f", "g": "../../x", "h": "<b>", "i": ".x"}
    append_night(tmp_path, replace(night(1), slugs=slugs))

    assert read_nights(tmp_path)[0][0].slugs == {"f": "module_1.f"}
