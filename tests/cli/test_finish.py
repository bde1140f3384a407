"""`xlareport finish`: its message and its exit codes."""

from pathlib import Path

from click.testing import CliRunner

from xlareport.cli.finish import command

PAGE = '<head><meta charset="utf-8"><script src="assets/xlareport.js"></script></head><main></main>'


def test_it_says_how_many_pages_there_are(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(PAGE)
    result = CliRunner().invoke(command, [str(tmp_path)])

    assert (result.exit_code, result.stdout) == (0, f"{tmp_path}: 1 page finished.\n")
    assert "Content-Security-Policy" in (tmp_path / "index.html").read_text()


def test_a_folder_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    assert CliRunner().invoke(command, [str(tmp_path / "none")]).exit_code == 2
