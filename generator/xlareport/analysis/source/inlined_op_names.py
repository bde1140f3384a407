"""Op_names as inlining makes them: inside of a called computation they are relative to the call.

XLA's inliner puts the op_name of the call before them, so the final snapshot has the whole names.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, islice

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.remembered import remembered

_MOST_CALLS = 64
"""Limit on calls of one computation that are distinguished."""
_LONGEST = 2000
_NONE = ("",)
_FLATTENED = frozenset({"async-start", "conditional", "fusion", "while"})
"""What calls computations that inlining reaches; it leaves those of reductions and sorts alone."""
_Scopes = Mapping[str, Sequence[str]]


def join_op_names(outer: str, op_name: str) -> str:
    """Return the op_name that an instruction has when a call with op_name `outer` is inlined."""
    if not outer or not op_name or op_name.partition("/")[0] == outer.partition("/")[0]:
        return op_name
    return f"{outer}/{op_name}"


def whole_op_names(
    module: HloModule, computation: Computation, instruction: Instruction
) -> tuple[str, ...]:
    """Return the op_names of an instruction, one for each call around it; none without any."""
    op_name = instruction.metadata.op_name
    return (
        _inside_scopes(_find_scopes(module).get(computation.name, _NONE), op_name)
        if op_name
        else ()
    )


def whole_op_names_in(module: HloModule, computation: Computation) -> Sequence[str]:
    """Return the distinct op_names of the instructions of a computation, in order."""
    op_names = dict.fromkeys(line.metadata.op_name for line in computation.instructions)
    scopes = _find_scopes(module).get(computation.name, _NONE)
    every = (_inside_scopes(scopes, op_name) for op_name in op_names if op_name)
    return [*dict.fromkeys(chain.from_iterable(every))]


def _inside_scopes(scopes: Sequence[str], op_name: str) -> tuple[str, ...]:
    """Return the op_names that an op_name becomes inside of calls with the op_names `scopes`."""
    return tuple(dict.fromkeys([join_op_names(scope, op_name) for scope in scopes]))


def whole_op_name(module: HloModule, computation: Computation, instruction: Instruction) -> str:
    """Return the op_name that inlining makes; as written where several calls make several."""
    names = whole_op_names(module, computation, instruction)
    return names[0] if len(names) == 1 else instruction.metadata.op_name


def sole_scope(module: HloModule, computation: str) -> str:
    """Return what inlining puts before the op_names of a computation; empty if several calls do."""
    scopes = _find_scopes(module).get(computation, _NONE)
    return scopes[0] if len(scopes) == 1 else ""


@remembered
def _find_scopes(module: HloModule) -> _Scopes:
    """Return the op_names of the calls around each computation; none for those outside of calls."""
    calling = chain.from_iterable(computation.calling for computation in module.computations)
    if all(instruction.opcode != "call" for instruction in calling):
        return {}
    scopes: dict[str, dict[str, None]] = {}
    for computation in reversed(module.computations):
        around = scopes.get(computation.name, dict.fromkeys(_NONE))
        for instruction in computation.calling:
            for _, callee in instruction.called:
                inner_scopes = [inlined_prefix(outer, instruction) for outer in around]
                held = scopes.setdefault(callee, {})
                held.update(dict.fromkeys(islice(inner_scopes, _MOST_CALLS - len(held))))
    return {name: tuple(held) for name, held in scopes.items() if tuple(held) != _NONE}


def inlined_prefix(outer: str, caller: Instruction) -> str:
    """Return the prefix that inlining adds to the op_names of the computations that are called."""
    if caller.opcode != "call":
        return outer if caller.opcode in _FLATTENED else ""
    return join_op_names(outer, caller.metadata.op_name)[:_LONGEST] or outer
