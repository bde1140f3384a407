"""State returned in another sharding.

The result in the place of a donated input, the one with its number, has its type and its whole
shape, but another shape on each device: another sharding. The next call then gets the state in the
new sharding. An alias only says which memory a result takes: it may be that of another input of the
same size, and a result without an alias has memory of its own, which may be many times that of the
input. The snapshot before optimization has the whole shapes. Where most aliases are not in order,
only inputs and results without aliases count. The size does not count: a recompilation is expensive
for any.
"""

from collections.abc import Iterator, Sequence

from xlareport.analysis.cost.donation import find_donations
from xlareport.analysis.cost.tiling import allocated_size
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.analysis.source.argument_names import name_arguments
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.shape import Shape, without_layout
from xlareport.runtime import units


def resharded_state(case: Case) -> Iterator[Finding]:
    """Report donated inputs whose results have another sharding, together."""
    entry, resharded = case.module.entry, list_resharded(case)
    if entry is None or not resharded:
        return
    size = sum(allocated_size(donated.shape) or 0 for donated, _ in resharded)
    taken = sum(allocated_size(result) or 0 for _, result in resharded)
    extra = _size_outside_inputs(case.module, resharded)
    apart = units.byte_size(extra)
    own = (
        " A result in the sharding of its input is in the memory of the input; "
        f"{f'these {apart}' if extra == taken else f'{apart} of these'} are extra."
    )
    results, verb = ("result", "is") if len(resharded) == 1 else ("results", "are")
    labels = name_arguments(case.module)
    names = [labels.get(donated.name, donated.name) for donated, _ in resharded]
    donated, result = resharded[0]
    given, returned = (without_layout(shape.text) for shape in (donated.shape, result))
    yield Finding(
        title="State returned in another sharding: a call with it compiles again",
        places=tuple((entry.name, donated.name) for donated, _ in resharded),
        evidence=(
            f"{units.plural(len(names), 'donated input')} ({units.byte_size(size)}) whose "
            f"{results} ({units.byte_size(taken)}) {verb} sharded in another way: "
            f"{join_names(names)}. `{names[0]}` is `{given}` on each device, the result in its "
            f"place `{returned}`.{own if extra else ''} If the next call gets a result of "
            "another sharding, jax.jit compiles the function again, and a compiled one does not "
            "accept it."
        ),
        suggestion=(
            "Give each such result the sharding of its argument: out_shardings of jax.jit, or "
            "with_sharding_constraint on the new value."
        ),
        grade="exact",
        weight=case.time_of_bytes(extra),
        bytes=extra or None,
        severity="medium",
    )


def _size_outside_inputs(module: HloModule, resharded: Sequence[tuple[Instruction, Shape]]) -> int:
    """Return the bytes of the results that are in the memory of no other donated input."""
    aliased = {alias.output for alias in find_donations(module).aliases}
    return sum(
        allocated_size(result) or 0
        for donated, result in resharded
        if (module.parameters.index(donated),) not in aliased
    )


def list_unused(module: HloModule) -> list[Instruction]:
    """Return the donated parameters whose memory no output takes over."""
    parameters, given = module.parameters, find_donations(module)
    used = {alias.parameter for alias in given.aliases}
    numbers = dict.fromkeys(number for number, _ in given.donors)
    return [
        parameters[number] for number in numbers if number not in used and number < len(parameters)
    ]


def list_resharded(case: Case) -> list[tuple[Instruction, Shape]]:
    """Return the donated parameters whose results differ in their sharding alone, with these.

    An optimizer returns new values in the order of the old ones.
    """
    whole, entry = case.before.entry if case.before else None, case.module.entry
    if whole is None or entry is None or case.module.partition_count < 2:
        return []
    wholes, outputs = _elements(whole.root), _elements(entry.root)
    if len(wholes) != len(outputs) or len(whole.parameters) != len(entry.parameters):
        return []
    aliases = find_donations(case.module).aliases
    in_place = sum(alias.output == (alias.parameter,) for alias in aliases)
    is_ordered = 2 * in_place >= len(aliases)
    # A buffer of that shape on each device, of whichever input, can be that of the result.
    aliased = set() if is_ordered else {alias.output for alias in aliases}
    candidates = _list_donated(case.module) if is_ordered else list_unused(case.module)
    return [
        (donated, outputs[number])
        for donated in candidates
        if (number := entry.parameters.index(donated)) < len(outputs)
        and (number,) not in aliased
        and _form(wholes[number]) == _form(whole.parameters[number].shape)
        and _form(outputs[number]) != _form(donated.shape)
    ]


def _list_donated(module: HloModule) -> list[Instruction]:
    """Return the donated parameters, in order, whatever takes over their memory."""
    given = find_donations(module)
    numbers = {number for number, _ in given.donors} | {alias.parameter for alias in given.aliases}
    return [line for number, line in enumerate(module.parameters) if number in numbers]


def _elements(root: Instruction | None) -> Sequence[Shape]:
    if root is None:
        return ()
    return root.shape.elements if root.shape.element_type == "tuple" else (root.shape,)


def _form(shape: Shape) -> tuple[str, tuple[int | None, ...]]:
    return shape.element_type, shape.dimensions
