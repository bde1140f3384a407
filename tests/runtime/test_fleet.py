"""What is said where Dask is not installed; clusters are tested in tests/fleet."""

from pathlib import Path

import pytest

from xlareport.report import BuildOptions, build
from xlareport.runtime import fleet
from xlareport.runtime.fleet import FleetError


def test_without_dask_a_message_names_the_extra(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "find_spec", lambda _: None)
    options = BuildOptions(out=tmp_path, html=False, scheduler="tcp://nowhere:1")
    with pytest.raises(FleetError, match=r"pip install 'xlareport\[dask\]'"):
        build(data / "jax-cpu-train", options)
    assert not (tmp_path / "site_src").exists()
