"""Operations outside of jit: the function that called them, unless it drives the program."""

from msgspec.structs import replace
from tests.analysis import texts
from tests.analysis.conftest import Compile

from xlareport.analysis.modules.eager import group_eager_functions
from xlareport.analysis.modules.module_role import ModuleRole, Role
from xlareport.analysis.modules.summary import ModuleSummary

MAIN, EAGER = Role(ModuleRole.MAIN, "-"), Role(ModuleRole.EAGER_OP, "-")


def called_by(one: ModuleSummary, key: str, *functions: str) -> ModuleSummary:
    files = replace(one.files, key=key)
    return replace(one, files=files, features=replace(one.features, functions=functions))


def test_a_function_that_ran_several_operations_is_named_with_them(compiled: Compile) -> None:
    (one,) = compiled({"module_0000.jit_f.before_optimizations.txt": texts.EAGER})
    modules = [
        called_by(one, "step", "<module>", "main", "step"),
        *(
            called_by(one, f"e{at}", "<module>", "main", "init.<locals>.<listcomp>")
            for at in range(3)
        ),
        called_by(one, "lonely", "<module>", "main", "other"),
    ]
    (eager_function,) = group_eager_functions(modules, [MAIN, EAGER, EAGER, EAGER, EAGER])
    assert (eager_function.name, eager_function.modules) == ("init", ("e0", "e1", "e2"))
