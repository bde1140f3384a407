"""The figures of every instruction of a final snapshot, in columns and pieces.

Name, opcode, shape and computation are in the index of the graph; these columns have the same
order, and the page script combines both into one table.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from xlareport.analysis.cost.costed import CostedModule
from xlareport.analysis.source.locations import op_name_of, places_of
from xlareport.hlo.model import Instruction, InstructionKey
from xlareport.pages import navigation
from xlareport.pages.pictures.snapshot_graph import Interned, fitting
from xlareport.storage.payloads import Payload, make_payload

PIECE = 20_000
"""Instructions in a piece: at a hundred characters each, the most that is loaded at once."""
_LONGEST_TEXT = 400
_DIGITS = 7
"""Of shares: times are made of them, which pages show with four."""

_Placed = tuple[InstructionKey, Instruction]


def instructions_payloads(slug: str, costed: CostedModule) -> Iterator[Payload]:
    """Yield the pieces as files; each has their number, and an empty module has one."""
    computations = list(fitting(costed.hlo))
    placed = [
        ((computation.name, line.name), line)
        for computation in computations
        for line in computation.instructions
    ]
    firsts = range(0, max(1, len(placed)), PIECE)
    figures = _Figures(costed)
    for number, first in enumerate(firsts):
        key = f"{navigation.module_key(slug, 'instructions')}-{number}"
        piece = figures.piece(placed[first : first + PIECE])
        yield make_payload(key, {"pieces": len(firsts), **piece})


class _Figures:
    """The columns that need the cost and the sources of a module."""

    def __init__(self, costed: CostedModule) -> None:
        self._module, self._shares = costed.hlo, costed.shares
        self._place, self._costs = places_of(costed.hlo), costed.cost.instructions

    def piece(self, placed: Sequence[_Placed]) -> dict[str, Any]:
        """Return the columns of some instructions; work and traffic are those of all runs."""
        scopes, sources = Interned(), Interned()
        costs = [self._costs.get(key) for key, _ in placed]
        stored = [cost.of_all_runs(cost.stored_bytes) if cost else None for cost in costs]
        return {
            "flops": [cost.of_all_runs(cost.flops) if cost else None for cost in costs],
            "bytes": [cost.of_all_runs(cost.bytes_accessed) if cost else None for cost in costs],
            "stored": stored if any(size is not None for size in stored) else [],
            "share": [self._share(key) for key, _ in placed],
            "scope": [scopes.number(self._scope(instruction)) for _, instruction in placed],
            "source": [sources.number(self._source(instruction)) for _, instruction in placed],
            "scopes": list(scopes.values),
            "sources": list(sources.values),
        }

    def _share(self, key: InstructionKey) -> float | None:
        share = self._shares.get(key)
        return None if share is None else float(f"{share:.{_DIGITS}g}")

    def _scope(self, instruction: Instruction) -> str:
        return op_name_of(instruction, self._module)[:_LONGEST_TEXT]

    def _source(self, instruction: Instruction) -> str:
        place = self._place(instruction)
        return place.short[:_LONGEST_TEXT] if place else ""
