"""Pairs across the SPMD partitioner that shapes or the places in results contradict."""

from collections.abc import Iterator, Sequence

from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.shardings.written import local_dimensions
from xlareport.knowledge.opcodes import opcode_work

_WORK = opcode_work()
_ELEMENTWISE = _WORK.by_element
_PAIRED = (Relation.SAME, Relation.REPLACED)


def crossing_failures(matching: Matching) -> Iterator[str]:
    """Yield the pairs of a partitioned module that shapes or places contradict.

    The partitioner gives an elementwise operation the shape of a share, as its sharding says, but
    where it divides the operation as its operand is divided: then no other one of its framework op
    is left with that shape. A value that is one element of a result is no other element afterwards.
    """
    if _divides(matching.before, matching.after):
        yield from _of_shapes(matching)
        yield from _of_results(matching)


def _divides(before: HloModule, after: HloModule) -> bool:
    given = [[] if module.entry is None else module.entry.parameters for module in (before, after)]
    old, new = ([line.shape.dimensions for line in lines] for lines in given)
    return len(old) == len(new) and old != new


def _of_shapes(matching: Matching) -> Iterator[str]:
    pairs = [(old, new, _share(old)) for old, new in elementwise_pairs(matching)]
    right = {new for _, new, share in pairs if share == new.shape.dimensions}
    left = {_kind(line, line.shape.dimensions) for line in _lines(matching.after) - right}
    for old, new, share in pairs:
        if share is not None and new not in right and _kind(old, share) in left:
            yield f"%{old.name} {old.shape.text} is %{new.name} {new.shape.text}, not {share}"


def _share(line: Instruction) -> tuple[int, ...] | None:
    return local_dimensions(line.attributes.get("sharding", ""), line.shape.dimensions)


def elementwise_pairs(matching: Matching) -> Iterator[tuple[Instruction, Instruction]]:
    """Yield each elementwise operation with its counterpart of the same opcode."""
    for pairing in matching.pairings:
        if pairing.relation in _PAIRED and pairing.before and pairing.after:
            old = matching.before.find(*pairing.before[0])
            new = matching.after.find(*pairing.after[0])
            if old and new and old.opcode == new.opcode and old.opcode in _ELEMENTWISE:
                yield old, new


def _lines(module: HloModule) -> set[Instruction]:
    return {line for computation in module.computations for line in computation.instructions}


def _kind(
    line: Instruction, shape: Sequence[int | None]
) -> tuple[str, str, tuple[int | None, ...]]:
    return line.opcode, line.metadata.op_name, tuple(shape)


def _of_results(matching: Matching) -> Iterator[str]:
    for old, new in matching.computations.items():
        results = _result(matching.before, old), _result(matching.after, new)
        if len(results[0]) == len(results[1]):
            for before, after in zip(*results, strict=True):
                now = matching.partner_after(Place(old, before))
                name = after if now is None else now.instruction
                if name != after and name in results[1] and results[0].count(before) == 1:
                    yield f"%{before} is %{name}, and %{after} is its element"


def _result(module: HloModule, name: str) -> list[str]:
    computation = module.by_name.get(name)
    root = None if computation is None else computation.root
    return [*root.operand_names] if root is not None and root.opcode == "tuple" else []
