"""Errors are whole sentences and say what to do."""

from pathlib import Path

import pytest

from xlareport.runtime.errors import (
    InputInsideOutputError,
    OutputInsideInputError,
    Problem,
    UnknownNameError,
    UnreadableInputError,
    UnwritableFileError,
    UnwritableOutputError,
    XlareportError,
    refuse_contents,
    writing,
)


@pytest.mark.parametrize(
    ("line", "column", "text"),
    [(None, None, "a.txt: bad"), (3, None, "a.txt:3: bad"), (3, 4, "a.txt:3:4: bad")],
)
def test_a_problem_names_the_place_that_is_known(
    line: int | None, column: int | None, text: str
) -> None:
    assert str(Problem("a.txt", line, "bad", column)) == text


def test_names_near_an_unknown_one_are_shown_and_counted() -> None:
    assert str(UnknownNameError("no x", [])) == "no x."
    text = str(UnknownNameError("no x", ["y\x1b", *(f"z{n}" for n in range(9))]))
    assert text.startswith("no x; it could be:\n  'y\\x1b'\n  z0\n")
    assert text.endswith("\n  and 2 more")


def test_what_cannot_be_written_says_where_and_why() -> None:
    error = OSError(28, "No space left on device", "/out/a")
    assert str(UnwritableFileError(Path("f"), error)) == (
        "/out/a cannot be written: No space left on device."
    )
    assert "(/out/a). The former report is unchanged." in str(
        UnwritableOutputError(Path("/out"), error)
    )
    for wordless, reason in ((TimeoutError(), "TimeoutError"), (OSError("gone"), "gone")):
        assert str(UnwritableFileError(Path("f"), wordless)) == f"f cannot be written: {reason}."


def test_a_refused_write_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(UnwritableFileError, match="f cannot be written: gone"), writing(Path("f")):
        raise OSError("gone")
    refuse_contents(tmp_path)
    refuse_contents(tmp_path / "missing")
    (tmp_path / "a").touch()
    with pytest.raises(UnwritableFileError, match="it is not empty"):
        refuse_contents(tmp_path)


@pytest.mark.parametrize("kind", [InputInsideOutputError, OutputInsideInputError])
def test_folders_in_one_another_name_the_option(kind: type[XlareportError]) -> None:
    assert "--out" in str(kind(Path("dump"), Path("place")))


def test_an_input_that_cannot_be_read_has_an_exit_code_of_its_own() -> None:
    assert (XlareportError.exit_code, UnreadableInputError.exit_code) == (2, 3)
