"""Helper modules, recognized by their own contents alone."""

import re
from collections.abc import Callable

from xlareport.analysis.modules.features import is_random_generator
from xlareport.analysis.modules.module_role import ModuleRole, Role
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.dump.module_names import explain_module
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS
from xlareport.runtime.remembered import remembered

SEED_BYTES = 1024
"""Limit on argument bytes of a module that makes random numbers or weights: keys and sizes."""

_EAGER_OPERATIONS = 20
_WITHOUT_STACK = 12
_SCALAR_BYTES = 8
_FEW = 4
_FEW_RESULTS = 2
_MOVES = frozenset({"convert", "reshape", "bitcast-convert", "copy-start", "copy-done"})
_CUTS = frozenset({"slice", "reshape", "concatenate"})
"""Opcodes that cut an array or join its parts."""
_LAYING_OUT = _MOVES | _CUTS | {"copy", "transpose", "broadcast", "dynamic-slice", "pad"}
"""Opcodes that only rearrange values."""
_AROUND = frozenset({"broadcast", "reshape", "convert", "transpose"})


@remembered  # ranking asks for it once for each piece of evidence
def classify_helper(summary: ModuleSummary) -> Role | None:
    """Return the role of a helper: random numbers, cast or transfer, eager op."""
    for judge in _JUDGES:
        role = judge(summary)
        if role is not None:
            return role
    return None


def is_own_function(summary: ModuleSummary) -> bool:
    """Return whether a function of the module's name is on the stack of its own instructions.

    An operation outside of jit is named for the operation, a jitted function for itself.
    """
    name = summary.display_name.removeprefix("jit_")
    if name.strip("_<>") == "unnamed_function":
        return True  # an object that is called, or a partial application: it has no name to bear
    called = {function.rsplit(".", 1)[-1] for function in summary.features.functions}
    return name in called or ("<lambda>" in called and name.strip("_<>") == "lambda")


def _move(summary: ModuleSummary) -> Role | None:
    doing = dict(summary.features.operations)
    named = _other_operation(summary)
    if not doing and summary.features.given.arguments:
        if named:
            return Role(
                ModuleRole.EAGER_OP,
                f"its name is that of {named}, an operation of JAX, which changes nothing here",
            )
        return Role(ModuleRole.TRANSFER, "it returns its arguments and computes nothing")
    if named:
        return None  # such as a division of integers: two converts, and what it is named for
    if "convert" in doing and doing.keys() <= _MOVES:
        return Role(ModuleRole.TRANSFER, "it only converts its arguments")
    few, converts = summary.features.operation_count <= _EAGER_OPERATIONS, doing.get("convert", 0)
    computing = sum(count for opcode, count in doing.items() if opcode not in _LAYING_OUT)
    if few and 2 * converts > sum(doing.values()) and converts >= 2 * computing:
        return Role(ModuleRole.TRANSFER, "it mostly converts its arguments")
    return None


_OTHER_ROLES = re.compile(
    r"_?(?:convert|astype|bitcast|stage|identity|copy|device_put|pjit|array\Z"
    r"|threefry|random|uniform|normal|truncated_normal|randint|shuffle|bernoulli|gumbel|categorical)"
)
"""Begins of names of operations of JAX that convert, move, or make random numbers."""


def _other_operation(summary: ModuleSummary) -> str:
    """Return the operation of JAX that a module is named for, unless its role is another one."""
    entry = explain_module(summary.display_name)
    is_operation = entry.helper and not is_own_function(summary)
    return entry.display if is_operation and not _OTHER_ROLES.match(entry.display) else ""


def _random(summary: ModuleSummary) -> Role | None:
    """Return the role of random number generators: many bits from tiny arguments, little work."""
    given, doing = summary.features.given, dict(summary.features.operations)
    if given.argument_bytes > SEED_BYTES or doing.keys() & MATRIX_PRODUCTS or "scatter" in doing:
        return None
    if _makes_a_key(summary):
        return Role(ModuleRole.RANDOM_NUMBERS, "it makes a key of random numbers from a seed")
    if not is_random_generator(summary.features) or len(summary.features.places) > 1:
        return None
    if len(given.results) > _FEW_RESULTS:
        return None
    return Role(
        ModuleRole.RANDOM_NUMBERS, "from a key of a few bytes it makes random bits, and little else"
    )


def _makes_a_key(summary: ModuleSummary) -> bool:
    given, doing = summary.features.given, dict(summary.features.operations)
    shapes = {result.shape for result in given.results}
    small = given.argument_bytes <= _SCALAR_BYTES
    return small and shapes <= {"u32[2]", "u32[4]"} and "shift-right-logical" in doing


def _eager(summary: ModuleSummary) -> Role | None:
    """Recognize an operation that ran outside of jit: few operations, from one place."""
    count, doing = summary.features.operation_count, dict(summary.features.operations)
    if summary.origin.frontend not in ("jax", None) or is_own_function(summary):
        return None
    if not explain_module(summary.display_name).helper and _may_be_a_program(summary):
        return None
    places, stack = summary.features.places, summary.features.functions
    from_one_place = len(places) == 1 or (not places and bool(stack))
    if count == 1 or (_basic(doing) == 1 and count <= _FEW):
        return Role(ModuleRole.EAGER_OP, f"it came in with one operation, {_main_opcode(doing)}")
    compound = doing.keys() & (MATRIX_PRODUCTS | {"while"})
    named = _other_operation(summary)
    if named and len(places) <= 1 and not compound:
        of_line = " and all of it comes from one line" if places else ""
        return Role(
            ModuleRole.EAGER_OP,
            f"its name is that of {named}, an operation of JAX,{of_line}".rstrip(","),
        )
    # Without a stack a small function of one line looks the same as an operation of many steps.
    most = _EAGER_OPERATIONS if stack else _WITHOUT_STACK
    little = count <= most or doing.keys() <= _CUTS
    if from_one_place and little and not compound:
        reason = f"it came in with {count} operations, all made by one call in the source"
        return Role(ModuleRole.EAGER_OP, reason)
    return None


_OF_PROGRAMS = re.compile(r"(?:\A|_)(?:init|train|step|update|loss|forward|predict|eval|apply)")


def _may_be_a_program(summary: ModuleSummary) -> bool:
    """Return whether a module that has no name of JAX's own may be a function of the user.

    A kernel that the user wrote is one custom call.
    """
    named_so = _OF_PROGRAMS.search(summary.display_name.removeprefix("jit_")) is not None
    return named_so or "custom-call" in dict(summary.features.operations)


def _basic(doing: dict[str, int]) -> int:
    """Count the operations that are not there only to fit shapes and types."""
    return sum(count for opcode, count in doing.items() if opcode not in _AROUND)


def _main_opcode(doing: dict[str, int]) -> str:
    return next((opcode for opcode in doing if opcode not in _AROUND), next(iter(doing)))


_JUDGES: tuple[Callable[[ModuleSummary], Role | None], ...] = (_move, _random, _eager)
