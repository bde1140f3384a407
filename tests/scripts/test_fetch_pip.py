"""pip is fetched from an index of PEP 503, the newest release, and only if its hash is right."""

import hashlib
from pathlib import Path
from types import ModuleType

import pytest
from tests.script_loader import load_script

WHEEL = b"the newest wheel"


@pytest.fixture
def script() -> ModuleType:
    return load_script("fetch_pip")


@pytest.fixture
def index(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the page of an index on disk that lists two releases, a pre-release and an sdist."""
    (tmp_path / "pip-26.10-py3-none-any.whl").write_bytes(WHEEL)
    names = (
        "pip-26.9-py3-none-any.whl",
        "pip-26.10-py3-none-any.whl",
        "pip-27.0b1-py3-none-any.whl",
        "pip-28.0.tar.gz",
    )
    sha256 = hashlib.sha256(WHEEL).hexdigest()
    page = tmp_path / "page.html"
    page.write_text("".join(f'<a href="../{name}#sha256={sha256}">{name}</a>' for name in names))
    monkeypatch.setattr(script, "INDEX", "https://index.invalid/simple")

    def read(url: str) -> bytes:
        name = url.removeprefix("https://index.invalid/simple/")
        return page.read_bytes() if name == "pip/" else (tmp_path / name).read_bytes()

    monkeypatch.setattr(script, "read", read)
    return page


@pytest.mark.usefixtures("index")
def test_the_newest_release_is_fetched(script: ModuleType, tmp_path: Path) -> None:
    wheel = script.newest_wheel()
    assert wheel.version == [26, 10]
    folder = tmp_path / "fetched"
    folder.mkdir()
    assert script.fetch(wheel, folder).read_bytes() == WHEEL


def test_a_wheel_with_another_hash_is_refused(
    script: ModuleType, index: Path, tmp_path: Path
) -> None:
    wheel = script.newest_wheel()
    (index.parent / wheel.name).write_bytes(b"another")
    with pytest.raises(ValueError, match="another hash"):
        script.fetch(wheel, tmp_path)


def test_an_index_without_pip_is_a_value_error(script: ModuleType, index: Path) -> None:
    index.write_text("<html>sign in first</html>")
    with pytest.raises(ValueError, match="no wheel"):
        script.newest_wheel()
