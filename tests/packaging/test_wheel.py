"""The built wheel, installed into an empty environment, works from another folder."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

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
    """Return the `bin` folder of an environment with nothing but the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    python = folder / "bin" / "python"
    run(
        *(
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--quiet",
            "--no-compile",
            wheel,
        ),
        cwd=folder,
    )
    return folder / "bin"


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
