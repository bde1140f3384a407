"""Evaluations behind the update of a training step."""

from xlareport.analysis.cost.evaluations import Evaluations

FORWARD = "jit(step)/jvp(model)/layer_1/mlp/dot_general"
BACKWARD = "jit(step)/transpose(jvp(model))/layer_1/mlp/dot_general"


def held(*others: str, passes: tuple[str, ...] = (FORWARD, BACKWARD)) -> list[bool]:
    evaluations = Evaluations(passes, others)
    return [evaluations.holds(other) for other in others]


def test_a_scope_that_runs_the_layers_again_is_an_evaluation() -> None:
    product = "jit(step)/evaluate/layer_1/mlp/dot_general"
    rest = "jit(step)/evaluate/layer_1/mlp/tanh"
    assert held(product, rest) == [True, True]


def test_an_update_without_layers_is_none() -> None:
    assert held("jit(step)/adam/dot_general", "jit(step)/adam/mul") == [False, False]


def test_without_a_product_nothing_was_evaluated() -> None:
    assert held("jit(step)/evaluate/layer_1/mlp/tanh") == [False]


def test_without_a_forward_pass_there_is_no_evaluation() -> None:
    assert held("jit(step)/evaluate/layer_1/mlp/dot_general", passes=()) == [False]
