"""Histories that a report keeps are those that its texts give."""

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from tests.fixtures.dumps import Unpack

from xlareport.cli.history import command
from xlareport.report import BuildOptions, build
from xlareport.runtime.errors import UnknownNameError
from xlareport.site import stored_history
from xlareport.site.stored_history import SeveralOps, find_stored_history, main_of_report

MODULE = "jit_train_step"


@pytest.fixture(scope="module")
def dump(unpacked: Unpack) -> Path:
    return unpacked("jax-cpu-train")


@pytest.fixture(scope="module")
def report(dump: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site as a build leaves it, as far as histories go."""
    out = tmp_path_factory.mktemp("stored")
    build(dump, BuildOptions(out=out, html=False))
    (out / "site_src").rename(out / "site")
    return out


def told(place: Path, *asked: str) -> str:
    result = CliRunner().invoke(command, [str(place), "--jobs", "1", "--module", MODULE, *asked])
    assert result.exception is None, result.exception
    return result.stdout


def test_the_answers_of_a_report_are_those_of_the_dump(report: Path, dump: Path) -> None:
    asked = ("ynn_fusion.2", "%ynn_fusion", "hidden/max", "jit(train_step)/jvp(loss)/hidden/max")
    for name in asked:
        kept, worked_out = told(report, name), told(dump, name)
        assert kept.splitlines()[0] == worked_out.splitlines()[0]
        parts = [re.split(r"\n(?=It comes|Maps to)", each) for each in (kept, worked_out)]
        assert parts[0][-1] == parts[1][-1]  # what does its work now
        assert set(events(kept)) <= set(events(worked_out))
        assert "It comes from" in kept


def events(account: str) -> list[str]:
    """Return place and event of each line that tells one."""
    return re.findall(
        r"^  (\S+/%\S+ (?:added|created|fused|changed|renamed|moved))\b", account, re.MULTILINE
    )


def test_a_zip_answers_like_the_folder(report: Path, tmp_path: Path) -> None:
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", report, "site")
    assert told(Path(packed), "ynn_fusion.2") == told(report, "ynn_fusion.2")


def test_no_text_is_read_for_it(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (report / "site").rglob("texts*.js"):
        assert path.is_file()
    monkeypatch.setattr("xlareport.report.read_one_module", None)
    assert "Maps to" in told(report, "ynn_fusion.2")


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_name_of_several_ops_is_told_without_the_texts(
    report: Path, dump: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    def refusal(place: Path) -> UnknownNameError:
        asked = [str(place), "--jobs", "1", "--module", MODULE, "dot_general", *options]
        error = CliRunner().invoke(command, asked).exception
        assert isinstance(error, UnknownNameError)
        return error

    worked_out = refusal(dump)
    monkeypatch.setattr("xlareport.report.read_one_module", None)
    kept = refusal(report)
    assert "'dot_general' is the end of " in str(kept)
    assert (str(kept), kept.exit_code) == (str(worked_out), worked_out.exit_code)


def test_the_main_program_of_a_report_is_not_sought_again(
    report: Path, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main_of_report(report) == "module_0002.jit_train_step"
    assert main_of_report(dump) is None
    monkeypatch.setattr("xlareport.report._main_program", None)
    asked = [str(report), "--jobs", "1", "ynn_fusion.2", "--json"]
    assert '"stage"' in CliRunner().invoke(command, asked, catch_exceptions=False).stdout


def test_a_name_that_may_be_one_of_an_instruction_is_left_to_the_texts(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = stored_history.read_index
    monkeypatch.setattr(
        stored_history, "read_index", lambda value: replace(read(value), complete=False)
    )
    assert find_stored_history(report, MODULE, "dot_general") is None
    assert isinstance(find_stored_history(report, MODULE, "hidden/dot_general"), SeveralOps)


@pytest.mark.parametrize("asked", ["nothing.9", "nothing/dot_general", "a/%b"])
def test_what_is_not_kept_is_left_to_the_texts(report: Path, asked: str) -> None:
    assert find_stored_history(report, MODULE, asked) is None
    assert find_stored_history(report, "jit_nothing", "ynn_fusion.2") is None
    assert find_stored_history(report / "nowhere", MODULE, "ynn_fusion.2") is None


def test_damaged_histories_are_left_to_the_texts(report: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(report / "site", site)
    for path in (site / "assets/data/m").glob("*/*.js"):
        path.write_text(path.read_text()[:200])
    assert find_stored_history(tmp_path, MODULE, "ynn_fusion.2") is None
    (site / "report.json").write_text(json.dumps([1]))
    assert main_of_report(tmp_path) is None
    assert find_stored_history(tmp_path, MODULE, "ynn_fusion.2") is None


def test_a_file_that_is_too_large_is_left_alone(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_history, "_MOST_BYTES", 100)
    assert find_stored_history(report, MODULE, "ynn_fusion.2") is None


def test_of_a_report_that_left_histories_out_the_texts_answer(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xlareport.pages.history.payload._MOST_SUBJECTS", 12)
    build(dump, BuildOptions(out=tmp_path, html=False))
    (tmp_path / "site_src").rename(tmp_path / "site")
    for name in ("hidden/max", "jit(train_step)/jvp(loss)/hidden/max", "%constant.1"):
        assert find_stored_history(tmp_path, MODULE, name) is None
    kept = find_stored_history(tmp_path, MODULE, "jit(train_step)/jvp(loss)/hidden/dot_general")
    assert kept is not None
    assert "It comes from 1 instruction" in told(tmp_path, "jit(train_step)/jvp(loss)/hidden/max")
