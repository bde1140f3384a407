"""The digest of the program: another one for every edit, the same for none."""

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from xlareport.runtime import program_digest
from xlareport.runtime.resources import PACKAGE


def test_an_edit_of_a_source_or_an_upgrade_makes_another_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "xlareport"
    shutil.copytree(PACKAGE / "runtime", package)
    monkeypatch.setattr(program_digest, "PACKAGE", package)
    digest_program = program_digest.digest_program.__wrapped__  # as of another process
    first = digest_program()
    (package / "__pycache__").mkdir(exist_ok=True)
    (package / "__pycache__/units.pyc").write_bytes(b"compiled")
    assert digest_program() == first
    with (package / "units.py").open("a") as file:
        file.write("\n")
    second = digest_program()
    assert second != first
    monkeypatch.setattr(program_digest, "__version__", "99")
    assert digest_program() not in (first, second)


def test_a_process_computes_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = program_digest.digest_program()
    monkeypatch.setattr(program_digest, "PACKAGE", None)
    assert program_digest.digest_program() == first


def test_the_libraries_are_those_that_the_package_asks_for() -> None:
    """One that nothing installs would never change; `pymdown-extensions` comes with the theme."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    wanted = {
        re.split(r"[<>=;\[ ]", dependency)[0] for dependency in project["project"]["dependencies"]
    }
    assert {*program_digest.LIBRARIES} - wanted == {"pymdown-extensions"}
