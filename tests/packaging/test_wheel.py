"""The built wheel, installed into an empty environment, works from another folder."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from email.parser import Parser
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.walks import LONG_WALKS

CHECKOUT = Path(__file__).parents[2]

pytestmark = pytest.mark.packaging


def run(*command: str | Path, cwd: Path) -> str:
    """Return what the command prints; its environment knows nothing of this checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        command, cwd=cwd, env=kept, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"),
        *("--wheel-dir", folder, CHECKOUT),
        cwd=folder,
    )
    [path] = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the `bin` folder of an environment with nothing but the wheel and what it needs.

    What it says that it needs is linked from this environment, which has more; on a long walk pip
    downloads and installs it, twenty seconds of work.
    """
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile")
    run(*pip, *(() if LONG_WALKS else ("--no-deps",)), wheel, cwd=folder)
    if not LONG_WALKS:
        [place] = (folder / "lib").glob("*/site-packages")
        for name in sorted(needed(requirements(wheel))):
            link(distribution(name), place)
    return folder / "bin"


def requirements(wheel: Path) -> list[str]:
    """Return what the metadata of a wheel says that it needs."""
    with zipfile.ZipFile(wheel) as archive:
        [path] = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(path).decode()).get_all("Requires-Dist", [])


def needed(texts: Iterable[str]) -> set[str]:
    """Return the names of distributions that are needed here for requirements without extras."""
    names: set[str] = set()
    waiting = [*map(Requirement, texts)]
    while waiting:
        wanted = waiting.pop()
        if wanted.name in names or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        names.add(wanted.name)
        waiting += map(Requirement, distribution(wanted.name).requires or ())
    return names


def link(installed: Distribution, place: Path) -> None:
    """Let a distribution of this environment be importable from another folder of packages."""
    for top in {path.parts[0] for path in installed.files or ()} - {"..", "__pycache__"}:
        if not (place / top).exists():
            (place / top).symlink_to(Path(str(installed.locate_file(top))))


def test_the_wheel_holds_the_package_and_its_pages_only(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"xlareport", next(top for top in tops if top.endswith(".dist-info"))}
    assert any(name.startswith("xlareport/templates/") for name in names)
    assert any(name.startswith("xlareport/site_src/") for name in names)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert not [name for name in names if "__pycache__" in name]


def test_nothing_but_the_package_becomes_importable(installed: Path, tmp_path: Path) -> None:
    code = (
        "from importlib.util import find_spec; import xlareport;"
        "print([n for n in ('generator', 'templates', 'site_src', 'tests') if find_spec(n)]);"
        "print(xlareport.__file__)"
    )
    found, where = run(installed / "python", "-c", code, cwd=tmp_path).splitlines()
    assert found == "[]"
    assert not Path(where).is_relative_to(CHECKOUT)


def test_pygments_finds_the_hlo_lexer(installed: Path, tmp_path: Path) -> None:
    code = "from pygments.lexers import get_lexer_by_name; print(get_lexer_by_name('hlo').name)"
    assert run(installed / "python", "-c", code, cwd=tmp_path).strip() == "HLO"


def test_the_installed_command_builds_a_report_elsewhere(
    installed: Path, data: Path, tmp_path: Path
) -> None:
    last = run(installed / "xlareport", "build", data / "jax-cpu-train", cwd=tmp_path)
    assert str(tmp_path / "site" / "index.html") in last
    report = json.loads((tmp_path / "site" / "report.json").read_text(encoding="utf-8"))
    assert report["main"]["name"] == "jit_train_step"
    assert (tmp_path / "site" / "index.html").is_file()
    assert (tmp_path / "mkdocs.yml").is_file()
