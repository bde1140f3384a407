"""`xlareport skeleton`: text that fits a screen, JSON, a trace."""

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner
from tests.analysis.skeleton.program import parsed, text

from xlareport.cli.skeleton import command


def run(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_text_fits_a_screen(tmp_path: Path) -> None:
    parsed(tmp_path, text(layers=40))
    folded, full = run(str(tmp_path)), run(str(tmp_path), "--full")
    assert "repeated 40 times" in folded
    assert "Times are estimates" in folded
    assert len(folded.splitlines()) <= 50 < len(full.splitlines())
    assert "mlp.39: fusion f32[1024,1024]" in full


def test_json_holds_every_item(tmp_path: Path) -> None:
    parsed(tmp_path, text(layers=2))
    value = json.loads(run(str(tmp_path), "--json", "--module", "jit_step"))
    assert value["times"] == "estimates"
    assert [item["name"] for item in value["items"]][:2] == ["attention.0", "mlp.0"]
    loop = next(item for item in value["items"] if item["kind"] == "loop")
    assert loop["trip_count"] == 5
    assert loop["children"][-1]["name"] == "inner"


def test_a_trace_is_written(tmp_path: Path) -> None:
    (tmp_path / "dump").mkdir()
    parsed(tmp_path / "dump", text())
    place = tmp_path / "trace.json"
    assert str(place) in run(str(tmp_path / "dump"), "--trace", str(place))
    assert json.loads(place.read_text())["traceEvents"]


def test_the_main_program_is_shown_where_none_is_named(unpacked: Callable[[str], Path]) -> None:
    shown = run(str(unpacked("gpu-h100x2-train")))
    assert "all-reduce" in shown
    assert len(shown.splitlines()) <= 50


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "dump").mkdir()
    parsed(tmp_path / "dump", text())
    place = tmp_path / "no" / "such" / "trace.json"
    result = CliRunner().invoke(command, [str(tmp_path / "dump"), "--trace", str(place)])
    assert result.exit_code != 0
