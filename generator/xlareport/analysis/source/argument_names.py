"""The names that the framework gave to the arguments of a module."""

from collections import Counter
from collections.abc import Mapping

from xlareport.hlo.model import HloModule

_CALLS = ("jit(", "pjit(", "pmap(", "xla_call(")
"""Beginnings of op_names of operations, which are no names of arguments."""


def name_arguments(module: HloModule) -> Mapping[str, str]:
    """Return the arguments' names by parameter: `{"param.3": "params['emb']"}`.

    JAX writes them as op_names of the entry parameters. An op_name of several parameters is no
    name: PyTorch/XLA gives all of them `xla__device_data`.
    """
    parameters = module.entry.parameters if module.entry else ()
    names = {parameter.name: parameter.metadata.op_name for parameter in parameters}
    counts = Counter(names.values())
    return {
        parameter: name
        for parameter, name in names.items()
        if counts[name] == 1 and name.isprintable() and name and not name.startswith(_CALLS)
    }
