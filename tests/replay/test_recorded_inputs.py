"""Recorded inputs as files that numpy reads; the reading is skipped without numpy."""

from pathlib import Path

import pytest

from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.protos.recorded_run import RecordedArray
from xlareport.replay.child_process import ReplayError
from xlareport.replay.recorded_inputs import find_record, write_arrays
from xlareport.report import BuildOptions, read_one_module

ONES = (1, 0, 0, 0) * 3


@pytest.fixture
def files(data: Path) -> ModuleFiles:
    return read_one_module(data / "jax-cpu-train", None, BuildOptions(jobs=1)).files


def test_a_dump_without_a_record_says_how_to_make_one(files: ModuleFiles) -> None:
    with pytest.raises(ReplayError, match="--xla_dump_hlo_snapshots"):
        find_record(files)


def test_numpy_reads_what_is_written(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    arrays = [
        RecordedArray("s32", (2, 2), is_column_major=True, data=bytes((*ONES, 2, 0, 0, 0))),
        RecordedArray("pred", (), is_column_major=False, data=b"\x01"),
        RecordedArray("bf16", (1,), is_column_major=False, data=b"\x80\x3f"),
    ]
    write_arrays(arrays, tmp_path / "a.npz")
    with numpy.load(tmp_path / "a.npz", allow_pickle=False) as held:
        assert held.files == ["0:int32", "1:bool", "2:bfloat16"]
        assert held["0:int32"].tolist() == [[1, 1], [1, 2]]
        assert held["1:bool"].item() is True
        assert held["2:bfloat16"].tolist() == [0x3F80]
