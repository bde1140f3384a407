"""Folders next to a dump that belong to it."""

from pathlib import Path

from xlareport.dump.beside import profiles_beside


def test_profiles_are_looked_for_next_to_a_dump_and_one_folder_down(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    places = [tmp_path / "plugins/profile", tmp_path / "run/plugins/profile"]
    for place in (dump, *places, tmp_path / "a/b/plugins/profile"):
        place.mkdir(parents=True)
    assert profiles_beside(dump) == tuple(places)


def test_a_profile_inside_of_the_dump_is_not_beside_it(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    (dump / "plugins/profile").mkdir(parents=True)
    assert profiles_beside(dump) == ()


def test_a_file_or_a_dump_elsewhere_has_none(tmp_path: Path) -> None:
    (tmp_path / "plugins/profile").mkdir(parents=True)
    archive = tmp_path / "dump.zip"
    archive.touch()
    assert profiles_beside(archive) == ()
    assert profiles_beside(None) == ()
