"""What a module can be compiled for without the device."""

from pathlib import Path

import pytest

from xlareport.dump.modules import ModuleFiles
from xlareport.replay.process import ReplayError
from xlareport.replay.targets import parse_target
from xlareport.report import BuildOptions, read_one_module


@pytest.fixture(scope="module")
def files(data: Path) -> ModuleFiles:
    return read_one_module(data / "jax-cpu-train", None, BuildOptions(jobs=1)).files


def test_a_topology_of_tpus(files: ModuleFiles) -> None:
    target = parse_target("v6e:2x2", files)
    assert (target.platform, target.topology, target.config) == ("tpu", "v6e:2x2", "")


def test_the_description_of_a_gpu_is_a_file(files: ModuleFiles, tmp_path: Path) -> None:
    (tmp_path / "h100").write_text('platform_name: "CUDA"')
    target = parse_target(f"gpu:{tmp_path / 'h100'}", files)
    assert (target.platform, target.config) == ("cuda", 'platform_name: "CUDA"')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("v6e", "no target"),
        ("tpu:v6e", "no target"),
        ("gpu", "does not describe a GPU"),
        ("gpu:/nothing/there", "cannot be read"),
    ],
)
def test_others_are_refused(files: ModuleFiles, text: str, reason: str) -> None:
    with pytest.raises(ReplayError, match=reason):
        parse_target(text, files)
