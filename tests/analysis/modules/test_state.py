"""State: a step returns what it takes; who only takes it, looks at it."""

from msgspec.structs import replace
from tests.analysis import texts
from tests.analysis.conftest import Compile

from xlareport.analysis.modules.state import (
    count_state_arguments,
    find_state_readers,
    is_training_step,
    updates_state,
)


def test_an_evaluation_looks_at_what_a_step_updates(compiled: Compile) -> None:
    step, evaluation, report = compiled(
        {
            "module_0000.jit_train.before_optimizations.txt": texts.train(),
            "module_0002.jit_eval.before_optimizations.txt": texts.evaluate(),
            "module_0004.jit_report.before_optimizations.txt": texts.SUMMARY,
        }
    )
    assert updates_state(step)
    assert not updates_state(evaluation)
    working = replace(step, matrix_flops=8, origin=replace(step.origin, frontend="jax"))
    assert is_training_step(working, ["forward", "backward"])
    assert not is_training_step(working, ["forward"])
    assert is_training_step(replace(working, origin=replace(step.origin, frontend=None)), [])
    assert not is_training_step(replace(working, matrix_flops=0), ["backward"])
    assert count_state_arguments(evaluation, step) == 2
    assert count_state_arguments(report, step) == count_state_arguments(step, evaluation) == 0
    assert find_state_readers([step, evaluation, report]) == {
        step.files.key: {evaluation.files.key}
    }
