""""""

from pathlib import Path

import pytest
from mkdocs.utils.yaml import yaml_load

from xlareport.runtime.resources import find_resource
from xlareport.site import folder as site_folder
from xlareport.site.folder import Folder, ForeignFileError, ForeignSettingsError, exchange_folders


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


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Return a folder with a former site and a fresh one."""
    for place, text in (("site", "former"), (".xlareport/site-1", "new")):
        (tmp_path / place / "assets").mkdir(parents=True)
        (tmp_path / place / "assets/xlareport.css").write_text(text)
    return Folder(tmp_path)


def style(place: Path) -> str:
    return (place / "assets/xlareport.css").read_text()


def test_two_folders_change_places_at_once(folder: Folder) -> None:
    fresh = folder.aside / "site-1"
    if not exchange_folders(fresh, folder.site):
        pytest.skip("this file system knows of no exchange")

    assert (style(fresh), style(folder.site)) == ("former", "new")


def test_what_is_not_there_cannot_change_places(folder: Folder) -> None:
    with pytest.raises(OSError, match="No such file"):
        exchange_folders(folder.aside / "nothing", folder.site)


@pytest.mark.parametrize("can", [True, False])
def test_a_new_site_takes_the_place_of_the_former(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, *, can: bool
) -> None:
    if not can:
        monkeypatch.setattr(site_folder.sys, "platform", "win32")
    folder.swap(folder.aside / "site-1")

    assert style(folder.site) == "new"
    folder.repair()
    assert style(folder.site) == "new"
    assert not folder.aside.exists()


def test_without_exchange_the_former_site_is_brought_back(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build that is killed between the two renames leaves no site."""

    def killed(self: Path, _target: Path) -> Path:
        if self.name == "site-1":
            raise KeyboardInterrupt
        return Path.replace(self, _target)

    monkeypatch.setattr(site_folder.sys, "platform", "win32")
    monkeypatch.setattr(Path, "rename", killed)
    with pytest.raises(KeyboardInterrupt):
        folder.swap(folder.aside / "site-1")
    assert not folder.site.exists()
    monkeypatch.undo()
    folder.prepare()

    assert style(folder.site) == "former"


def test_settings_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.aside.mkdir()
    (folder.aside / "mkdocs.yml").write_text("site_na")  # what a killed build left
    folder.settle()

    assert "INHERIT" in (tmp_path / "mkdocs.yml").read_text()
    assert list(folder.aside.iterdir()) == []


def test_a_title_stands_in_new_settings_only(tmp_path: Path) -> None:
    Folder(tmp_path).settle('train "x": 1.py')
    Folder(tmp_path).settle("another")

    settings = yaml_load((tmp_path / "mkdocs.yml").read_text().replace("INHERIT", "INHERITED"))
    assert settings["site_name"] == 'train "x": 1.py'
