"""Families of heavy instructions, which passes exchange."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.sides.families import REWRITES, family_of, is_bundle, is_mark
from xlareport.hlo.model import Instruction


def line(text: str) -> Instruction:
    module = parse_module(
        "HloModule m\n\nENTRY e {\n  x = f32[4,4] parameter(0)\n"
        f"  y = f32[4,4] parameter(1)\n  ROOT r = {text}\n}}\n"
    )
    assert module.entry is not None
    assert module.entry.root is not None
    return module.entry.root


def call(target: str, shape: str = "f32[4,4]", operands: str = "x") -> Instruction:
    return line(f'{shape} custom-call({operands}), custom_call_target="{target}"')


@pytest.mark.parametrize(
    ("target", "family"),
    [
        ("__cublas$gemm", "product"),
        ("__onednn$matmul", "product"),
        ("__cudnn$convForward", "product"),
        ("cusolver_potrf", "cholesky"),
        ("blas_strsm", "triangular-solve"),
        ("TopK", "sort"),
        ("my_kernel", "call of my_kernel"),
        ("Sharding", None),
        ("MoveToHost", None),
    ],
)
def test_a_library_call_has_the_family_of_its_work(target: str, family: str | None) -> None:
    assert family_of(call(target)) == family


@pytest.mark.parametrize(
    ("opcode", "family"),
    [("all-reduce-start", "collective"), ("all-reduce-done", None), ("add", None)],
)
def test_of_two_halves_the_start_has_the_family(opcode: str, family: str | None) -> None:
    assert family_of(line(f"f32[4,4] {opcode}(x)")) == family


def test_marks_compute_nothing() -> None:
    assert is_mark(call("Sharding"))
    assert not is_mark(call("__cublas$gemm"))
    assert not is_mark(line("f32[4,4] add(x, y)"))


def test_a_combined_collective_sends_each_operand_by_itself() -> None:
    both = "(f32[4,4], f32[4,4])"
    assert is_bundle(line(f"{both} tuple(x, y)"))
    assert is_bundle(line(f"{both} all-reduce(x, y), to_apply=add"))
    assert is_bundle(call("Sharding", both, "x, y"))
    assert not is_bundle(line(f"{both} all-to-all(x, y)"))
    assert not is_bundle(line("f32[4,4] all-reduce(x)"))


def test_a_rewrite_is_between_two_opcodes() -> None:
    assert all(before != after for before, after in REWRITES)
