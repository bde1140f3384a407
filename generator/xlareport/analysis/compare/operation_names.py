"""The op that each instruction works for: its own op_name, else that of the value it passes on."""

from collections.abc import Mapping

from xlareport.analysis.source.locations import op_name_of
from xlareport.hlo.graph import callees_first
from xlareport.hlo.model import Computation, HloModule, InstructionKey

_BUNDLES = frozenset({"tuple", "while", "conditional"})
"""Instructions with several values; the op of one value is not passed to the others."""


def name_operations(module: HloModule) -> Mapping[InstructionKey, str]:
    """Return op_names by computation and instruction.

    An instruction without op_name, such as a convert that a pass added, gets that of its operand,
    also through parameters of fusions; if the operand has none, that of its user.
    """
    order = callees_first(module)
    callers_first = module.computations if order is None else order[::-1]
    names: dict[InstructionKey, str] = {}
    fusions: dict[str, InstructionKey] = {}
    for computation in callers_first:
        _name_by_operands(module, computation, names, fusions)
    for computation in callers_first:
        _name_by_users(computation, names, fusions)
    return names


def _name_by_operands(
    module: HloModule,
    computation: Computation,
    names: dict[InstructionKey, str],
    fusions: dict[str, InstructionKey],
) -> None:
    """Name instructions by their own op_name or their operands; record callers of fusions."""
    for instruction in computation.instructions:
        key = computation.name, instruction.name
        read = [names.get((computation.name, name), "") for name in instruction.operand_names]
        if instruction.opcode != "parameter":
            own = op_name_of(instruction, module)
            passed = () if instruction.opcode in _BUNDLES else filter(None, read)
            names[key] = own or next(iter(passed), "")
        if instruction.opcode == "fusion":
            for _, name in instruction.called:
                fusions[name] = key
                fused = module.by_name.get(name)
                for parameter, given in zip(fused.parameters if fused else (), read, strict=False):
                    names[name, parameter.name] = given


def _name_by_users(
    computation: Computation,
    names: dict[InstructionKey, str],
    fusions: Mapping[str, InstructionKey],
) -> None:
    """Name the remaining instructions by their users, and a fusion's root by the fusion."""
    home = computation.name
    for instruction in reversed(computation.instructions):
        if names.get((home, instruction.name)):
            continue
        users = computation.users.get(instruction.name, ())
        using = [names.get((home, user.name), "") for user in users if user.opcode not in _BUNDLES]
        if instruction is computation.root and home in fusions:
            using.append(names[fusions[home]])
        names[home, instruction.name] = next(filter(None, using), "")
