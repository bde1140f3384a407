"""The folders of nights: what stays, and what is no list of nights."""

from pathlib import Path

import pytest

from xlareport.site.night_folders import NightFolders, NightListError, NightNameError


@pytest.mark.parametrize(
    "text", ["{", "[1]", "5", '[{"night": "../x", "outcome": "kept", "code": 0, "sentence": ""}]']
)
def test_a_damaged_list_of_nights_is_named(tmp_path: Path, text: str) -> None:
    folders = NightFolders(tmp_path, "n1")
    folders.prepare()
    (folders.state / "nights.json").write_text(text)
    with pytest.raises(NightListError, match=r"nights\.json"):
        folders.read_outcomes()


@pytest.mark.parametrize("night", ["../n1", "", "a/b", "-n", ".", "\u202e"])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, night: str) -> None:
    with pytest.raises(NightNameError):
        NightFolders(tmp_path, night)


def test_only_sites_are_published(tmp_path: Path) -> None:
    folders = NightFolders(tmp_path, "n1")
    folders.prepare()
    for name in ("site", "site_src"):
        (folders.report / name).mkdir(parents=True)
    (folders.report / "mkdocs.yml").write_text("")
    folders.strip()
    assert [path.name for path in folders.report.iterdir()] == ["site"]


def test_a_baseline_whose_report_is_gone_is_none(tmp_path: Path) -> None:
    folders = NightFolders(tmp_path, "n1")
    folders.prepare()
    folders.pin()
    assert folders.baseline is None
    folders.report.mkdir()
    assert folders.baseline == "n1"
