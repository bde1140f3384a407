"""Everything in a module that has a history worth asking for, each once."""

from collections.abc import Iterator

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.subjects import Subject
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.sides.facts import facts_of
from xlareport.analysis.source.inlined_op_names import whole_op_name
from xlareport.hlo.model import Computation, HloModule


def list_subjects(snapshots: SnapshotSequence) -> Iterator[Subject]:
    """Yield each instruction of the last snapshot outside of fusions, then the ops of the first.

    An op is all instructions with one op_name; an instruction without op_name is its own subject.
    """
    last = len(snapshots.modules) - 1
    for place in _outside_of_fusions(snapshots.modules[last]):
        yield Subject(str(place), last, (place,))
    for name, places in _ops(snapshots.modules[0]).items():
        yield Subject(name, 0, tuple(places))


def _outside_of_fusions(module: HloModule) -> Iterator[Place]:
    inside = _fused(module)
    for computation in module.computations:
        if computation.name not in inside:
            yield from _places(computation)


def _fused(module: HloModule) -> set[str]:
    """Return the computations that a fusion calls, or that are applied to scalars."""
    callees: set[str] = set()
    for computation in module.computations:
        for call in facts_of(computation).calls:
            if call.instruction.opcode == "fusion" or call.attribute == "to_apply":
                callees.add(call.callee)
    return callees


def _ops(module: HloModule) -> dict[str, list[Place]]:
    places: dict[str, list[Place]] = {}
    for computation in module.computations:
        for line, place in zip(computation.instructions, _places(computation), strict=True):
            name = whole_op_name(module, computation, line)
            places.setdefault(name or str(place), []).append(place)
    return places


def _places(computation: Computation) -> Iterator[Place]:
    for line in computation.instructions:
        yield Place(computation.name, line.name)
