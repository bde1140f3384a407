"""Virtual environments with a release of jaxlib, made once and kept in the user's cache."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from xlareport.replay.child_process import ReplayError
from xlareport.replay.worker.main import FAMILIES
from xlareport.runtime.errors import error_reason

_RELEASE = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.\d{1,3}){0,2}", re.ASCII)
_SECONDS = 900
_LONGEST_MESSAGE = 300


def python_with(release: str, cache: Path | None = None) -> str:
    """Return an interpreter with a release of jax, such as 0.6 or 0.6.2; raises ReplayError.

    The first time its packages are installed with pip, from where pip is set up to look.
    """
    match = _RELEASE.fullmatch(release)
    if match is None:
        raise ReplayError(f"{release!r} is no release of jaxlib, such as 0.6.2.")
    family = int(match[1]), int(match[2])
    if family not in FAMILIES:
        releases = ", ".join(f"{first}.{second}" for first, second in FAMILIES)
        raise ReplayError(f"jaxlib {release} is not known: {releases} are.")
    folder = (cache or cache_folder()) / f"jaxlib-{release}-python{sys.version_info.minor}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = folder / "complete"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        try:
            _make(folder, python, release, family)
            done.touch()
        except OSError as error:
            raise ReplayError(f"{folder} cannot be written: {error_reason(error)}.") from error
    return str(python)


def cache_folder() -> Path:
    """Return the folder of the environments, below the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "xlareport"


def _make(folder: Path, python: Path, release: str, family: tuple[int, int]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    exact = release if release.count(".") > 1 else f"{release}.*"
    wanted = [f"jax=={exact}", f"jaxlib=={exact}"]
    if family == (0, 4):  # its first releases fail with numpy 2 and do not say so
        wanted += ["numpy<2", "ml_dtypes<0.5", "scipy<1.13"]
    _run_step([sys.executable, "-m", "venv", str(folder)], release)
    _run_step(
        [str(python), "-m", "pip", "install", "--disable-pip-version-check", *wanted], release
    )


def _run_step(command: list[str], release: str) -> None:
    """Run a step; raises ReplayError with the last line of what it printed as an error."""
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter, and pip of the new one
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ReplayError(f"Installing jaxlib {release} took more than {_SECONDS} s.") from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        last = (lines or done.stderr.splitlines() or ["no message"])[-1][:_LONGEST_MESSAGE]
        raise ReplayError(
            f"An environment with jaxlib {release} could not be made. pip needs a package index, "
            f"and a release for Python {sys.version_info.major}.{sys.version_info.minor}: {last}"
        )
