"""Names of a former build: the same as if they were parsed anew."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from xlareport.dump import kept_names
from xlareport.dump.filename import DumpName, parse
from xlareport.dump.kept_names import KeptNames
from xlareport.storage.entry_store import EntryStore

PATHS = (
    "module_0001.jit_f.before_optimizations.txt",
    "module_0001.jit_f.0003.fusion.after_dce.before_cse.txt",
    "1700000000000000.module_0002.jit_g.sm_9.0a_gpu_after_optimizations.hlo.pb.gz",
    "rank3.module_0004.f.thunk_sequence.txt",
    "shardy/module_0001.jit_f/host_3/0.mlir",
    "an unknown name \N{GREEK SMALL LETTER PI}",
)


@pytest.fixture
def names(tmp_path: Path) -> KeptNames:
    return KeptNames(EntryStore(tmp_path / "store", 1_000_000), "program")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that were parsed."""
    paths = []

    def note(path: str) -> DumpName:
        paths.append(path)
        return parse(path)

    monkeypatch.setattr(kept_names, "parse", note)
    return paths


def anew(paths: Sequence[str]) -> list[DumpName]:
    return [parse(path) for path in paths]


def test_names_are_parsed_once(names: KeptNames, parsed: list[str]) -> None:
    assert names(PATHS) == names(PATHS) == anew(PATHS)
    assert parsed == [*PATHS]


def test_only_new_names_are_parsed(names: KeptNames, parsed: list[str]) -> None:
    names(PATHS[:3])
    assert names(PATHS[1:]) == names(PATHS[1:]) == anew(PATHS[1:])
    assert parsed == [*PATHS]
    names(PATHS)  # the name that was gone is forgotten
    assert parsed == [*PATHS, PATHS[0]]


def test_another_program_parses_them_again(names: KeptNames, parsed: list[str]) -> None:
    names(PATHS)
    replace(names, program="upgraded")(PATHS)
    assert len(parsed) == 2 * len(PATHS)


def test_altered_entries_are_not_taken(names: KeptNames, parsed: list[str]) -> None:
    names(PATHS)
    (path,) = names.store.folder.glob("*/*.kept")
    key = f"{path.parent.name}{path.stem}"
    entry = json.loads(names.store.get(key) or b"")
    entry["names"][0][1][0] = 1_000
    for content in (b"", b"[" * 100_000, b'{"tokens": [], "names": [1]}', json.dumps(entry)):
        names.store.put(key, content if isinstance(content, bytes) else content.encode())
        assert names(PATHS) == anew(PATHS)
    path.write_bytes(path.read_bytes()[:-1])
    assert names(PATHS) == anew(PATHS)
    assert len(parsed) == 6 * len(PATHS)
