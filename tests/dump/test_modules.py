"""Modules of a dump by their files: labels, figures, names, and files of another machine."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from xlareport.dump.grouping import group_source
from xlareport.dump.modules import (
    GroupedDump,
    SnapshotFiles,
    files_here,
    find_module,
    module_here,
    number_and_pipeline,
)
from xlareport.dump.source import open_source
from xlareport.runtime.errors import UnknownNameError

FILES = (
    "module_0000.jit_f.before_optimizations.txt",
    "module_0000.jit_f.0001.fusion.after_dce.before_cse.txt",
    "module_0000.jit_f.cpu_after_optimizations.txt",
    "module_0000.jit_f.cpu_after_optimizations.hlo.pb",
    "module_0003.jit_g.cpu_after_optimizations.txt",
    "module_0005.jit_g.cpu_after_optimizations.txt",
)


@pytest.fixture
def dump(tmp_path: Path) -> GroupedDump:
    for number, name in enumerate(FILES):
        (tmp_path / name).write_text("x" * (number + 1))
    with open_source(tmp_path) as source:
        return group_source(source).grouped


@pytest.mark.parametrize(
    ("stage", "label", "key", "place"),
    [
        (
            SnapshotFiles("pass", 17, "simplification", "algsimp", "dce", ()),
            "0017 simplification: after algsimp, before dce",
            "0017",
            "0017 simplification: after algsimp, before dce",
        ),
        (
            SnapshotFiles("after_optimizations", None, None, None, None, ()),
            "after optimizations",
            "after_optimizations",
            "the text after_optimizations",
        ),
        (
            SnapshotFiles("after_spmd", None, None, None, None, (), placed_by="time"),
            "after spmd (placed by time)",
            "after_spmd",
            "the text after_spmd",
        ),
        (
            SnapshotFiles("renamed-hlo", None, None, None, None, ()),
            "snapshot of an unknown moment",
            "renamed-hlo",
            "the text renamed-hlo",
        ),
    ],
)
def test_a_snapshot_is_labeled_by_its_passes(
    stage: SnapshotFiles, label: str, key: str, place: str
) -> None:
    assert (stage.label, stage.key, stage.place) == (label, key, place)


def test_a_number_stands_before_the_pipeline() -> None:
    assert number_and_pipeline(3, "fusion") == "0003 fusion"
    assert number_and_pipeline(3, None) == "0003"
    assert number_and_pipeline(None, "fusion") == ""


def test_the_most_complete_format_is_read_first(dump: GroupedDump) -> None:
    final = dump.modules[0].stages[-1]
    assert [form.name.kind for form in final.readable()] == ["hlo-text", "hlo-proto"]


def test_figures_of_files_outlive_the_files(dump: GroupedDump) -> None:
    module = dump.modules[0]
    assert (module.figures.count, module.bytes) == (4, 1 + 2 + 3 + 4)
    assert module.figures.written is not None
    outline = module.outline()
    assert (outline.artifacts, outline.stages) == ((), ())
    assert outline.figures == module.figures
    assert repr(outline) == "<ModuleFiles module_0000.jit_f: 4 files>"
    assert outline.build is None


@pytest.mark.parametrize("wanted", ["module_0000.jit_f", "jit_f", "f"])
def test_a_module_is_known_by_key_name_or_function(wanted: str, dump: GroupedDump) -> None:
    assert find_module(dump.modules, wanted, "d") is dump.modules[0]


def test_a_name_of_several_or_no_modules_is_refused_with_those_that_are_near(
    dump: GroupedDump,
) -> None:
    with pytest.raises(UnknownNameError, match="d holds 2 modules 'jit_g'"):
        find_module(dump.modules, "jit_g", "d")
    with pytest.raises(UnknownNameError, match="d holds no module 'jit_h'"):
        find_module(dump.modules, "jit_h", "d")


class Stored:
    """A file of another machine, which can be fetched or not."""

    def __init__(self, content: bytes | None) -> None:
        self.content = content

    def read(self, *_: object) -> bytes:
        if self.content is None:
            raise OSError("gone")
        return self.content


def test_files_of_this_machine_are_not_copied(dump: GroupedDump) -> None:
    with module_here(dump.modules[0]) as here:
        assert here is dump.modules[0]
    entry = dump.modules[0].artifacts[0].entry
    with files_here([entry]) as files:
        assert files == {entry.path: entry}


def test_files_of_another_machine_are_here_while_they_are_read(dump: GroupedDump) -> None:
    module = dump.modules[0]
    first, second, *others = module.artifacts
    far = replace(first.entry, stored=Stored(b"abc"))
    gone = replace(second.entry, stored=Stored(None))
    moved = (replace(first, entry=far), replace(second, entry=gone), *others)
    with module_here(replace(module, artifacts=moved)) as here:
        copied, lost, *same = (artifact.entry for artifact in here.artifacts)
        assert (copied.stored, copied.read()) == (None, b"abc")
        assert lost is gone
        assert same == [artifact.entry for artifact in others]
