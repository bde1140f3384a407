"""Roles: what is in a module decides, whatever its name is."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.analysis import texts
from tests.analysis.conftest import Compile

from xlareport.analysis.modules.ranking import guess_main, rank_modules
from xlareport.analysis.modules.roles import assign_roles
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.report import BuildOptions, read_report

PROGRAM = {
    "jit_seed": (texts.SEED, "random numbers"),
    "jit_init": (texts.INIT, "initialization"),
    "jit_scale": (texts.EAGER, "eager op"),
    "jit_astype": (texts.CAST, "cast or transfer"),
    "jit_train": (texts.train(), "main"),
    "jit_eval": (texts.evaluate(), "evaluation"),
    "jit_report": (texts.SUMMARY, "report or summary"),
}


def played(summaries: list[ModuleSummary]) -> list[str]:
    roles = assign_roles(summaries, guess_main(rank_modules(summaries)))
    assert all(one.reason for one in roles)
    return [one.name for one in roles]


@pytest.mark.parametrize("named", [True, False])
def test_each_part_of_a_program_is_known_by_its_contents(compiled: Compile, *, named: bool) -> None:
    files = {
        f"module_{2 * at:04d}.{name if named else f'm{at}'}.before_optimizations.txt": text
        for at, (name, (text, _)) in enumerate(PROGRAM.items())
    }
    assert played(compiled(files)) == [role for _, role in PROGRAM.values()]


def test_the_only_module_is_no_guess(compiled: Compile) -> None:
    train = {"module_0000.jit_train.before_optimizations.txt": texts.train()}
    alone, together = compiled(train), compiled({**train, "module_0001.jit_s.txt": texts.SEED})

    (only,) = assign_roles(alone, guess_main(rank_modules(alone)))
    best, _ = assign_roles(together, guess_main(rank_modules(together)))
    assert (only.name, only.reason) == ("main", "it is the only module of the dump")
    assert best.reason == "it is the best guess for the main program"


def test_a_small_training_step_is_a_program_and_not_unknown(compiled: Compile) -> None:
    """It returns one array updated, and costs next to nothing beside the largest program."""
    step = """\
  %w = f32[8] parameter(0)
  %x = f32[8] parameter(1)
  %d = f32[8] multiply(%w, %x)
  %e = f32[8] subtract(%d, %x)
  %f = f32[8] multiply(%e, %x)
  %g = f32[8] tanh(%f)
  ROOT %n = f32[8] subtract(%w, %g)"""
    files = {
        "module_0000.jit_solve.before_optimizations.txt": texts.train(512),
        "module_0002.jit_train_step.before_optimizations.txt": step,
        "module_0004.jit_smooth.before_optimizations.txt": step,
    }
    assert played(compiled(files)) == ["main", "main", "unknown"]


def test_a_kernel_and_an_initialization_of_the_user_are_no_operations_outside_jit(
    compiled: Compile,
) -> None:
    kernel = """\
  %x = f32[512,512] parameter(0)
  ROOT %k = f32[512,512] custom-call(%x), custom_call_target="tpu_custom_call" """
    start = "  %one = f32[] constant(1)\n  ROOT %w = f32[64,32] broadcast(%one), dimensions={}"
    files = {
        "module_0000.jit_train.before_optimizations.txt": texts.train(),
        "module_0002.jit_blend.before_optimizations.txt": kernel,
        "module_0004.jit_init.before_optimizations.txt": start,
    }
    roles_of_all = played(compiled(files))
    assert "eager op" not in roles_of_all
    assert roles_of_all[2] == "initialization"


def test_an_operation_of_jax_is_no_cast_because_of_what_fits_its_types(compiled: Compile) -> None:
    divide = """\
  %a = s32[4] parameter(0)
  %b = s32[4] parameter(1)
  %x = f32[4] convert(%a)
  %y = f32[4] convert(%b)
  ROOT %d = f32[4] divide(%x, %y)"""
    mix = (
        divide.replace("ROOT %d", "%d")
        + """
  %z = f32[4] convert(%a)
  ROOT %m = f32[4] multiply(%d, %z)"""
    )
    nothing = "  ROOT %x = f32[4,4] parameter(0)"
    sharded = """\
  %x = f32[64,512] parameter(0)
  ROOT %s = f32[64,512] custom-call(%x), custom_call_target="Sharding", sharding={replicated}"""
    expected = {
        "true_divide": (divide, "eager op"),
        "broadcast_in_dim": (nothing, "eager op"),
        "convert_element_type": (nothing, "cast or transfer"),
        "mix": (mix, "unknown"),
        "_threefry_split.5": (mix, "random numbers"),
        "reshard": (sharded, "cast or transfer"),
    }
    files = {"module_0000.jit_train.before_optimizations.txt": texts.train()} | {
        f"module_{2 * at:04d}.jit_{name}.before_optimizations.txt": text
        for at, (name, (text, _)) in enumerate(expected.items(), 1)
    }
    found = dict(zip(["train", *expected], played(compiled(files)), strict=True))
    del found["train"]
    assert found == {name: role for name, (_, role) in expected.items()}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("downsample", "unknown"),
        ("denoise", "unknown"),
        ("layer_normalize", "unknown"),
        ("symmetric_part", "unknown"),
        ("retrieval", "unknown"),
        ("sample_posterior", "evaluation"),
        ("make_noise", "random numbers"),
        ("log_metrics", "report or summary"),
    ],
)
def test_a_word_in_the_middle_of_another_names_no_role(
    compiled: Compile, name: str, role: str
) -> None:
    own = """\
  %x = f32[6] parameter(0)
  %d = f32[6] multiply(%x, %x)
  %e = f32[6] subtract(%d, %x)
  %t = f32[6] tanh(%e)
  ROOT %r = f32[3] slice(%t), slice={[0:3]}"""
    files = {
        "module_0000.jit_train.before_optimizations.txt": texts.train(),
        f"module_0002.jit_{name}.before_optimizations.txt": own,
    }
    assert played(compiled(files))[1] == role


def test_all_compilations_of_the_main_function_are_the_main_program(compiled: Compile) -> None:
    files = {
        "module_0000.jit_f.before_optimizations.txt": texts.train(16),
        "module_0002.jit_f.before_optimizations.txt": texts.train(32),
    }
    assert played(compiled(files)) == ["main", "main"]


def test_what_has_passes_and_no_beginning_was_cut_out_of_another_module(compiled: Compile) -> None:
    files = {
        "module_0000.jit_f.before_optimizations.txt": texts.train(),
        "module_0003.fused.0000.p.after_a.before_b.txt": texts.EAGER,
    }
    assert played(compiled(files)) == ["main", "part of another compilation"]


def test_what_could_not_be_read_is_unknown(compiled: Compile) -> None:
    files = {
        "module_0000.jit_f.before_optimizations.txt": texts.train(),
        "module_0002.jit_g.before_optimizations.html": "",
    }
    assert played(compiled(files))[1] == "unknown"


def test_pieces_of_autotuning_in_a_real_dump(unpacked: Callable[[str], Path]) -> None:
    folder = unpacked("gpu-h100x2-train")
    report = read_report(folder, BuildOptions())
    found = {module.name: module.role for module in report.modules}
    assert found.pop("jit_train_step") == "main"
    assert set(found.values()) == {"module extracted for autotuning"}
