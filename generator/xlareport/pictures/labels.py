"""Where a reader looks for an instruction: phase, layer or scope, else the line of the source.

`jit(step)/transpose(jvp(model))/h_3/mlp/dot_general` is `backward`, `model`, `h_3`, `mlp`.
"""

import re
from collections.abc import Mapping, Sequence

from xlareport.analysis.cost.phases import key_by_phase
from xlareport.analysis.source.locations import op_name_of, places_of
from xlareport.analysis.source.scopes import CONTROL_FLOW, scope_of, split_path
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.pictures.value_flow import ValueFlow

_MOST_LEVELS = 12
_NO_SCOPES = CONTROL_FLOW | {"rematted_computation", "gradient_tape", "checkpoint", "closed_call"}

_LINE = re.compile(r":(?:\d+|\?)(?: \(\d+\))?\Z")

ScopePath = tuple[str, ...]
"""From the phase inwards; empty where nothing is known."""


def is_line(word: str) -> bool:
    """Whether a word of a path is a source line, `train.py:12`, rather than a scope."""
    return _LINE.search(word) is not None


class PathFinder:
    """Finds the paths of instructions; what is known of the whole module is looked at once."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._phase = key_by_phase(module)
        self._place = places_of(module)

    def paths(
        self, computation: Computation, drawn: Sequence[Instruction], flow: ValueFlow
    ) -> Mapping[str, ScopePath]:
        """Return the path of each drawn instruction of a computation.

        An instruction without op_name and source line has that of its first user, else that of its
        last operand.
        """
        paths = {
            instruction.name: path
            for instruction in drawn
            if (path := self._own_path(computation, instruction)) is not None
        }
        _fill([instruction.name for instruction in drawn], paths, flow)
        return paths

    def _own_path(self, computation: Computation, instruction: Instruction) -> ScopePath | None:
        op_name = op_name_of(instruction, self._module)
        phase = self._phase(computation, instruction, op_name) if self._phase else ""
        scopes = _scopes(op_name)
        line = None if scopes else self._place(instruction)
        if not op_name and line is None:
            return None
        words = (phase, *scopes, line.short if line else "")
        return tuple(word for word in words if word)[:_MOST_LEVELS]


def _scopes(op_name: str) -> ScopePath:
    words = split_path(scope_of(op_name))
    return tuple(word for word in words if word and word not in _NO_SCOPES and "->" not in word)


def _fill(names: Sequence[str], paths: dict[str, ScopePath], flow: ValueFlow) -> None:
    users: dict[str, str] = {}
    for name in names:
        for source in flow.sources(name):
            users.setdefault(source, name)
    for name in reversed(names):
        if name not in paths and (user := users.get(name)) in paths:
            paths[name] = paths[user]
    for name in names:
        known = [source for source in flow.sources(name) if source in paths]
        if name not in paths and known:
            paths[name] = paths[max(known, key=flow.places.__getitem__)]
