"""Spilled registers in logs, as releases of XLA have written them."""

from tests.readers.parsers import Parser, without_problems

from xlareport.readers.spill_log import LoggedSpill, read_spill_log

SPILLS = (
    b"I0211 1 77 amdgpu_backend.cc:1] Register spilling in kernel 'k_1' (SGPR: 4, VGPR: 9) in m\n"
    b"W ptxas warning : Registers are spilled to local memory in function 'k.1', 8 bytes spill "
    b"stores, 4 bytes spill loads\n"
)
PARSERS = (Parser(without_problems(read_spill_log), SPILLS, says=False),)
"""For `tests/properties/test_parsers.py`."""


OF_2026 = (
    b"I0211 10:00:00.1 77 amdgpu_backend.cc:1010] Register spilling in kernel 'fusion_3' (SGPR: 4, "
    b"VGPR: 194) in jit_step\n"
    b"I0211 10:00:00.1 77 amdgpu_backend.cc:1022] Stack usage in kernel 'fusion_3' (private: 780, "
    b"dynamic: false) in jit_step\n"
)
OF_DECEMBER_2025 = (
    b"I1215 10:00:00.1 77 amdgpu_backend.cc:505] Register spilling (SGPR: 0, VGPR: 12) detected in "
    b"triton_softmax_consts\n"
)
FIRST = (
    b"I0000 00:00:1764849271.079538 2923925 amdgpu_backend.cc:447] ====== REGISTER SPILLING "
    b"DETECTED ======\n"
    b"I0000 00:00:1764849271.079561 2923925 amdgpu_backend.cc:448] Module: triton_softmax_consts\n"
    b"I0000 00:00:1764849271.079565 2923925 amdgpu_backend.cc:449] SGPR spill count: 0\n"
    b"I0000 00:00:1764849271.079569 2923925 amdgpu_backend.cc:450] VGPR spill count: 194\n"
    b"I0000 00:00:1764849271.079571 2923925 amdgpu_backend.cc:451] Private segment size: 780\n"
)
NVIDIA = (
    b"2026-01-02 03:04:05 W cuda_asm_compiler.cc:397] ptxas warning : Registers are spilled to "
    b"local memory in function 'triton_gemm_dot.7', 228 bytes spill stores, 88 bytes spill loads\n"
)


def test_every_form() -> None:
    log = b"other\n" + OF_2026 + OF_DECEMBER_2025 + FIRST + NVIDIA + OF_2026
    assert read_spill_log(log) == (
        LoggedSpill("fusion_3", "jit_step", 4, 194),
        LoggedSpill("", "triton_softmax_consts", 0, 12),
        LoggedSpill("", "triton_softmax_consts", 0, 194),
        LoggedSpill("triton_gemm_dot.7", "", store_bytes=228, load_bytes=88),
    )


def test_a_log_without_any() -> None:
    assert read_spill_log(b"No register spilling detected in jit_step\n") == ()
