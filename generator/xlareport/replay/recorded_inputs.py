"""Inputs that a dump recorded (`--xla_dump_hlo_snapshots`), as files for the child process."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.protos.recorded_run import (
    RecordedArray,
    RecordedRun,
    RecordError,
    read_recorded_run,
)
from xlareport.replay.child_process import ReplayError
from xlareport.replay.runnable_program import NUMPY_NAMES

_BITS_OF = {"bfloat16": "u2", "float8_e5m2": "u1", "float8_e4m3fn": "u1"}
"""Types that numpy does not have are saved as their bits."""
_CODES = {
    "bool": "b1",
    **{f"int{bits}": f"i{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"f{bits // 8}" for bits in (16, 32, 64)},
    "complex64": "c8",
    "complex128": "c16",
    **_BITS_OF,
}


class RecordedFiles(Struct, frozen=True):
    """A recorded run as files of arrays."""

    path: str
    """Of the record, in the dump."""
    inputs: Path
    results: Path | None
    platform: str


def find_record(files: ModuleFiles) -> tuple[str, RecordedRun]:
    """Return the first recorded run of a module, and its path; raises ReplayError."""
    reasons: list[str] = []
    for artifact in sorted(
        files.artifacts, key=lambda artifact: (artifact.entry.modified or 0, artifact.path)
    ):
        if artifact.name.kind != "snapshot":
            continue
        try:
            run = read_recorded_run(artifact.entry.read())
        except (RecordError, OSError) as error:
            reasons.append(f"{artifact.path}: {error}")
            continue
        return artifact.path, run
    more = f" ({reasons[0]})" if reasons else ""
    raise ReplayError(
        f"The dump holds no inputs of {files.key}{more}. --xla_dump_hlo_snapshots records them."
    )


def write_record(path: str, run: RecordedRun, folder: Path) -> RecordedFiles:
    """Write the arrays of a run below a folder."""
    inputs, results = folder / "recorded-inputs.npz", folder / "recorded-results.npz"
    write_arrays(run.arguments, inputs)
    if run.results:
        write_arrays(run.results, results)
    return RecordedFiles(path, inputs, results if run.results else None, run.platform)


def write_arrays(arrays: Sequence[RecordedArray], to: Path) -> None:
    """Write arrays as numpy's `savez` does; types that numpy does not have as bits."""
    with zipfile.ZipFile(to, "w") as archive:
        for place, array in enumerate(arrays):
            name = NUMPY_NAMES[array.element_type]
            archive.writestr(f"{place}:{name}.npy", _header(array, name) + array.data)


def _header(array: RecordedArray, name: str) -> bytes:
    """Return the header of the data in version 1.0 of the NPY format."""
    shape = "".join(f"{size}, " for size in array.dimensions)
    text = (
        f"{{'descr': '<{_CODES[name]}', 'fortran_order': {array.is_column_major}, "
        f"'shape': ({shape})}}"
    )
    text = text.replace("'<b1'", "'|b1'").ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode("ascii")
