from pathlib import Path

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
