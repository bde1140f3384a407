"""Undonated inputs (could alias outputs).

An input and an output have the same type, dimensions and layout, and the input is neither aliased
nor donated. Such inputs total 1 MiB or more. Parameters and optimizer state are the usual case. Use
`donate_argnums`. Do not donate an input that the caller reuses. Outputs that are gradients do not
count, because their parameters are needed to apply them.
"""

from collections.abc import Iterator, Sequence

from xlareport.analysis.cost.donation import find_donations
from xlareport.analysis.cost.phases import is_gradient
from xlareport.analysis.cost.tiling import allocated_size
from xlareport.analysis.findings.finding import Case, Finding
from xlareport.analysis.source.argument_names import list_arguments, name_parameters
from xlareport.hlo.model import HloModule
from xlareport.runtime import units
from xlareport.runtime.english import first_few, listing, plain

_SHOWN = 4
_NAMED = 2
"""Arguments in a heading."""


def undonated_inputs(case: Case) -> Iterator[Finding]:
    """Report inputs of the same form as a free output, large ones together."""
    entry = case.module.entry
    module = case.before or case.module
    pairs = [
        (number, path)
        for number, path in find_donations(case.module).candidates
        if not _is_gradient(module, path)
    ]
    if entry is None or not pairs:
        return
    parameters = [entry.parameters[number] for number, _ in pairs]
    size = sum(allocated_size(parameter.shape) or 0 for parameter in parameters)
    if not case.is_large(size):
        return
    names = list(name_parameters(list_arguments(case.module), [number for number, _ in pairs]))
    whole = [name for name in names if not name.isdecimal()]
    them = "it" if len(pairs) == 1 else "them"
    yield Finding(
        title="Undonated inputs (could alias outputs)",
        places=tuple((entry.name, parameter.name) for parameter in parameters),
        evidence=(
            f"{units.plural(len(pairs), 'input')} ({units.byte_size(size)}) could alias an output "
            f"of the same type, dimensions and layout: {_fits(pairs, names, whole)}. Neither in "
            "`input_output_alias` nor in `buffer_donor`."
        ),
        suggestion=(
            f"Donate {them} (donate_argnums in JAX) if the caller does not reuse {them}, as with "
            f"old parameters and optimizer state. That saves at most {units.byte_size(size)}: less "
            "where temporary buffers use the memory of these outputs now, and need some of their "
            "own then."
        ),
        grade="matched",
        weight=case.time_of_bytes(size),
        bytes=size,
        subject=plain(listing(names)) if whole and len(names) <= _NAMED else "",
    )


def _fits(
    pairs: Sequence[tuple[int, tuple[int, ...]]], names: Sequence[str], whole: Sequence[str]
) -> str:
    """Return the inputs by name where all of an argument are meant, else with their outputs."""
    if whole:
        return first_few(names, _SHOWN)
    fits = ", ".join(f"{number} for {_output(path)}" for number, path in pairs[:_SHOWN])
    return fits if len(pairs) <= _SHOWN else f"{fits}, and so on"


def _is_gradient(module: HloModule, path: tuple[int, ...]) -> bool:
    """Return whether an output is a gradient: the value that it is of is needed to apply it."""
    output = module.entry.root if module.entry else None
    for number in path:
        if output is None or output.opcode != "tuple" or number >= len(output.operands):
            return False
        output = module.entry.by_name.get(output.operands[number]) if module.entry else None
    return output is not None and is_gradient(output, module)


def _output(path: tuple[int, ...]) -> str:
    """Return what an output is called: `output 3`, or the only one."""
    return f"output {'.'.join(map(str, path))}" if path else "the output"
