"""Evaluations behind the update of a training step, which repeat scopes of the forward pass."""

from collections.abc import Iterable

from xlareport.analysis.source.scopes import CONTROL_FLOW, plain_path, scope_of, split_path

_PRODUCTS = frozenset({"dot_general", "conv_general_dilated"})

ScopeLevels = tuple[str, ...]


class Evaluations:
    """The scopes of evaluations among the ops that are neither forward nor backward.

    What uses gradients and is none is taken for the optimizer. An evaluation behind the update uses
    them too, through the updated parameters. It runs named scopes of the forward pass, with their
    matrix products, in a scope of its own.
    """

    def __init__(self, passes: Iterable[str], others: Iterable[str]) -> None:
        """Find them by the op_names of both passes, and of the other ops that use gradients."""
        every = set(passes)
        self._inside = {level for op_name in every for level in _inside(op_name)}
        paths = {_levels(op_name) for op_name in every}
        around = {path[:end] for path in paths for end in range(len(path) + 1)}
        self._scopes = {
            scope
            for op_name in set(others)
            if op_name.rpartition("/")[2] in _PRODUCTS and (scope := self._scope(op_name, around))
        }

    def _scope(self, op_name: str, around: set[ScopeLevels]) -> ScopeLevels:
        """Return the scope that runs scopes of the forward pass, or the first of these itself."""
        levels = _levels(op_name)
        first = next((at for at, level in enumerate(levels) if level in self._inside), None)
        if first is None:
            return ()
        return levels[: first + 1] if levels[:first] in around else levels[:first]

    def holds(self, op_name: str) -> bool:
        """Return whether an op is in the scope of an evaluation."""
        levels = _levels(op_name) if self._scopes else ()
        return any(levels[:end] in self._scopes for end in range(1, len(levels) + 1))


def _levels(op_name: str) -> ScopeLevels:
    levels = scope_of(op_name).split("/")
    return tuple(level for level in levels if level and level not in CONTROL_FLOW)


def _inside(op_name: str) -> ScopeLevels:
    """Return the scopes that are differentiated, without those around."""
    parts = split_path(op_name)
    start = next((at for at, part in enumerate(parts) if "jvp(" in part), len(parts))
    levels = plain_path("/".join(parts[start:])).split("/")[:-1]
    return tuple(level for level in levels if level)
