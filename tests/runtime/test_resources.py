import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from xlareport.runtime import resources


def test_a_checkout_has_its_files_at_the_top() -> None:
    assert (resources.find_resource("site_src") / "xlareport.yml").is_file()
    assert (resources.find_resource("templates") / "mkdocs.yml").is_file()


def test_an_installed_package_has_them_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "templates").mkdir()
    monkeypatch.setattr(resources, "PACKAGE", tmp_path)

    assert resources.find_resource("templates") == tmp_path / "templates"


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of a package, and a folder of the user."""
    package = tmp_path / "package"
    package.mkdir()
    monkeypatch.setattr(resources, "files", lambda _: package)
    monkeypatch.setattr(resources, "user_folder", lambda: tmp_path / "of-user")
    place = package / "words.toml"
    place.write_text('[a]\nwords = "b"\nshare = 0.5\nis = true\n')
    return place


def read() -> dict[str, Any]:
    return resources.read_toml("a.package", "words.toml")


CONTENT = {"a": {"words": "b", "share": 0.5, "is": True}}


def test_a_table_is_parsed_once(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read() == CONTENT
    monkeypatch.setattr(resources, "tomllib", None)
    assert read() == CONTENT
    monkeypatch.setattr(resources, "tomllib", tomllib)
    table.write_text("a = 1\n")
    assert read() == {"a": 1}
    assert [*table.parent.iterdir()] == [table]  # nothing that an uninstallation would leave


@pytest.mark.parametrize("content", [b"", b"{}", b"x" * 20 + b'{"a": 2}'])
def test_what_is_not_as_it_was_written_is_not_taken(table: Path, content: bytes) -> None:
    read()
    (kept,) = table.parent.parent.glob("of-user/tables/*.json")
    kept.write_bytes(content)
    assert read() == CONTENT
    kept.write_bytes(kept.read_bytes()[:-1] + b" ")
    assert read() == CONTENT


def test_nothing_is_kept_where_the_user_has_no_folder(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "user_folder", lambda: None)
    assert read() == CONTENT
    assert [path for path in table.parent.parent.rglob("*") if path.is_file()] == [table]


def test_every_table_of_the_package_can_be_kept() -> None:
    """Dates would not come back from JSON."""
    for path in resources.PACKAGE.rglob("*.toml"):
        content = tomllib.loads(path.read_text("utf-8"))
        assert json.loads(json.dumps(content, allow_nan=False)) == content
