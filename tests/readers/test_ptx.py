"""What a PTX text says of its kernels before registers are allocated."""

from tests.fixtures.dumps import Unpack
from tests.readers.parsers import Parser, without_problems

from xlareport.readers.ptx import read_ptx

PTX = b".version 8.0\n.visible .entry add_1(\n.param .u64 a\n)\n"
PARSERS = (Parser(without_problems(read_ptx), PTX, says=False),)
"""For `tests/properties/test_parsers.py`."""


TEXT = b"""
.version 8.8
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 global_smem[];
.shared .align 4 .b8 outside[12];

.visible .entry first(
    .param .u64 first_param_0
)
.reqntid 16, 16, 1
.minnctapersm 2
{
    .local .align 16 .b8 __local_depot0[944];
    .shared .align 8 .f64 sums[33];
    .shared .align 4 .b8 flag;
    mov.b32 %r1, global_smem;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};
    ret;
}
.visible .entry second(
    .param .u64 second_param_0
)
.maxntid 128
.maxnreg 64
{
    mov.b32 %r1, outside;
    ret;
}
"""


def test_directives_and_variables() -> None:
    """Sizes are products of dimensions; what lies outside counts where it is named."""
    first, second = read_ptx(TEXT)
    assert (first.name, first.target) == ("first", "sm_90a")
    assert (first.threads_required, first.threads_at_most) == (256, 256)
    assert (first.shared_bytes, first.shared_is_dynamic) == (265, True)
    assert first.matrix == "mma.sync"
    assert (second.threads_required, second.threads_at_most) == (None, 128)
    assert (second.registers_at_most, second.shared_bytes) == (64, 12)
    assert (second.shared_is_dynamic, second.matrix) == (False, "")


def test_a_text_without_kernels() -> None:
    """XLA writes empty files for parts that hold no code."""
    assert read_ptx(b"") == ()
    assert read_ptx(b".version 8.8\n.target sm_75\n") == ()


def test_a_name_that_ends_the_text() -> None:
    """A text that is cut off behind a name, and a number that is none."""
    (kernel,) = read_ptx(b".entry cut")
    assert (kernel.threads_required, kernel.shared_bytes, kernel.target) == (None, 0, "")
    (kernel,) = read_ptx(b".target sm_90\n.entry k()\n.maxntid 9999999999999999999999, 2\n{\n}\n")
    assert kernel.threads_at_most is None


def test_every_kernel_of_real_dumps_has_its_block_size(unpacked: Unpack) -> None:
    """Native kernels and Triton's state `.reqntid`; only Triton's ask for dynamic memory."""
    files = sorted(unpacked("gpu-kernels").glob("sm_*/*.ptx"))
    kernels = [kernel for file in files for kernel in read_ptx(file.read_bytes())]
    assert len(kernels) > 20
    assert all(kernel.threads_required for kernel in kernels)
    dynamic = [kernel.name for kernel in kernels if kernel.shared_is_dynamic]
    assert dynamic
    assert all("gemm_fusion" in name or name.startswith("fusion") for name in dynamic)
