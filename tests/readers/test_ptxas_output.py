"""What `ptxas -v` prints, of several versions."""

from tests.readers.parsers import Parser, of_text

from xlareport.readers.ptxas_output import read_ptxas_fault, read_ptxas_output

PTXAS = (
    b"ptxas info    : Compiling entry function 'add_1' for 'sm_90'\n"
    b"    944 bytes stack frame, 2112 bytes spill stores, 2192 bytes spill loads\n"
    b"ptxas info    : Used 255 registers, used 1 barriers, 4096 bytes smem\n"
)
PARSERS = (Parser(of_text(read_ptxas_output), PTXAS, says=False),)
"""For `tests/properties/test_parsers.py`."""


TWO = """\
ptxas info    : 8 bytes gmem
ptxas info    : Compiling entry function 'input_reduce_fusion' for 'sm_90a'
ptxas info    : Function properties for input_reduce_fusion
    944 bytes stack frame, 2112 bytes spill stores, 2192 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 4096 bytes smem
ptxas info    : Compile time = 366.945 ms
ptxas info    : Compiling entry function 'loop_add_fusion' for 'sm_90a'
ptxas info    : Function properties for helper
    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Function properties for loop_add_fusion
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 18 registers, 380 bytes cmem[0]
"""
"""The function called by the second kernel has figures of its own."""


def test_kernels() -> None:
    """Figures go to the kernel that they are of."""
    first, second = read_ptxas_output(TWO)
    assert (first.name, first.target, first.registers, first.shared_bytes) == (
        "input_reduce_fusion",
        "sm_90a",
        255,
        4096,
    )
    assert (first.stack_bytes, first.spill_store_bytes, first.spill_load_bytes) == (944, 2112, 2192)
    assert (first.barriers, second.barriers) == (1, 0)
    assert (second.registers, second.stack_bytes, second.spill_store_bytes) == (18, 0, 0)


def test_faults() -> None:
    """The first error says why nothing was compiled."""
    text = "ptxas kernel.ptx, line 2; fatal   : Unsupported .version 99.0; current version is '8.8'"
    assert read_ptxas_fault(text) == "Unsupported .version 99.0; current version is '8.8'"
    assert read_ptxas_output(text) == ()
    assert read_ptxas_fault(TWO) == ""


def test_a_kernel_that_was_begun_and_not_ended() -> None:
    """Without a line of registers nothing is known."""
    assert read_ptxas_output("ptxas info : Compiling entry function 'k' for 'sm_75'\n") == ()
