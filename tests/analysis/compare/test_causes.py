"""Why two dumps differ: small pairs of dumps in which one thing was changed."""

from pathlib import Path

import pytest
from tests.analysis.compare.conftest import compared

from xlareport.analysis.compare.causes import Cause, shown_passes
from xlareport.knowledge.grades import Grade

GIVEN = """HloModule jit_f

ENTRY %main (x: f32[64,64], w: f32[64,64]) -> f32[64,64] {
  %x = f32[64,64]{1,0} parameter(0), metadata={op_name="x"}
  %w = f32[64,64]{1,0} parameter(1), metadata={op_name="w"}
  %dot = f32[64,64]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/dot_general" source_file="m.py" source_line=3}
  ROOT %tanh = f32[64,64]{1,0} tanh(%dot), metadata={op_name="jit(f)/tanh"}
}
"""
FINAL = GIVEN.replace("HloModule jit_f", "HloModule jit_f, is_scheduled=true")


def dump(folder: Path, given: str = GIVEN, final: str = FINAL, **more: str) -> Path:
    folder.mkdir()
    texts = {"before_optimizations.txt": given, "cpu_after_optimizations.txt": final, **more}
    for ending, text in texts.items():
        name = ending if ending.startswith("module_") else f"module_0001.jit_f.{ending}"
        (folder / name).write_text(text)
    return folder


def causes(base: Path, head: Path) -> tuple[Cause, ...]:
    return compared(base, head).causes


def test_equal_dumps_differ_for_no_reason(tmp_path: Path) -> None:
    assert causes(dump(tmp_path / "a"), dump(tmp_path / "b")) == ()


@pytest.mark.parametrize(
    ("old", "new", "kind", "grade"),
    [
        ("f32[", "bf16[", "dtype", Grade.EXACT),
        ("tanh(", "logistic(", "operations", Grade.EXACT),
        ("64,64", "32,32", "size", Grade.EXACT),
    ],
)
def test_another_program_is_the_cause(
    old: str, new: str, kind: str, grade: Grade, tmp_path: Path
) -> None:
    head = dump(tmp_path / "b", GIVEN.replace(old, new), FINAL.replace(old, new))
    first = causes(dump(tmp_path / "a"), head)[0]
    assert (first.kind, first.grade, first.shown_at) == (kind, grade, ("given", "end"))
    assert len(first.modules) == 1


def test_the_only_cause_has_the_whole_effect(tmp_path: Path) -> None:
    final = FINAL.replace("f32[64,64]", "f32[128,128]")
    given = GIVEN.replace("f32[64,64]", "f32[128,128]")
    (cause,) = causes(dump(tmp_path / "a"), dump(tmp_path / "b", given, final))
    assert cause.effect.seconds is not None
    assert cause.effect.seconds > 0


def test_an_option_comes_before_the_pass_that_shows_it(tmp_path: Path) -> None:
    final = FINAL.replace("tanh(", "logistic(")
    base = dump(tmp_path / "a", debug_options="xla_backend_optimization_level: 1\n")
    head = dump(tmp_path / "b", final=final, debug_options="xla_backend_optimization_level: 0\n")
    kinds = [cause.kind for cause in causes(base, head)]
    assert kinds[0] == "option"
    (option, *_) = causes(base, head)
    assert (option.subject, option.base, option.head) == (
        "xla_backend_optimization_level",
        "1",
        "0",
    )


def test_the_same_program_that_ends_otherwise_is_shown_by_a_pass(tmp_path: Path) -> None:
    head = dump(tmp_path / "b", final=FINAL.replace("tanh(", "logistic("))
    every = causes(dump(tmp_path / "a"), head)
    assert {cause.kind for cause in every} <= {"compiler", "pass"}
    assert every[-1].kind == "pass"


def test_backend_configs_that_autotuning_writes_are_its_cause(tmp_path: Path) -> None:
    call = 'custom-call(%x, %w), custom_call_target="__cublas$gemm", backend_config='
    dot = FINAL[FINAL.index("dot(%x") : FINAL.index(', metadata={op_name="jit(f)/dot')]
    base, head = (
        FINAL.replace(
            dot, call + f'{{"gemm_backend_config":{{"selected_algorithm":"{algorithm}"}}}}'
        )
        for algorithm in (1, 2)
    )
    every = causes(dump(tmp_path / "a", final=base), dump(tmp_path / "b", final=head))
    assert "autotuning" in {cause.kind for cause in every}


def test_a_module_of_one_side_is_a_cause(tmp_path: Path) -> None:
    given, final = (
        text.replace("jit_f", "jit_g").replace("tanh(", "abs(").replace("64", "16")
        for text in (GIVEN, FINAL)
    )
    other = "module_0002.jit_g"
    texts = {
        f"{other}.before_optimizations.txt": given,
        f"{other}.cpu_after_optimizations.txt": final,
    }
    head = dump(tmp_path / "b", **texts)
    (cause,) = (cause for cause in causes(dump(tmp_path / "a"), head) if cause.kind == "modules")
    assert (cause.subject, cause.sentence) == ("head", "Only the head has 1 module: `jit_g`.")


def test_steps_that_passes_show_are_found_in_their_places() -> None:
    def cause(kind: str, *places: str) -> Cause:
        return Cause(kind, "", Grade.EXACT, (), shown_at=places)

    shown = shown_passes(
        [
            cause("pass", "pass-head-12", "end"),
            cause("pass", "parted"),
            cause("option", "pass-base-3"),
        ]
    )
    assert shown == (("head", 12),)
