import pytest

from xlareport.dump.endings import (
    FIRST_BYTES,
    is_ending,
    kind_by_content,
    kind_by_ending,
    kind_by_format,
    kind_by_report,
    read_plain,
)
from xlareport.dump.name_reading import NameReading
from xlareport.dump.tokens import joined, table
from xlareport.knowledge import kinds


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("graph.dot", "hlo-dot"),
        ("kernel.PTX", "ptx"),
        ("nohup.out", "log"),
        ("Makefile", "foreign"),
        (".bashrc", "foreign"),
        ("picture.png", "foreign"),
        ("XLA_FLAGS", "flags"),
        ("result.txt", "unknown"),
        ("word", "unknown"),
        ("", "unknown"),
        ("a.", "unknown"),
    ],
)
def test_a_plain_name_is_told_by_itself_or_by_its_ending(name: str, kind: str) -> None:
    reading = NameReading()

    read_plain(reading, name)

    assert reading.kind == kind
    assert joined(reading.tokens) == name


def test_endings_formats_and_reports_have_kinds() -> None:
    assert kind_by_ending("cubin") == "object"
    assert kind_by_ending("xyz") == "unknown"
    assert kind_by_format("top_level.html") == "hlo-html"
    assert kind_by_report("buffer-assignment-values") == "buffer-values"


def test_endings_are_told_from_names_of_side_files() -> None:
    assert is_ending("txt")
    assert is_ending("ptx")
    assert not is_ending("debug_options")


@pytest.mark.parametrize(
    ("first_bytes", "kind"),
    [
        (b"HloModule jit_f\n", "hlo-text"),
        (b"\n\nHloModule jit_f, is_scheduled=true", "hlo-text"),
        (b"*** Begin module_0000.jit_f.txt ***\n", "log"),
        (b"2026-01-01 compiling\nHloModule f\n", "log"),
        (b"digraph G {\n", "hlo-dot"),
        (b"BufferAssignment:\nallocation 0: size 4", "buffer-assignment"),
        (b"HloLiveRange (max 3):\n", "live-range"),
        (b"\nTotal bytes used: 4 (4B)\n\nUsed values:\n", "buffer-values"),
        (b"Memory Space: default\n  cumulative_size;  size;\n", "memory-report"),
        (b"; ModuleID = '__compute_module'\n", "llvm-ir"),
        (b"//\n.version 8.0\n.target sm_90\n", "ptx"),
        (b"#loc1 = loc(unknown)\nmodule @jit_f {", "mlir"),
        (b"module @jit_f attributes {", "mlir"),
        (b"\x7fELF\x02\x01", "object"),
        (b'xla_dump_to: "/tmp"\n', "flags"),
        (b"node {\n  name: ", "tf-graph"),
    ],
)
def test_the_beginning_of_a_file_tells_its_kind(first_bytes: bytes, kind: str) -> None:
    assert kind_by_content(first_bytes) == kind


@pytest.mark.parametrize("first_bytes", [b"", b"my notes", b"\x00\xff\xfe", b"PK\x03\x04"])
def test_other_files_stay_unknown(first_bytes: bytes) -> None:
    assert kind_by_content(first_bytes) is None


def test_only_the_first_bytes_count() -> None:
    assert kind_by_content(b"x" * FIRST_BYTES + b"\nHloModule f\n") is None


def test_the_table_knows_only_kinds_of_the_vocabulary() -> None:
    assert {row["kind"] for row in table("contents")["content"]} <= set(kinds.all_entries())


def test_the_endings_give_only_known_kinds() -> None:
    endings = table("endings")
    known = set(kinds.all_entries())
    assert set(endings["by_format"].values()) | set(endings["by_report"].values()) <= known
    assert set(endings["by_ending"]) | set(endings["by_name"]) <= known
