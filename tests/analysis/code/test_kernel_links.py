import pytest
from tests.modules import parse_module

from xlareport.analysis.code.kernel_links import KernelIndex, list_possible_names, name_kernel
from xlareport.hlo.model import HloModule

TEXT = b"""HloModule m

inner {
  p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p)
}

ENTRY main.5 {
  a = f32[4] parameter(0)
  gemm_fusion_dot.3 = f32[4] fusion(a), kind=kCustom, calls=inner
  x.1 = f32[4] negate(a)
  x-1 = f32[4] fusion(a), kind=kLoop, calls=inner
  call.4 = f32[4] call(a), to_apply=inner
  ROOT all-reduce-start = f32[4] negate(x-1)
}
"""


def module() -> HloModule:
    return parse_module(TEXT)


@pytest.mark.parametrize(
    ("kernel", "instruction", "grade"),
    [
        ("gemm_fusion_dot.3_kernel_module", "gemm_fusion_dot.3", "matched"),
        ("gemm_fusion_dot_3", "gemm_fusion_dot.3", "matched"),
        ("__compute_module_x.1", "x.1", "matched"),
        ("x_1", "x-1", "guessed"),
        ("call.4_computation_kernel_module", "call.4", "matched"),
        ("all_reduce_start_fusion", "all-reduce-start", "matched"),
        ("a_elemental_kernel", "a", "matched"),
    ],
)
def test_a_kernel_finds_its_instruction(kernel: str, instruction: str, grade: str) -> None:
    place = KernelIndex(module(), {}).find(kernel)
    assert place is not None
    assert (place.instruction, place.computation, place.grade) == (instruction, "main.5", grade)


def test_the_compilers_own_word_comes_first() -> None:
    index = KernelIndex(module(), {"x_1": ("x.1",)})
    noted = index.find("x_1")
    assert noted is not None
    assert (noted.instruction, noted.grade) == ("x.1", "exact")
    beside = KernelIndex(module(), {}).find("x_1", "x-1")
    assert beside is not None
    assert (beside.instruction, beside.grade) == ("x-1", "exact")


def test_a_whole_computation() -> None:
    whole = KernelIndex(module(), {}).find("main_5")
    assert whole is not None
    assert (whole.computation, whole.instruction) == ("main.5", "")


def test_what_fits_nothing_is_not_found() -> None:
    assert KernelIndex(module(), {}).find("mystery") is None


def test_names() -> None:
    assert name_kernel("a-b.3") == "a_b_3"
    assert list_possible_names("f_kernel_module")[-1] == "f_kernel_module"
    assert "f" in list_possible_names("f_kernel_module")


def test_a_kernel_that_instructions_share_is_linked_to_each_of_them() -> None:
    text = b"""HloModule m

inner {
  p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p)
}

ENTRY main {
  a = f32[4] parameter(0)
  f.1 = f32[4] fusion(a), kind=kLoop, calls=inner, metadata={deduplicated_name="f.1"}
  f.2 = f32[4] fusion(f.1), kind=kLoop, calls=inner, metadata={op_name="x" deduplicated_name="f.1"}
  ROOT f.3 = f32[4] fusion(f.2), kind=kLoop, calls=inner
}
"""
    shared = parse_module(text)
    linked = KernelIndex(shared, {}).find_all("f_1")
    assert [(each.instruction, each.grade) for each in linked] == [
        ("f.1", "exact"),
        ("f.2", "exact"),
    ]
    assert [each.instruction for each in KernelIndex(shared, {}).find_all("f_3")] == ["f.3"]
