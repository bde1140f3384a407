"""The texts of a module as the site stores them."""

from pathlib import Path

import pytest

from xlareport.dump.grouping import group, name_files
from xlareport.dump.modules import ModuleFiles
from xlareport.dump.source import open_source
from xlareport.pages.texts.page import has_texts, kept_texts, texts_page
from xlareport.storage.payloads import read_payload

TEXT = "HloModule jit_f\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n"
NAMES = (
    "module_0001.jit_f.before_optimizations.txt",
    "module_0001.jit_f.cpu_after_optimizations.txt",
    "module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt",
)


@pytest.fixture
def files(tmp_path: Path) -> ModuleFiles:
    for name in NAMES:
        (tmp_path / name).write_text(TEXT if "buffer" not in name else "BufferAssignment:\n")
    (tmp_path / "module_0001.jit_f.before_optimizations.hlo.pb").write_bytes(b"\n\x01m")
    with open_source(tmp_path) as source:
        (module,) = group(name_files(source)).modules
    return module


def test_snapshots_come_first_then_other_texts(files: ModuleFiles) -> None:
    kept = kept_texts(files)
    assert kept.paths == set(NAMES)
    key, index = read_payload(kept.payloads[0][1])
    assert key.endswith("/texts")
    assert [record[0] for record in index["texts"]] == [*NAMES]
    assert [record[-2] for record in index["texts"]][2] == NAMES[2]  # by its path


def test_equal_lines_have_one_number(files: ModuleFiles) -> None:
    lines = kept_texts(files).lines
    assert len(lines) == len({*TEXT.encode().split(b"\n"), b"BufferAssignment:"})
    assert len({*lines.values()}) == len(lines)


def test_a_text_that_is_gone_is_left_out(files: ModuleFiles, tmp_path: Path) -> None:
    (tmp_path / NAMES[1]).unlink()
    assert kept_texts(files).paths == {NAMES[0], NAMES[2]}


def test_a_module_of_protos_alone_has_no_texts(files: ModuleFiles, tmp_path: Path) -> None:
    assert has_texts(files)
    for name in NAMES:
        (tmp_path / name).unlink()
    with open_source(tmp_path) as source:
        (module,) = group(name_files(source)).modules
    assert not has_texts(module)
    assert kept_texts(module).payloads == ()


def test_the_page_is_filled_by_a_script() -> None:
    (section,) = texts_page().sections
    assert (section.key, section.shows) == ("texts", "texts")
