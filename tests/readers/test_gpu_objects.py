"""What machine code of GPUs says of its kernels, beside what its compilers print."""

import struct
import subprocess
from pathlib import Path

import pytest
from tests.fixtures.dumps import Unpack
from tests.readers.parsers import DATA, Parser, without_problems

from xlareport.ptxas import PtxasError, compile_ptx, find_ptxas
from xlareport.readers.gpu_objects import read_gpu_object
from xlareport.readers.ptx import read_ptx

AMD = (DATA / "rocm-made/module_0003.jit_sums.hsaco").read_bytes()
PARSERS = (Parser(without_problems(read_gpu_object), AMD, says=False),)
"""For `tests/properties/test_parsers.py`."""


def test_an_amd_code_object(data: Path) -> None:
    """The figures are those of LLVM's own text of the same kernels (llc 14, gfx90a)."""
    content = (data / "rocm-made/module_0003.jit_sums.hsaco").read_bytes()
    first, second = read_gpu_object(content)
    assert (first.name, first.registers, first.shared_bytes, first.spilled_registers) == (
        "loop_add_fusion",
        2,
        0,
        0,
    )
    assert (second.name, second.registers, second.shared_bytes) == (
        "input_reduce_fusion",
        128,
        4096,
    )
    assert second.spilled_registers
    assert second.stack_bytes


def test_other_files() -> None:
    """A file of another kind, or one that is cut off, has no kernels."""
    assert read_gpu_object(b"\x7fELF\x02\x01") == ()
    assert read_gpu_object(b"PK\x03\x04") == ()


def with_note(described: bytes) -> bytes:
    """Return the code object with another note on its kernels."""
    note = struct.pack("<III", 7, len(described), 32) + b"AMDGPU\0\0" + described
    changed = bytearray(AMD + note)
    (headers,) = struct.unpack_from("<Q", AMD, 0x28)
    size, count = struct.unpack_from("<HH", AMD, 0x3A)
    for header in range(headers, headers + size * count, size):
        if struct.unpack_from("<I", AMD, header + 4) == (7,):
            struct.pack_into("<QQ", changed, header + 24, len(AMD), len(note))
    return bytes(changed)


def test_a_note_of_one_kernel() -> None:
    """A note is MessagePack; a figure that is no count is not known."""
    kernel = b"\x82\xa5.name\xa1f\xab.vgpr_count\xff"
    (read,) = read_gpu_object(with_note(b"\x81\xaeamdhsa.kernels\x91" + kernel))
    assert (read.name, read.registers) == ("f", None)


@pytest.mark.parametrize(
    "note",
    [
        *(b"", b"\x07", b"\xd4\0\0", b"\xa1\xff", b"\x81\x81\1\1\1", b"\x91" * 100_000),
        *(b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff"),
    ],
    ids=lambda note: note[:5].hex(),
)
def test_a_damaged_note(note: bytes) -> None:
    """A note that is cut off, nested without end or no map describes no kernels."""
    assert read_gpu_object(with_note(note)) == ()


def test_cubins_say_what_ptxas_prints(unpacked: Unpack, tmp_path: Path) -> None:
    """Registers, stack and static shared memory of cubins of four SM versions."""
    try:
        ptxas = find_ptxas()
    except PtxasError:
        pytest.skip("needs ptxas: pip install 'xlareport[ptxas]'")
    seen = 0
    for file in sorted(unpacked("gpu-kernels").glob("sm_*/*attention*.ptx")):
        kernels = read_ptx(file.read_bytes())
        if not kernels:
            continue
        cubin = tmp_path / "kernel.cubin"
        command = [ptxas.path, f"-arch={kernels[0].target}", "-o", cubin, file]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        printed = {kernel.name: kernel for kernel in compile_ptx(file.read_bytes(), ptxas).kernels}
        for kernel in read_gpu_object(cubin.read_bytes()):
            own = printed[kernel.name]
            figures = (kernel.registers, kernel.shared_bytes, kernel.stack_bytes)
            assert figures == (own.registers, own.shared_bytes, own.stack_bytes)
            seen += 1
    assert seen > 20
