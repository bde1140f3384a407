"""The arguments that a reduction updates: the parameters whose gradients it sums."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from xlareport.analysis.collectives.find import Collective
from xlareport.analysis.cost.activations import JOINS
from xlareport.analysis.cost.donation import find_donations
from xlareport.analysis.source.argument_names import name_arguments
from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS, REARRANGEMENTS, REDUCING_COLLECTIVES
from xlareport.runtime.graphs import reachable

_UPDATE = "dynamic-update-slice"
_MIXING = MATRIX_PRODUCTS | {"custom-call", "gather", "scatter", "sort"}
"""Their result has no element that is of one element of an operand."""
_SAME = REARRANGEMENTS | {"async-done", "convert", "copy-done", "copy-start", "get-tuple-element"}
_Value = tuple[str, str, int]
"""A computation, an instruction in it, and the number of elements; 0 of a tuple of results."""


class UpdatedArguments:
    """The arguments of a module that are updated with what its collectives reduce.

    Of each an output has the memory (`input_output_alias`), and is computed from the argument, and
    element by element from the reduced value, or from the values of all iterations of a loop.
    """

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._outputs = list(_list_outputs(module))
        self._names = name_arguments(module)

    def of(self, collective: Collective) -> tuple[str, ...]:
        """Return the names of the arguments that a collective updates, in order."""
        module, entry = self._module, self._module.entry
        if collective.kind not in REDUCING_COLLECTIVES or entry is None or not self._outputs:
            return ()
        start = (collective.computation, collective.parts[-1], 0)
        reduced = reachable([start], lambda value: _following(module, value))
        names = {name for home, name, _ in reduced if home == entry.name}
        updated = (
            number
            for number, output in self._outputs
            if _is_update(module, output, entry.parameters[number], names)
        )
        lines = (entry.parameters[number] for number in sorted(updated))
        return tuple(self._names[line.name] for line in lines if line.name in self._names)


def _list_outputs(module: HloModule) -> Iterator[tuple[int, Instruction]]:
    """Yield the outputs that have the memory of an argument, with its number."""
    entry = module.entry
    aliases = find_donations(module).aliases if "input_output_alias" in module.header else ()
    root = entry.root if entry is not None else None
    if entry is None or root is None:
        return
    for alias in aliases:
        if alias.parameter < len(entry.parameters) and len(alias.output) == 1:
            output = entry.operand(root, alias.output[0])
            if output is not None:
                yield alias.parameter, output


def _following(module: HloModule, value: _Value) -> Iterator[_Value]:
    """Yield what is computed element by element from a value, and stacks of it."""
    home, name, count = value
    computation = module.by_name[home]
    shape = computation.by_name[name].shape
    count = count or (0 if shape.elements else shape.element_count or 0)
    for user in computation.users.get(name, ()):
        counts = {part.element_count or 0 for part in user.shape.members}
        if user.opcode == "get-tuple-element" and not count:
            yield home, user.name, user.shape.element_count or 0
        elif _is_slice(module, user):
            yield home, user.name, user.shape.elements[1].element_count or 0
        elif user.call_target == JOINS:
            yield home, user.name, user.shape.element_count or 0
        elif user.opcode == "tuple":
            yield from _of_loop(module, computation, user, name, count)
        elif user.opcode in REDUCING_COLLECTIVES and user.shape.elements:
            yield from _of_member(computation, user, name, count)
        elif count > 1 and count in counts and not _opcodes(module, user) & _MIXING:
            yield home, user.name, count
        elif 1 < count < max(counts) and _UPDATE in _opcodes(module, user):
            yield home, user.name, max(counts)


def _of_member(
    computation: Computation, combined: Instruction, name: str, count: int
) -> Iterator[_Value]:
    """Yield the results of a combined reduction for a value among its operands."""
    places = {place for place, known in enumerate(combined.operand_names) if known == name}
    for user in computation.users.get(combined.name, ()):
        if user.opcode == "get-tuple-element" and user.taken_element in places:
            yield computation.name, user.name, count


def _of_loop(
    module: HloModule, body: Computation, state: Instruction, name: str, count: int
) -> Iterator[_Value]:
    """Yield what a loop returns of a value that its body hands on to the next iteration."""
    outer, loop = module.only_loops.get(body.name) or (None, None)
    if outer is None or loop is None or not state.is_root:
        return
    places = {place for place, known in enumerate(state.operand_names) if known == name}
    for user in outer.users.get(loop.name, ()):
        if user.opcode == "get-tuple-element" and user.taken_element in places:
            yield outer.name, user.name, count


def _is_slice(module: HloModule, line: Instruction) -> bool:
    """Return whether an instruction starts the copy of a slice, alone."""
    wrapped = module.callee(line) if line.opcode == "async-start" else None
    root = None if wrapped is None else wrapped.root
    return root is not None and root.opcode == "slice" and len(line.shape.elements) > 1


def _opcodes(module: HloModule, line: Instruction) -> set[str]:
    inside = called_computations(module, (line,)) if line.opcode == "fusion" else ()
    parts = (part for name in inside for part in module.by_name[name].instructions)
    return {line.opcode, *(part.opcode for part in parts)}


def _is_update(
    module: HloModule, output: Instruction, parameter: Instruction, reduced: AbstractSet[str]
) -> bool:
    """Return whether the kernel that makes an output of the entry reads both for it."""
    entry = module.entry
    if entry is None:
        return False
    *_, first = moves = _moves(module, entry, output.name)
    taken = next((line.taken_element for line in moves if line.taken_element is not None), None)
    operands = _operands_of(module, first, taken)
    reads_parameter = any(parameter in _moves(module, entry, name) for name in operands)
    return reads_parameter and not reduced.isdisjoint(operands)


def _operands_of(module: HloModule, kernel: Instruction, number: int | None) -> list[str]:
    """Return the operands from which a kernel computes one of its results."""
    fused = module.callee(kernel) if kernel.opcode == "fusion" else None
    root = fused.root if fused is not None else None
    if fused is None or root is None:
        return list(kernel.operand_names)
    result = fused.operand(root, number) if number is not None else root
    if result is None:
        return []
    lines = {*reachable([result.name], lambda name: _operand_names(fused, name))}
    pairs = zip(fused.parameters, kernel.operand_names, strict=False)
    return [operand for parameter, operand in pairs if parameter.name in lines]


def _operand_names(computation: Computation, name: str) -> list[str]:
    return [
        known for known in computation.by_name[name].operand_names if known in computation.by_name
    ]


def _moves(module: HloModule, entry: Computation, name: str) -> list[Instruction]:
    """Return a value with what it was before it was moved or converted, the first value last.

    Of a value that is joined from slices, what the first slice was.
    """

    def before(known: str) -> list[str]:
        line = entry.by_name[known]
        moves = line.opcode in _SAME or line.call_target == JOINS or _is_slice(module, line)
        return _operand_names(entry, known)[:1] if moves else []

    return (
        [entry.by_name[known] for known in reachable([name], before)]
        if name in entry.by_name
        else []
    )
