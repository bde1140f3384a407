"""The records of files: a tuple of few, made one by one of very many."""

from pathlib import Path

import pytest

from xlareport.dump.grouping import name_and_group
from xlareport.dump.source import open_source
from xlareport.records import file_list
from xlareport.records.file_list import FileList, list_files


def test_very_many_are_made_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("module_0001.jit_f.before_optimizations.txt", "module_0002.jit_g.debug_options"):
        (tmp_path / name).write_text("x")
    (tmp_path / "notes.md").write_text("x")
    with open_source(tmp_path) as source:
        named = name_and_group(source)
    keys = [module.key for module in named.grouped.modules]
    few = list_files(named, keys)
    monkeypatch.setattr(file_list, "MANY_FILES", 1)
    many = list_files(named, keys)
    assert isinstance(few, tuple)
    assert isinstance(many, FileList)
    assert tuple(many) == few == tuple(many[place] for place in range(len(many)))
    assert many[1:] == list(few[1:])
    assert [file.module for file in few] == [*keys, None][: len(few)]
    assert many.kinds_of(0) == {few[0].path: "hlo-text"}
