import pytest

from xlareport.dump.contents import FIRST_BYTES, kind_by_content
from xlareport.dump.tokens import table
from xlareport.dump.vocabulary import kinds


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
    assert {row["kind"] for row in table("contents")["content"]} <= set(kinds())
