"""Helpers by their contents: casts, transfers, random numbers, operations outside of jit."""

import pytest
from msgspec.structs import replace
from tests.analysis.modules.small_summaries import argument, small_summary

from xlareport.analysis.modules.features import Features
from xlareport.analysis.modules.helper_modules import (
    SEED_BYTES,
    classify_helper,
    is_own_function,
)
from xlareport.analysis.modules.module_role import ModuleRole, Role
from xlareport.analysis.modules.signature import Result, Signature
from xlareport.analysis.modules.summary import ModuleSummary

GIVEN = Signature((argument(0, 16),), (Result("f32[4]", 16),), 1)
KEY = Signature((argument(0, 8),), (Result("u32[2]", 8),), 1)
BITS = (("shift-right-logical", 20), ("xor", 20), ("shift-left", 20), ("or", 20), ("add", 40))


def module(name: str, *operations: tuple[str, int], **changes: object) -> ModuleSummary:
    given = changes.pop("given", GIVEN)
    functions = changes.pop("functions", ())
    places = changes.pop("places", ("f.py:1:1",))
    features = Features(given, operations, places, functions)  # type: ignore[arg-type]
    return replace(small_summary(name), features=features, **changes)  # type: ignore[arg-type]


def role(summary: ModuleSummary) -> str | None:
    judged: Role | None = classify_helper(summary)
    return judged.name if judged else None


@pytest.mark.parametrize(
    ("name", "operations", "expected"),
    [
        ("jit_f", (), ModuleRole.TRANSFER),
        ("jit_f", (("convert", 2), ("reshape", 1)), ModuleRole.TRANSFER),
        ("jit_f", (("convert", 5), ("slice", 1), ("add", 1)), ModuleRole.TRANSFER),
        ("jit_multiply", (), ModuleRole.EAGER_OP),
        ("jit_multiply", (("multiply", 1),), ModuleRole.EAGER_OP),
        ("jit_f", (("broadcast", 3), ("add", 1)), ModuleRole.EAGER_OP),
        ("jit_f", (("dot", 3), ("add", 3)), None),
        ("jit_train_step", (("add", 3), ("multiply", 3)), None),
        ("jit_f", (("custom-call", 1), ("add", 3)), None),
    ],
)
def test_few_operations_from_one_place_are_a_helper(
    name: str, operations: tuple[tuple[str, int], ...], expected: str | None
) -> None:
    assert role(module(name, *operations)) == expected


def test_a_module_that_is_called_as_its_own_function_is_no_operation() -> None:
    own = module("jit_f", ("add", 1), functions=("main.f",))
    other = module("jit_f", ("add", 1), functions=("main.g",))
    assert [is_own_function(summary) for summary in (own, other)] == [True, False]
    assert [role(own), role(other)] == [None, ModuleRole.EAGER_OP]
    assert is_own_function(module("jit__lambda_", functions=("main.<lambda>",)))
    assert is_own_function(module("jit__unnamed_function_"))


def test_without_a_stack_fewer_operations_are_one_call() -> None:
    operations = (("add", 8), ("multiply", 8))
    assert role(module("jit_f", *operations)) is None
    assert role(module("jit_f", *operations, functions=("lib.g",))) == ModuleRole.EAGER_OP
    several = module("jit_f", *operations, functions=("lib.g",), places=("a:1:1", "b:2:1"))
    assert role(several) is None


def test_a_key_from_a_seed_is_random_numbers() -> None:
    made = module("jit_f", *BITS, given=KEY)
    assert role(made) == ModuleRole.RANDOM_NUMBERS
    large = replace(KEY, arguments=(argument(0, SEED_BYTES + 4),))
    assert role(module("jit_f", *BITS, given=large)) is None
    assert role(module("jit_f", *BITS, ("dot", 1), given=KEY)) is None
