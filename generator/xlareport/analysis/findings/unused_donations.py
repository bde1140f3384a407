"""Donated inputs without an alias.

The caller donated inputs, but no output is aliased with them. The usual reason is that the new
value has another type, shape or sharding. The finding names a sharding where an output without an
alias has the input's shape before partitioning, but another one on each device.
"""

from collections.abc import Iterator, Mapping, Sequence

from xlareport.analysis.cost.donation import find_donations
from xlareport.analysis.cost.tiling import allocated_size
from xlareport.analysis.findings.finding import MEBIBYTE, Case, Finding, join_names
from xlareport.analysis.source.argument_names import name_arguments
from xlareport.hlo.model import Instruction
from xlareport.hlo.shape import Shape, without_layout
from xlareport.runtime import units

LEAST_BYTES = MEBIBYTE


def unused_donations(case: Case) -> Iterator[Finding]:
    """Report donated inputs whose memory no output takes over, large ones together."""
    entry, given = case.module.entry, find_donations(case.module)
    if entry is None:
        return
    used = {alias.parameter for alias in given.aliases}
    numbers = dict.fromkeys(number for number, _ in given.donors)
    left = [
        entry.parameters[number]
        for number in numbers
        if number not in used and number < len(entry.parameters)
    ]
    size = sum(allocated_size(instruction.shape) or 0 for instruction in left)
    if size < LEAST_BYTES:
        return
    labels = name_arguments(case.module)
    resharded = {
        donated.name: output
        for donated in left
        if (output := _resharded(case, donated)) is not None
    }
    yield Finding(
        title="Donated inputs without an alias",
        places=tuple((entry.name, instruction.name) for instruction in left),
        evidence=(
            f"{units.plural(len(left), 'donated input')} ({units.byte_size(size)}) without an "
            f"aliased output: {join_names(labels.get(line.name, line.name) for line in left)}. "
            f"{_reason(left, labels, resharded)}"
        ),
        suggestion=(
            "Give each such result the sharding of its argument: out_shardings of jax.jit, or "
            "with_sharding_constraint on the new value."
            if len(resharded) == len(left)
            else "Compare shapes and types of the donated inputs with the outputs; a cast or "
            "another sharding of the new value (out_shardings) prevents aliasing."
        ),
        grade="exact",
        weight=case.time_of_bytes(size),
        bytes=size,
    )


def _reason(
    left: Sequence[Instruction], labels: Mapping[str, str], resharded: Mapping[str, Shape]
) -> str:
    """Return why no output takes over the memory."""
    words = ""
    first = next((donated for donated in left if donated.name in resharded), None)
    if first is not None:
        given, returned = (
            without_layout(shape.text) for shape in (first.shape, resharded[first.name])
        )
        words = (
            f"The result in the place of `{labels.get(first.name, first.name)}` is sharded in "
            f"another way: the argument is `{given}` on each device, the result `{returned}`"
        )
        more = len(resharded) - 1
        words += f"; the same is true of {units.plural(more, 'other input')}." if more else "."
    if len(resharded) == len(left):
        return words
    others = "Of the others, no" if words else "No"
    where = "output has the same type, dimensions and layout, or it aliases another input."
    return f"{words} {others} {where}".strip()


def _resharded(case: Case, parameter: Instruction) -> Shape | None:
    """Return the output in the place of a parameter if only the sharding of both differs.

    The program before partitioning has the whole shapes. An optimizer returns new values in the
    order of the old ones.
    """
    whole, entry = case.before.entry if case.before else None, case.module.entry
    number = entry.parameters.index(parameter) if entry else 0
    if whole is None or entry is None or number >= len(whole.parameters):
        return None
    wholes = _elements(whole.root)
    outputs = _elements(entry.root)
    aliased = {alias.output for alias in find_donations(case.module).aliases}
    if len(wholes) != len(outputs) or number >= len(outputs) or (number,) in aliased:
        return None
    is_alike = _form(wholes[number]) == _form(whole.parameters[number].shape)
    is_cut = _form(outputs[number]) != _form(parameter.shape)
    return outputs[number] if is_alike and is_cut else None


def _elements(root: Instruction | None) -> Sequence[Shape]:
    if root is None:
        return ()
    return root.shape.elements if root.shape.element_type == "tuple" else (root.shape,)


def _form(shape: Shape) -> tuple[str, tuple[int | None, ...]]:
    return shape.element_type, shape.dimensions
