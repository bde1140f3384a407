"""Folders next to a dump that belong to it."""

from pathlib import Path

import pytest

from xlareport.dump.beside import profiles_beside


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder whose neighbors are no dumps: a profile would belong to those of others."""
    return tmp_path / "apart"


def test_profiles_are_looked_for_next_to_a_dump_and_one_folder_down(place: Path) -> None:
    dump = place / "dump"
    places = [place / "plugins/profile", place / "run/plugins/profile"]
    for folder in (dump, *places, place / "a/b/plugins/profile"):
        folder.mkdir(parents=True)
    assert profiles_beside(dump) == tuple(places)


def test_a_profile_inside_of_the_dump_is_not_beside_it(place: Path) -> None:
    dump = place / "dump"
    (dump / "plugins/profile").mkdir(parents=True)
    assert profiles_beside(dump) == ()


def test_a_file_or_a_dump_elsewhere_has_none(place: Path) -> None:
    (place / "plugins/profile").mkdir(parents=True)
    archive = place / "dump.zip"
    archive.touch()
    assert profiles_beside(archive) == ()
    assert profiles_beside(None) == ()
