from pathlib import Path

import pytest

from xlareport.runtime.resources import find_resource
from xlareport.site.folder import Folder, ForeignFileError, ForeignSettingsError


@pytest.mark.parametrize(
    "line",
    [
        "INHERIT: site_src/xlareport.yml",
        'INHERIT: "./site_src/xlareport.yml"  # ours',
        "site_name: x\nINHERIT: 'site_src/xlareport.yml'\ntheme: {}",
    ],
)
def test_settings_that_take_ours_in_are_welcome(tmp_path: Path, line: str) -> None:
    (tmp_path / "mkdocs.yml").write_text(line)
    Folder(tmp_path).prepare()
    Folder(tmp_path).settle()

    assert (tmp_path / "mkdocs.yml").read_text() == line


@pytest.mark.parametrize("name", ["mkdocs.yml", "mkdocs.yaml"])
@pytest.mark.parametrize("line", ["", "site_name: x", "# INHERIT: site_src/xlareport.yml"])
def test_settings_of_another_site_end_the_build(tmp_path: Path, name: str, line: str) -> None:
    (tmp_path / name).write_text(line)

    with pytest.raises(ForeignSettingsError, match="--out") as caught:
        Folder(tmp_path).prepare()
    assert caught.value.exit_code == 2


def test_preparing_writes_nothing(tmp_path: Path) -> None:
    Folder(tmp_path / "new").prepare()

    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_no_site_of_ours_stays(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/thesis.txt").write_text("mine")

    with pytest.raises(ForeignFileError, match="--out"):
        Folder(tmp_path).prepare()


def test_the_site_of_a_killed_swap_comes_back(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    (folder.former_site / "assets").mkdir(parents=True)
    (folder.former_site / "assets/xlareport.css").write_text("")
    folder.prepare()

    assert (folder.site / "assets/xlareport.css").is_file()
    assert not folder.aside.exists()


def test_the_settings_of_the_checkout_are_those_of_a_new_report() -> None:
    top = find_resource("site_src").parent / "mkdocs.yml"
    assert top.read_text() == (find_resource("templates") / "mkdocs.yml").read_text()
