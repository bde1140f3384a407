from collections.abc import Callable
from pathlib import Path

import pytest
from tests.readers.parsers import Parser, without_problems

from xlareport.readers.kernels import llvm_kernels, object_kernels, ptx_kernels

LLVM = b"""define ptx_kernel void @add_1(ptr %a) #0 {
define internal void @"x y"(ptr %a) {
!0 = !{ptr @"add", !"kernel", i32 1}
"""
PTX = b".version 8.0\n.visible .entry add_1(\n.param .u64 a\n)\n"
PARSERS = (
    Parser(without_problems(llvm_kernels), LLVM, says=False),
    Parser(without_problems(ptx_kernels), PTX, says=False),
    Parser(without_problems(object_kernels), b"\x7fELF\x02\x01" + bytes(200), says=False),
)
"""For `tests/properties/test_parsers.py`."""


def test_entries_of_ptx() -> None:
    text = b".visible .entry loop_add_fusion(\n .param .u64 x\n)\n.func helper()\n.entry $b ()"
    assert ptx_kernels(text) == ("loop_add_fusion", "$b")
    assert ptx_kernels(b"") == ()


def test_marked_kernels_of_llvm_come_alone() -> None:
    text = (
        b"define ptx_kernel void @fusion_26(ptr noalias %arg0) #6 {\n"
        b"define internal float @region_1(float %x) {\ndefine void @other() {\n"
    )
    assert llvm_kernels(text) == ("fusion_26",)


def test_kernels_noted_at_the_end() -> None:
    text = b'define void @a() {\n}\ndefine void @b() {\n}\n!1 = !{ptr @b, !"kernel", i32 1}\n'
    assert llvm_kernels(text) == ("b",)


def test_cpu_functions_that_can_be_called() -> None:
    text = (
        b'define noalias noundef ptr @"multiply_add_fusion.1"(ptr %0) {\n'
        b"define internal void @helper(ptr %0) {\ndeclare void @outside()\n"
    )
    assert llvm_kernels(text) == ("multiply_add_fusion.1",)


def test_a_kernel_of_its_own(unpacked: Callable[[str], Path]) -> None:
    files = sorted(unpacked("jax-cpu-train-allformats").rglob("*.o"))
    assert files
    for file in files:
        assert all(name.isprintable() for name in object_kernels(file.read_bytes()))
        assert object_kernels(file.read_bytes())


def test_a_whole_program(unpacked: Callable[[str], Path]) -> None:
    names = [
        object_kernels(path.read_bytes()) for path in unpacked("jax-0.4.13-cpu-train").rglob("*.o")
    ]
    assert any(name.startswith("main") for found in names for name in found)


@pytest.mark.parametrize("cut", [0, 4, 20, 40, 64, 100, 300, 700, -1, -40])
def test_a_file_cut_off_anywhere_is_no_fault(unpacked: Callable[[str], Path], cut: int) -> None:
    path = min(unpacked("jax-cpu-train-allformats").rglob("*.o"))
    assert isinstance(object_kernels(path.read_bytes()[:cut]), tuple)


def test_sizes_that_lie_are_no_fault() -> None:
    head = b"\x7fELF\x02\x01" + b"\xff" * 200
    assert object_kernels(head) == ()
