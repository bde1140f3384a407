"""Environments with a release of jaxlib; nothing is installed here."""

import subprocess
from pathlib import Path

import pytest

from xlareport.replay import environments
from xlareport.replay.child_process import ReplayError
from xlareport.replay.environments import python_with


@pytest.mark.parametrize(
    ("release", "reason"),
    [("newest", "no release"), ("0.3.0", "0.3.0 is not known: 0.4"), ("1.0; rm", "no release")],
)
def test_a_release_that_is_not_known_is_refused(release: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match=reason):
        python_with(release, tmp_path)


def test_without_an_index_it_says_what_pip_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "note\nERROR: no matching distribution")

    monkeypatch.setattr(environments.subprocess, "run", fails)
    with pytest.raises(ReplayError, match="ERROR: no matching distribution"):
        python_with("0.6.2", tmp_path)


def test_what_was_made_is_used_again_and_what_is_half_made_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    def succeeds(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        ran.append(command)
        folder = Path(command[-1]) if "venv" in command else tmp_path
        folder.mkdir(parents=True, exist_ok=True)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(environments.subprocess, "run", succeeds)
    python = python_with("0.6", tmp_path)
    assert ran[1][-2:] == ["jax==0.6.*", "jaxlib==0.6.*"]
    assert python_with("0.6", tmp_path) == python
    assert len(ran) == 2
    (Path(python).parent.parent / "complete").unlink()
    python_with("0.6", tmp_path)
    assert len(ran) == 4
