"""Values of modules in keys and entries: files whole once, else by their paths."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from xlareport.dump.grouping import group, name_files
from xlareport.dump.modules import Artifact, ModuleFiles
from xlareport.dump.source import open_source
from xlareport.module_work.listed_files import encode_files, list_by_path, own_artifacts
from xlareport.storage.typed_values import list_values, read_values


@pytest.fixture
def files(data: Path) -> ModuleFiles:
    with open_source(data / "truncated") as source:
        return group(name_files(source)).modules[0]


def moved(files: ModuleFiles, **fields: object) -> ModuleFiles:
    """Return a module of whose files the first one has other values in its entry."""
    first, *others = files.artifacts
    entry = replace(first.entry, **fields)
    return replace(files, artifacts=(replace(first, entry=entry), *others))


def test_each_file_is_listed_once(files: ModuleFiles) -> None:
    paths = [artifact.path for artifact in own_artifacts(files)]
    assert len(paths) == len(set(paths))
    assert {artifact.path for stage in files.stages for artifact in stage.artifacts} <= {*paths}


def test_whole_files_differ_in_all_but_their_place(files: ModuleFiles) -> None:
    assert encode_files(moved(files, place=Path("/elsewhere"))) == encode_files(files)
    for other in (moved(files, size=1), moved(files, modified=1.5), replace(files, slug="other")):
        assert encode_files(other) != encode_files(files)
    with pytest.raises(TypeError):
        encode_files(object())


def test_files_by_their_paths_come_back(files: ModuleFiles) -> None:
    known = list_by_path(own_artifacts(files))
    listed = json.loads(json.dumps(list_values(files, known)))
    assert read_values(ModuleFiles, listed, known) == files
    with pytest.raises(KeyError):
        list_values(files.artifacts[0], list_by_path(()))
    with pytest.raises(KeyError):
        read_values(Artifact, "none.txt", known)
