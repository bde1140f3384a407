"""Which phase of a training step, and which layer, an instruction belongs to.

JAX writes `jvp(...)` around what is differentiated and `transpose(jvp(...))` around its gradient;
TensorFlow writes `gradient_tape/` before the gradient, and nothing before what is differentiated.
What uses a gradient, and is none, updates, and so does what is in the named scope of such an
instruction, and in JAX what only such instructions read, like `0.9 * m` of Adam. Apart are what has
a named scope or a loop of its own, such as forces that are added to a gradient; what is in a scope
that sends parts around a ring (`jax.lax.ppermute`); and what evaluates scopes of the forward pass
again, behind the update. Older JAX marks only ops inside a scope or a traced function: where no
matmul has a mark, the phase of an op without one is not known.
Collectives outside forward and backward, such as those that reduce gradients, are a phase of their
own.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache

from msgspec import Struct

from xlareport.analysis.cost.breakdown import OpKey
from xlareport.analysis.cost.evaluations import Evaluations
from xlareport.analysis.cost.only_uses import IsMember, find_only_for
from xlareport.analysis.source.locations import op_name_of
from xlareport.analysis.source.scopes import (
    CONTROL_FLOW,
    scope_of,
    split_path,
    without_control_flow,
)
from xlareport.hlo.graph import called_computations, callees_first
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import RUNNERS
from xlareport.knowledge.opcodes import is_collective
from xlareport.runtime.remembered import remembered

FORWARD, BACKWARD, UPDATE, OTHER = "forward", "backward", "optimizer", "other"
COLLECTIVES = "collectives outside forward and backward"
UNMARKED = "phase not known"
_BACKWARD = re.compile(r"(?:\A|[/(])transpose\(|(?:\A|/)gradient_tape/|\Agradients/")
_FORWARD = re.compile(r"(?:\A|[/(])jvp\(")
_MARK = re.compile(r"(?:transpose\()?jvp\(")
_PRODUCT = re.compile(r"/(?:dot_general|conv_general_dilated)\Z")
_FUNCTION = re.compile(r"p?jit\(([\w.<>-]{1,200})\)/")
_NUMBERED = re.compile(r"\d")
_WRAPPERS = {"gradient_tape", "gradients", "rematted_computation"}
_COUNT = re.compile(r"_\d+\Z", re.ASCII)
_VERSION = re.compile(r"v\d+\Z", re.ASCII)


class OperationNames(Struct, frozen=True):
    """A module's names of TensorFlow operations, each of which may be a scope of its own."""

    paths: frozenset[str] = frozenset()
    """Whole op_names."""
    types: frozenset[str] = frozenset()
    """Types, `matmul` of `MatMul`."""


_NO_OPERATIONS = OperationNames()
_LOOP = re.compile(r"(?:\A|/)while/body(?:/|\Z)")


def is_gradient(instruction: Instruction, module: HloModule) -> bool:
    """Return whether an instruction computes a gradient, by its op_name."""
    return bool(_BACKWARD.search(op_name_of(instruction, module)))


def is_forward(instruction: Instruction, module: HloModule) -> bool:
    """Return whether an instruction belongs to the forward pass, by its op_name."""
    return is_forward_op(op_name_of(instruction, module))


def is_forward_op(op_name: str) -> bool:
    """Return whether an op_name is of the forward pass."""
    return bool(_FORWARD.search(op_name)) and not _BACKWARD.search(op_name)


@remembered  # cost, skeleton and pictures ask for that of the same final snapshot
def key_by_phase(module: HloModule) -> OpKey | None:
    """Return a key that names the phase of an op, empty without an op_name.

    None where the module has no gradient.
    """
    order = callees_first(module) or ()
    gradients = _with_gradients(order, module)
    if not gradients:
        return None
    later = _after_gradients(order, gradients, module)
    names = {op_name_of(instruction, module) for instruction in module.instructions}
    marked = any(map(_FORWARD.search, names))
    unmarked = OTHER if marked else FORWARD
    is_partly_marked = marked and _has_unmarked_products_only(names)
    rings = _scopes_of_rings(names) - {""}
    is_apart = _apart_from_updates(_evaluations(names), rings)
    updates = _update_scopes(module, later) - _scopes_of_passes(names) - rings
    is_known = _ops_known(module)

    def may_update(_: Computation, instruction: Instruction, op_name: str) -> bool:
        is_around = instruction.opcode in RUNNERS and _calls(instruction, gradients)
        is_collected = marked and is_collective(instruction.opcode)
        return not (is_apart(op_name) or is_around or is_collected)

    def updates_itself(computation: Computation, instruction: Instruction, op_name: str) -> bool:
        is_update = instruction.name in later[computation.name] or _named_scope(op_name) in updates
        return is_update and is_known(op_name) and may_update(computation, instruction, op_name)

    may_prepare = _outside_own_scopes(may_update, updates)
    only_for_update = find_only_for(order, module, updates_itself, may_prepare) if marked else {}
    recomputing = _fused_with_gradients(module, gradients)

    def key(computation: Computation, instruction: Instruction, op_name: str) -> str:
        if not is_known(op_name):
            return ""
        if _is_backward(op_name):
            return BACKWARD
        if _FORWARD.search(op_name):
            return BACKWARD if computation.name in recomputing else FORWARD
        if is_partly_marked:
            return UNMARKED
        if marked and is_collective(instruction.opcode):
            return COLLECTIVES
        is_for_update = instruction.name in only_for_update.get(computation.name, ())
        is_used = is_for_update and may_prepare(computation, instruction, op_name)
        is_update = is_used or updates_itself(computation, instruction, op_name)
        return UPDATE if is_update else unmarked

    return key


def _apart_from_updates(evaluations: Evaluations, rings: AbstractSet[str]) -> Callable[[str], bool]:
    """Return whether an op is known to be of a pass over the model: by op_name, no update."""

    @cache  # the instructions of one op have its name
    def is_apart(op_name: str) -> bool:
        is_marked = _is_backward(op_name) or _FORWARD.search(op_name) is not None
        return is_marked or evaluations.holds(op_name) or _named_scope(op_name) in rings

    return is_apart


def _outside_own_scopes(member: IsMember, updates: AbstractSet[str]) -> IsMember:
    """Return what is meant if it has no scope or loop of its own beside those of updates."""

    @cache  # the instructions of one op have its name
    def has_own_scope(op_name: str) -> bool:
        return bool(layer_of(op_name)) and _named_scope(op_name) not in updates

    def is_member(computation: Computation, instruction: Instruction, op_name: str) -> bool:
        return not has_own_scope(op_name) and member(computation, instruction, op_name)

    return is_member


def _ops_known(module: HloModule) -> Callable[[str], bool]:
    """Return whether an op_name is that of an op, by its scope or type.

    TensorFlow's have no slash outside of scopes, `Relu`, nor have those of arguments.
    """
    typed = frozenset(
        instruction.metadata.op_name
        for instruction in module.instructions
        if instruction.metadata.op_type and instruction.opcode != "parameter"
    )
    return lambda op_name: "/" in op_name or op_name in typed


def _fused_with_gradients(module: HloModule, gradients: set[str]) -> frozenset[str]:
    """Return the computations of fusions that compute gradients.

    What such a kernel computes of the forward pass, it computes again, in the backward pass.
    """
    kernels = (
        instruction
        for instruction in module.instructions
        if instruction.opcode == "fusion" and _calls(instruction, gradients)
    )
    return frozenset(called_computations(module, kernels))


def _has_unmarked_products_only(names: AbstractSet[str]) -> bool:
    """Return whether matmuls and convolutions of JAX have op_names, and none of these a mark."""
    products = [name for name in names if _PRODUCT.search(name)]
    return bool(products) and not any(
        _FORWARD.search(name) or _is_backward(name) for name in products
    )


def _evaluations(names: AbstractSet[str]) -> Evaluations:
    passes = {name for name in names if _FORWARD.search(name) or _is_backward(name)}
    return Evaluations(passes, names - passes)


def _scopes_of_rings(names: AbstractSet[str]) -> set[str]:
    """Return the named scopes in which the program sends parts around a ring: no update does."""
    return {_named_scope(name) for name in names if name.endswith("/ppermute")}


def _scopes_of_passes(names: AbstractSet[str]) -> set[str]:
    """Return the named scopes of both passes.

    What is in one of these without a mark is not differentiated, such as a mask or a key of random
    numbers: it updates only if it uses gradients itself.
    """
    return {_named_scope(name) for name in names if _FORWARD.search(name) or _is_backward(name)}


@lru_cache(maxsize=1 << 14)
def _named_scope(op_name: str) -> str:
    return "/".join(without_control_flow(scope_of(op_name).split("/")))


def _update_scopes(module: HloModule, later: Mapping[str, set[str]]) -> set[str]:
    """Return the named scopes of instructions that use gradients and are none."""
    op_names = {
        op_name_of(instruction, module)
        for computation, instruction in module.placed
        if instruction.name in later.get(computation.name, ())
    }
    return {
        _named_scope(op_name)
        for op_name in op_names
        if layer_of(op_name) and not _FORWARD.search(op_name) and not _is_backward(op_name)
    }


IN_A_LOOP = "(in a loop, no layer named)"
"""The layer of instructions in a loop over layers that have no named scope."""


def key_by_layer(module: HloModule) -> OpKey:
    """Return a key that names the layer of an op, `layer_3`, empty where no scope is named.

    That is the scope as far as the first level with a number, else its first level. Levels of
    control flow and the texts of einsums are left out; what is only in a loop is so named. Where
    scopes are differentiated, those around them are left out too: they hold all layers.
    """
    operations = _operations(module)

    @cache  # the instructions of one op have its name
    def layer(op_name: str) -> str:
        return layer_of(op_name, operations)

    def key(_: Computation, __: Instruction, op_name: str) -> str:
        return layer(op_name)

    return key


def layer_of(op_name: str, operations: OperationNames = _NO_OPERATIONS) -> str:
    """Return the layer in an op_name; empty where it names none.

    The name of the whole function, which random number generation repeats, is none.
    """
    function = _FUNCTION.match(op_name)
    whole = function[1] if function else ""
    levels = _named_levels(_differentiated(op_name), whole) or _named_levels(op_name, whole)
    if "(" not in op_name:
        levels = list(_above_operations(levels, operations))
    numbered = (place for place, level in enumerate(levels) if _NUMBERED.search(level))
    if levels:
        return "/".join(levels[: next(numbered, 0) + 1])
    return IN_A_LOOP if _LOOP.search(op_name) else ""


def _differentiated(op_name: str) -> str:
    """Return the part of an op_name that is differentiated; empty where there is none."""
    parts = split_path(op_name.partition(";")[0])
    first = next((at for at, part in enumerate(parts) if _MARK.match(part)), len(parts))
    return "/".join(parts[first:])


def _named_levels(op_name: str, whole: str) -> list[str]:
    """Return the levels of a scope that name parts of a model."""
    return [
        level
        for level in scope_of(op_name).split("/")
        if level
        and level != whole
        and level not in CONTROL_FLOW | _WRAPPERS
        and "->" not in level
        and "(" not in level
    ]


def _operations(module: HloModule) -> OperationNames:
    """Return operations by op_names without parentheses: those of JAX have them."""
    named = [
        instruction.metadata
        for instruction in module.instructions
        if "(" not in instruction.metadata.op_name
    ]
    return OperationNames(
        paths=frozenset(metadata.op_name for metadata in named),
        types=frozenset(_bare(metadata.op_type) for metadata in named),
    )


def _above_operations(levels: Sequence[str], operations: OperationNames) -> Iterator[str]:
    """Yield levels as far as the first that is the scope of an operation, or of its gradient."""
    for place, level in enumerate(levels, 1):
        if level.endswith("_grad") or _bare(level) in operations.types:
            return
        if "/".join(levels[:place]) in operations.paths:
            return
        yield level


def _bare(operation: str) -> str:
    """Return `add` of a scope `add_1` and of the type `AddV2`."""
    name = _COUNT.sub("", operation.lower()).replace("_", "")
    return _VERSION.sub("", name)


@lru_cache(maxsize=1 << 14)  # the instructions of one op have its name
def _is_backward(op_name: str) -> bool:
    return _BACKWARD.search(op_name) is not None


def _with_gradients(order: tuple[Computation, ...], module: HloModule) -> set[str]:
    """Return the computations that contain an instruction of a gradient, at any depth."""
    with_gradients: set[str] = set()
    for computation in order:
        if any(
            _is_backward(op_name_of(instruction, module)) or _calls(instruction, with_gradients)
            for instruction in computation.instructions
        ):
            with_gradients.add(computation.name)
    return with_gradients


def _after_gradients(
    order: tuple[Computation, ...], gradients: set[str], module: HloModule
) -> Mapping[str, set[str]]:
    """Return, by computation, the instructions that use a gradient, callers before callees."""
    later: dict[str, set[str]] = defaultdict(set)
    for computation in reversed(order):
        later_names, makers = later[computation.name], set[str]()
        fixed = _fixed(computation, gradients)
        for instruction in computation.instructions:
            if instruction.name in fixed:
                continue
            used = [name in later_names or name in makers for name in instruction.operand_names]
            if any(used):
                later_names.add(instruction.name)
            is_gradient_op = _is_backward(op_name_of(instruction, module))
            if is_gradient_op or _calls(instruction, gradients):
                makers.add(instruction.name)
            for callee, parameter in _given(instruction, used, module):
                later[callee].add(parameter)
    return later


def _calls(instruction: Instruction, computations: set[str]) -> bool:
    return any(name in computations for _, name in instruction.called)


def _fixed(computation: Computation, gradients: set[str]) -> set[str]:
    """Return the instructions that read no values: zeros that a gradient starts from are none."""
    fixed: set[str] = set()
    for instruction in computation.instructions:
        is_passed = instruction.opcode == "parameter"
        if is_passed or _calls(instruction, gradients):
            continue
        if fixed.issuperset(instruction.operand_names):
            fixed.add(instruction.name)
    return fixed


def _given(
    instruction: Instruction, used: list[bool], module: HloModule
) -> Iterator[tuple[str, str]]:
    """Yield (computation, parameter) of callees whose argument depends on a gradient."""
    for _, name in instruction.called:
        callee = module.by_name.get(name)
        parameters = callee.parameters if callee and any(used) else ()
        one_by_one = len(parameters) == len(used)
        for place, parameter in enumerate(parameters):
            if not one_by_one or used[place]:
                yield name, parameter.name
