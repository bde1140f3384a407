"""The names that the framework gave to the arguments of a module."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.hlo.model import HloModule

_CALLS = ("jit(", "pjit(", "pmap(", "xla_call(")
"""Beginnings of op_names of operations, which are no names of arguments."""

_STEP = re.compile(r"\[[^\]]{0,200}+\]|\.[^.\[]++|[^.\[]++")
"""A part of `state.params['w'][0]`: a name, an attribute or a key."""

_MANY = 2
"""Half of the arrays of an argument are named with it."""


class NamedArgument(Struct, frozen=True):
    """An argument of the framework's function, of which each array is an entry parameter."""

    name: str
    number: int
    """Among those that the program has; static and unused arguments are none of these."""
    parameters: tuple[int, ...]
    """The numbers of the entry parameters that are arrays, not scalars."""


def split_name(name: str) -> Sequence[str]:
    """Return the parts of an argument's name: of `p['w'].mu`, `p`, `['w']` and `.mu`."""
    return _STEP.findall(name)


def list_arguments(module: HloModule) -> tuple[NamedArgument, ...]:
    """Return the arguments in order; none where a parameter has no name of its own."""
    parameters = module.parameters
    names = name_arguments(module)
    if not parameters or any(parameter.name not in names for parameter in parameters):
        return ()
    arrays: dict[str, list[int]] = defaultdict(list)
    for number, parameter in enumerate(parameters):
        name = names[parameter.name]
        arrays[next(iter(split_name(name)), name)] += [number] if parameter.shape.dimensions else []
    return tuple(
        NamedArgument(name, number, tuple(numbers))
        for number, (name, numbers) in enumerate(arrays.items())
    )


def name_parameters(arguments: Iterable[NamedArgument], numbers: Iterable[int]) -> Iterator[str]:
    """Yield names for entry parameters: ``all arrays of `m` (argument 1)`` if these are all of one.

    Or ``7 of the 8 arrays of `m` (argument 1)``; of fewer than half, the number of each. An
    argument that is one array has no count.
    """
    left = list(numbers)
    for argument in arguments:
        every = len(argument.parameters)
        count = len(set(argument.parameters) & set(left))
        if count and (every == 1 or (count > 1 and _MANY * count >= every)):
            left = [number for number in left if number not in argument.parameters]
            share = "all arrays of " if count == every else f"{count} of the {every} arrays of "
            share = "" if every == 1 else share
            yield f"{share}`{argument.name}` (argument {argument.number})"
    yield from map(str, left)


def name_arguments(module: HloModule) -> Mapping[str, str]:
    """Return the arguments' names by parameter: `{"param.3": "params['emb']"}`.

    JAX writes them as op_names of the entry parameters. An op_name of several parameters is no
    name: PyTorch/XLA gives all of them `xla__device_data`.
    """
    parameters = module.parameters
    names = {parameter.name: parameter.metadata.op_name for parameter in parameters}
    counts = Counter(names.values())
    return {
        parameter: name
        for parameter, name in names.items()
        if counts[name] == 1 and name.isprintable() and name and not name.startswith(_CALLS)
    }
