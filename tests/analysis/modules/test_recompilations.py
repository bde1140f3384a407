"""Retraces: one function compiled several times, and what differs."""

import pytest
from msgspec.structs import replace
from tests.analysis import texts
from tests.analysis.conftest import Compile

from xlareport.analysis.modules.processes import assign_processes
from xlareport.analysis.modules.recompilations import function_name, group_recompilations


def test_shapes_that_differ_are_told_argument_by_argument(compiled: Compile) -> None:
    modules = compiled(
        {
            "module_0000.jit_f.before_optimizations.txt": texts.train(16),
            "module_0002.jit_g.before_optimizations.txt": texts.EAGER,
            "module_0004.jit_f.before_optimizations.txt": texts.train(32),
        }
    )
    (group,) = group_recompilations(modules, assign_processes(modules))
    assert list(group.modules) == ["module_0000.jit_f", "module_0004.jit_f"]
    (difference,) = group.differences
    assert difference.what == "argument 2 (x): shape"
    assert difference.values == ("f32[16,64]", "f32[32,64]")


def test_a_function_of_the_user_is_no_helper(compiled: Compile) -> None:
    modules = compiled(
        {f"module_000{at}.jit_f.before_optimizations.txt": texts.train(16 * at) for at in (1, 2)}
    )
    (group,) = group_recompilations(modules, assign_processes(modules))
    assert not group.is_helper


def test_a_static_value_shows_as_a_constant(compiled: Compile) -> None:
    body = texts.SUMMARY.replace("%at =", "%n = s32[] constant({})\n  %at =")
    modules = compiled(
        {
            "module_0000.jit_f.before_optimizations.txt": body.format(4),
            "module_0002.jit_f.before_optimizations.txt": body.format(8),
        }
    )
    (group,) = group_recompilations(modules, assign_processes(modules))
    assert [difference.values for difference in group.differences] == [("s32[] 4", "s32[] 8")]


def test_one_name_for_two_functions_is_no_retrace(compiled: Compile) -> None:
    modules = compiled(
        {
            "module_0000.jit__lambda.before_optimizations.txt": texts.train(),
            "module_0002.jit__lambda.before_optimizations.txt": texts.CAST,
        }
    )
    assert group_recompilations(modules, assign_processes(modules)) == ()


def test_different_clusters_are_different_functions(compiled: Compile) -> None:
    attributes = "XlaCompiledKernel_true__XlaNumConstantArgs_0_"
    modules = compiled(
        {
            f"module_0000.cluster_1__{attributes}.before_optimizations.txt": texts.train(),
            f"module_0002.cluster_2__{attributes}.before_optimizations.txt": texts.train(),
        }
    )
    assert group_recompilations(modules, assign_processes(modules)) == ()


def test_modules_that_do_next_to_nothing_are_not_held_for_one_function(compiled: Compile) -> None:
    empty = "  ROOT %a = f32[{}]{{0}} parameter(0)"
    modules = compiled(
        {
            f"module_000{size}.SyncTensorsGraph.before_optimizations.txt": empty.format(size)
            for size in (2, 4)
        }
    )
    assert group_recompilations(modules, assign_processes(modules)) == ()


def test_the_copy_of_another_process_is_no_retrace(compiled: Compile) -> None:
    (one,) = compiled({"module_0000.jit_f.before_optimizations.txt": texts.train()})
    again = replace(one, files=replace(one.files, key="other"))
    assert group_recompilations([one, again], assign_processes([one, again])) == ()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("jit_train_step", "jit_train_step"),
        ("SyncTensorsGraph.717", "SyncTensorsGraph"),
        ("a_inference_step_141__XlaMustCompile_true_config_proto_3_.268", "a_inference_step"),
        ("cluster_0__XlaCompiledKernel_true_.2", "cluster_0"),
        ("cluster_51__XlaCompiledKernel_true__XlaNumConstantArgs_0_.80", "cluster_51"),
        ("_1", "_1"),
    ],
)
def test_names_lose_what_is_counted_up(module: str, name: str) -> None:
    assert function_name(module) == name


def test_one_operation_outside_jit_on_two_lines_is_compiled_for_each_shape(
    compiled: Compile,
) -> None:
    """The lines differ, so that they are no reason; JAX compiles the operation by its name."""
    line = (
        "  ROOT %n = f32[{0}] iota(), iota_dimension=0, "
        'metadata={{source_file="a.py" source_line={0}}}'
    )
    modules = compiled(
        {
            f"module_000{size}.jit_iota.before_optimizations.txt": line.format(size)
            for size in (2, 4)
        }
    )
    (group,) = group_recompilations(modules, assign_processes(modules))
    assert group.reason == "an operation of the same name outside jit"
    assert group.is_helper
