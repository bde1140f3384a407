from pathlib import Path

import pytest

from xlareport.site import exchange as exchanging
from xlareport.site.exchange import exchange_folders
from xlareport.site.folder import Folder


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
        monkeypatch.setattr(exchanging.sys, "platform", "win32")
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

    monkeypatch.setattr(exchanging.sys, "platform", "win32")
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
