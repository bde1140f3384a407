import base64
from collections.abc import Callable
from typing import TypeAlias

import pytest

from xlareport.analysis.cost.work import InstructionCost, ModuleCost

Count: TypeAlias = Callable[[str], ModuleCost]

GEMM = (
    '(f32[128,256]{1,0}, s8[4194304]{0}) custom-call(a, b), custom_call_target="__cublas$gemm",'
    ' backend_config={"operation_queue_id":"0","gemm_backend_config":{"alpha_real":1,'
    '"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],'
    '"rhs_contracting_dimensions":["0"]}}}'
)
CONVOLUTION = (
    "(f32[8,14,14,16], u8[1024]) custom-call(a, b), window={size=3x3 stride=2x2 pad=1_1x1_1},"
    ' dim_labels=b01f_01io->b01f, custom_call_target="__cudnn$convForward"'
)


def only_call(
    count: Count, instruction: str, operands: tuple[str, ...] = ("f32[128,512]", "f32[512,256]")
) -> tuple[InstructionCost, ModuleCost]:
    parameters = "".join(
        f"  {name} = {one} parameter({n})\n"
        for n, (name, one) in enumerate(zip("ab", operands, strict=False))
    )
    cost = count(f"ENTRY e {{\n{parameters}  ROOT r = {instruction}\n}}")
    return cost.instructions["e", "r"], cost


def test_a_library_product_counts_its_products(count: Count) -> None:
    call, cost = only_call(count, GEMM)
    assert call.flops == 2 * 128 * 256 * 512
    assert (call.grade, call.matrix_flops) == ("matched", (("f32", call.flops),))
    assert cost.xla_flops == -1
    assert cost.unknown_ops == 0


def test_a_library_convolution_counts_as_the_instruction_does(count: Count) -> None:
    operands = ("f32[8,28,28,3]", "f32[3,3,3,16]")
    call, _ = only_call(count, CONVOLUTION, operands)
    plain, _ = only_call(
        count,
        "f32[8,14,14,16] convolution(a, b), window={size=3x3 stride=2x2 pad=1_1x1_1},"
        " dim_labels=b01f_01io->b01f",
        operands,
    )
    assert call.flops == plain.flops > 0


@pytest.mark.parametrize(
    ("target", "operands", "result"),
    [
        ("convBackwardInput", ("f32[8,14,14,16]", "f32[3,3,3,16]"), "f32[8,28,28,3]"),
        ("convBackwardFilter", ("f32[8,28,28,3]", "f32[8,14,14,16]"), "f32[3,3,3,16]"),
    ],
)
def test_gradients_of_a_convolution_take_as_many_products(
    count: Count, target: str, operands: tuple[str, ...], result: str
) -> None:
    forward, _ = only_call(count, CONVOLUTION, ("f32[8,28,28,3]", "f32[3,3,3,16]"))
    text = CONVOLUTION.replace("convForward", target).replace("f32[8,14,14,16]", result)
    assert only_call(count, text, operands)[0].flops == forward.flops


def test_a_kernels_own_estimate(count: Count) -> None:
    call, _ = only_call(
        count,
        'f32[8,8] custom-call(a), custom_call_target="tpu_custom_call", backend_config='
        '{"custom_call_config":{"cost_estimate":{"flops":"1000","transcendentals":7,'
        '"bytes_accessed":"512"},"body":"..."}}',
        ("f32[8,8]",),
    )
    assert (call.flops, call.transcendentals) == (1000, 7)
    assert (call.bytes_read, call.bytes_written) == (256, 256)
    assert call.note == "The kernel's own cost estimate."


def test_marks_cost_nothing(count: Count) -> None:
    _, cost = only_call(count, 'f32[4] custom-call(a), custom_call_target="Sharding"', ("f32[4]",))
    assert (cost.flops, cost.bytes_accessed, cost.unknown_ops) == (0, 0, 0)


@pytest.mark.parametrize(
    "rest",
    [
        'custom_call_target="mystery"',
        'custom_call_target="__cublas$gemm"',
        'custom_call_target="__cublas$gemm", backend_config={"broken',
        'custom_call_target="x", backend_config={"cost_estimate":{"flops":-1}}',
        'custom_call_target="x", backend_config={"cost_estimate":{"flops":true}}',
        'custom_call_target="x", backend_config={"cost_estimate":[]}',
        "api_version=API_VERSION_TYPED_FFI",
    ],
)
def test_others_are_unknown_never_nothing(count: Count, rest: str) -> None:
    if rest.endswith('{"broken'):
        rest += '"}'
    call, cost = only_call(count, f"f32[4] custom-call(a), {rest}", ("f32[4]",))
    assert (call.flops, call.bytes_accessed, call.grade) == (None, None, "guessed")
    assert call.note.startswith("custom call ")
    assert cost.unknown_ops == 1


@pytest.mark.parametrize(
    ("target", "operands", "result", "flops"),
    [
        ("cusolver_potrf_ffi", ("f32[4,90,90]",), "(f32[4,90,90], s32[4])", 4 * 90**3 // 3),
        ("lapack_spotrf_ffi", ("c64[90,90]",), "(c64[90,90], s32[])", 4 * 90**3 // 3),
        ("lapack_dgetrf_ffi", ("f64[90,60]",), "(f64[90,60], s32[60])", 90 * 60**2 - 60**3 // 3),
        ("cusolver_geqrf_ffi", ("f32[90,60]",), "(f32[90,60], f32[60])", 252_000 * 2),
        ("cusolver_syevd_ffi", ("f32[9,30,30]",), "(f32[9,30,30], f32[9,30])", 9 * 9 * 30**3),
        ("lapack_sgesdd_ffi", ("f32[60,30]",), "(f32[60,30], f32[30])", 14 * 60 * 900 + 8 * 30**3),
        ("te_gemm_v2_ffi", ("bf16[64,32]", "bf16[32,16]"), "bf16[64,16]", 2 * 64 * 32 * 16),
        ("te_fused_attn_forward_ffi", ("bf16[2,128,4,64]",) * 2, "bf16[2,128,4,64]", 33_554_432),
        ("__cudnn$fmhaSoftmax", ("bf16[2,128,4,64]",) * 2, "bf16[2,128,4,64]", 33_554_432),
        ("__cudnn$fmhaSoftmaxBackward", ("bf16[2,128,4,64]",) * 2, "bf16[8]", 83_886_080),
        ("__cub$DeviceRadixSort", ("f32[64]",), "f32[64]", 0),
        ("cusparse_csr_matmat_ffi", ("f32[70]", "f32[8,5]"), "f32[9,5]", 2 * 70 * 5),
    ],
)
def test_work_of_libraries_is_their_published_count(
    count: Count, target: str, operands: tuple[str, ...], result: str, flops: int
) -> None:
    names = ", ".join("ab"[: len(operands)])
    call, cost = only_call(
        count, f'{result} custom-call({names}), custom_call_target="{target}"', operands
    )
    assert call.flops == flops
    assert cost.unknown_ops == 0


def test_eigenvalues_alone_take_less_than_with_vectors(count: Count) -> None:
    text = '(f32[30,30], f32[30]) custom-call(a), custom_call_target="lapack_ssyevd_ffi"'
    configs = ("mode = 86 : ui8", "mode = 78 : ui8")
    both, values = (
        only_call(count, f"{text}, backend_config={{{config}}}", ("f32[30,30]",))[0].flops
        for config in configs
    )
    assert (both, values) == (9 * 30**3, 4 * 30**3 // 3)


def test_a_neuron_kernel_states_its_multiply_adds(count: Count) -> None:
    config = base64.b64encode(b'{"mac_count": 500}').decode()
    call, _ = only_call(
        count,
        'f32[8] custom-call(a), custom_call_target="AwsNeuronCustomNativeKernel", '
        f'backend_config="{config}"',
        ("f32[8]",),
    )
    assert call.flops == 1000


def test_what_no_table_has_is_not_known(count: Count) -> None:
    call, cost = only_call(count, 'f32[8] custom-call(a), custom_call_target="mine"', ("f32[8]",))
    assert call.flops is None
    assert cost.unknown_ops == 1


def test_an_eigenvalue_problem_in_four_quarters_counts_the_whole_matrix(count: Count) -> None:
    call, _ = only_call(
        count,
        '(f32[4,64], f32[4,64,64]) custom-call(a, b), custom_call_target="EighTpu"',
        ("f32[4,64,64]", "f32[4,64,64]"),
    )
    assert call.flops == 4 * 9 * 128**3


def test_a_library_triangular_solve_counts_one_triangle(count: Count) -> None:
    call, _ = only_call(
        count,
        'c128[70,12] custom-call(a, b), custom_call_target="lapack_ztrsm_ffi"',
        ("c128[70,70]", "c128[70,12]"),
    )
    assert call.flops == 4 * 70 * 70 * 12
