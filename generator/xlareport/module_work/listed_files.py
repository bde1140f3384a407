"""The values of a module in keys and entries of results: each file whole once, else by its path."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.json import Encoder

from xlareport import reader_table
from xlareport.dump.modules import Artifact, ModuleFiles
from xlareport.hlo.model import Instruction
from xlareport.program import SideFileValues
from xlareport.storage.typed_values import Substitute, list_values, read_values


def own_artifacts(files: ModuleFiles) -> Sequence[Artifact]:
    """Return the files of a module, each once."""
    of_stages = (artifact for stage in files.stages for artifact in stage.artifacts)
    every = (*files.artifacts, *files.nameless, *files.llo, *of_stages)
    return tuple({artifact.path: artifact for artifact in every}.values())


def encode_files(files: object) -> bytes:
    """Return records of files as JSON without places of this machine; raises UnicodeError."""
    return _ENCODER.encode(files)


def _encode_path(value: object) -> str:
    if isinstance(value, Path):
        return ""
    raise TypeError(f"{type(value)} is in no record of files")


_ENCODER = Encoder(enc_hook=_encode_path)


def list_by_path(artifacts: Iterable[Artifact]) -> Mapping[type, Substitute]:
    """Return substitutes for values of a module, whose files are elsewhere in another build.

    Listing a file that is none of `artifacts` raises KeyError, an instruction ValueError.
    """
    by_path = {artifact.path: artifact for artifact in artifacts}
    return {
        Artifact: Substitute(lambda artifact: by_path[artifact.path].path, by_path.__getitem__),
        Instruction: Substitute(_refuse, _refuse),
        SideFileValues: Substitute(_list_side_files, _read_side_files),
    }


def _refuse(_: Any) -> Any:
    raise ValueError("instructions are not kept")


def _list_side_files(side: SideFileValues) -> list[Any]:
    return [[reader_table.ROWS.index(row), list_values(read)] for row, read in side.values.items()]


def _read_side_files(listed: Any) -> SideFileValues:
    rows = dict(enumerate(reader_table.ROWS))
    read = ((rows[place], values) for place, values in listed)
    return SideFileValues({row: read_values(row.values_type, values) for row, values in read})
