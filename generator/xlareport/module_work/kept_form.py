"""The form of a module's result in the cache: its values as MessagePack, its files by their paths.

Reading takes no Python for each value. A value that would come back as another one, such as a
whole number where the type is a float, is listed instead.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder
from msgspec.structs import replace

from xlareport.dump.modules import Artifact, ModuleFiles, SnapshotFiles
from xlareport.module_work.listed_files import list_by_path, own_artifacts
from xlareport.module_work.process import ModuleResult
from xlareport.program import SideFileValues
from xlareport.storage.typed_values import Substitute, list_values, read_values


class _Form(Struct, frozen=True):
    """A result without its files."""

    result: ModuleResult
    stages: tuple[tuple[str, ...], ...]
    """The paths of the files of each snapshot."""
    final: tuple[str, ...]
    """Those of the final one."""
    side: list[Any]
    """The values of the side files, listed."""


_ENCODER, _DECODER = Encoder(), Decoder(_Form)
_FLOAT = b"\xcb"
"""The byte before a float."""
_LISTED = b"["
"""The first byte of values that are listed."""


def encode_result(result: ModuleResult, files: ModuleFiles) -> bytes:
    """Return the content of an entry; raises ValueError, TypeError, KeyError or OverflowError.

    Requests to draw are left out: with its pictures a result is complete.
    """
    result = replace(result, output=replace(result.output, requests=()))
    form = _form(result, files)
    content = _ENCODER.encode(form)
    if _comes_back(form, content):
        return content
    listed = list_values(result, _file_substitutes(files))
    return json.dumps(listed, separators=(",", ":"), allow_nan=False).encode()


def decode_result(content: bytes, files: ModuleFiles) -> ModuleResult:
    """Return the result of a module with these files.

    Raises ValueError, TypeError, KeyError, AttributeError or RecursionError for anything else.
    """
    if content.startswith(_LISTED):
        listed: ModuleResult = read_values(
            ModuleResult, json.loads(content), _file_substitutes(files)
        )
        return listed
    form = _DECODER.decode(content)
    analysis, by_path = form.result.analysis, _by_path(files)
    summary = analysis.summary
    _own(files, summary.files.key)
    stages = (
        replace(snapshot, stage=_with_files(snapshot.stage, paths, by_path))
        for snapshot, paths in zip(summary.stages, form.stages, strict=True)
    )
    final = summary.final_stage
    summary = replace(
        summary,
        files=files,
        stages=tuple(stages),
        final_stage=_with_files(final, form.final, by_path) if final else None,
    )
    side = read_values(SideFileValues, form.side, _file_substitutes(files))
    return replace(form.result, analysis=replace(analysis, summary=summary, side=side))


def _comes_back(form: _Form, content: bytes) -> bool:
    """Return whether reading the content gives equal values, of which as many are floats.

    Sets may come back in another order.
    """
    again = _DECODER.decode(content)
    return again == form and _ENCODER.encode(again).count(_FLOAT) == content.count(_FLOAT)


def _form(result: ModuleResult, files: ModuleFiles) -> _Form:
    analysis, by_path = result.analysis, _by_path(files)
    summary = analysis.summary
    if analysis.same_as or analysis.profile:
        raise ValueError("this is not of its own files alone")
    final = summary.final_stage
    bare = replace(
        summary,
        files=ModuleFiles(files.key, "", None, "", None, (), ()),
        stages=tuple(
            replace(snapshot, stage=_without_files(snapshot.stage)) for snapshot in summary.stages
        ),
        final_stage=_without_files(final) if final else None,
    )
    return _Form(
        result=replace(result, analysis=replace(analysis, summary=bare, side=SideFileValues())),
        stages=tuple(_paths(snapshot.stage, by_path) for snapshot in summary.stages),
        final=_paths(final, by_path) if final else (),
        side=list_values(analysis.side, _file_substitutes(files)),
    )


def _without_files(stage: SnapshotFiles) -> SnapshotFiles:
    return replace(stage, artifacts=())


def _with_files(
    stage: SnapshotFiles, paths: Sequence[str], by_path: Mapping[str, Artifact]
) -> SnapshotFiles:
    return replace(stage, artifacts=tuple(map(by_path.__getitem__, paths)))


def _paths(stage: SnapshotFiles, by_path: Mapping[str, Artifact]) -> tuple[str, ...]:
    """Return the paths of the files of a snapshot; raises KeyError for one of another module."""
    return tuple(by_path[artifact.path].path for artifact in stage.artifacts)


def _by_path(files: ModuleFiles) -> Mapping[str, Artifact]:
    return {artifact.path: artifact for artifact in own_artifacts(files)}


def _file_substitutes(files: ModuleFiles) -> Mapping[type, Substitute]:
    """Return substitutes for the module's files, which are elsewhere in another build."""
    own = Substitute(lambda own: own.key, lambda key: _own(files, key))
    return {**list_by_path(own_artifacts(files)), ModuleFiles: own}


def _own(files: ModuleFiles, key: Any) -> ModuleFiles:
    if key != files.key:
        raise ValueError("this is of another module")
    return files
