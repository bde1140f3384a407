"""Names given twice, as only a damaged file has them: the later ones get a mark and a problem."""

from collections.abc import Sequence
from dataclasses import replace

from xlareport.hlo.model import Computation, HloModule
from xlareport.runtime.errors import Problem


class NamesOnce:
    """Gives everything a name of its own; computations that are shared remain shared."""

    def __init__(self) -> None:
        self._known: dict[Computation, Computation] = {}
        self._renamed: dict[tuple[Computation, str], Computation] = {}

    def apply(self, module: HloModule) -> tuple[HloModule, list[Problem]]:
        """Return the module, and what was given twice: the second `x` becomes `x~2`."""
        computations = [self._with_own_names(computation) for computation in module.computations]
        problems = [
            _problem(other.name, f"in %{new.name}")
            for old, new in zip(module.computations, computations, strict=True)
            if old is not new
            for instruction, other in zip(old.instructions, new.instructions, strict=True)
            if instruction is not other
        ]
        names = _own_names([computation.name for computation in computations])
        for place, name in names.items():
            computations[place] = self._renamed.setdefault(
                (computations[place], name), replace(computations[place], name=name)
            )
            problems.append(_problem(name, "among the computations"))
        return (replace(module, computations=tuple(computations)) if problems else module), problems

    def _with_own_names(self, computation: Computation) -> Computation:
        known = self._known.get(computation)
        if known is None:
            names = _own_names([instruction.name for instruction in computation.instructions])
            known = _renamed(computation, names) if names else computation
            self._known[computation] = known
        return known


def _renamed(computation: Computation, names: dict[int, str]) -> Computation:
    instructions = (
        replace(instruction, name=names[place]) if place in names else instruction
        for place, instruction in enumerate(computation.instructions)
    )
    return replace(computation, instructions=tuple(instructions))


def _problem(name: str, where: str) -> Problem:
    first = name.rpartition("~")[0]
    return Problem("", None, f"%{first} is given more than once {where}; one is %{name} here")


def _own_names(names: Sequence[str]) -> dict[int, str]:
    """Return `x~2`, `x~3` by the places of names that came before; empty where none did."""
    taken = set(names)
    if len(taken) == len(names):
        return {}
    result: dict[int, str] = {}
    seen = dict.fromkeys(taken, 0)
    for place, name in enumerate(names):
        seen[name] += 1
        if seen[name] > 1:
            while f"{name}~{seen[name]}" in taken:
                seen[name] += 1
            result[place] = f"{name}~{seen[name]}"
    return result
