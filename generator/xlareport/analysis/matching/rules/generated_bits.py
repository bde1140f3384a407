"""A rule for generators of random bits that were written out: `rng-bit-generator` as arithmetic.

XLA's expanders write Philox or ThreeFry: arrays of a fourth or a half of the words, which are
concatenated. They continue no old instruction, even where the program itself has such arithmetic.
"""

from collections.abc import Iterator, Mapping, Sequence

from xlareport.analysis.matching.search.nodes import is_free, origin
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.model import Instruction
from xlareport.hlo.shape import bits_of
from xlareport.runtime.grouping import group_by_key

_GENERATOR, _JOIN = "rng-bit-generator", "concatenate"
_NUMBERS = frozenset({"3528531795", "3449720151", "466688986"})
"""The multipliers of Philox 4x32, and the constant of ThreeFry 2x32."""
_INTEGERS = frozenset({"u32", "u64"})
_WORD = 32
_BLOCKS = (4, 2)
"""Words of a block of Philox, and of ThreeFry."""
_MOST = 5000


def generated_bits(search: Search) -> None:
    """Note what computes the bits of a former generator; it continues nothing else."""
    former = [node for node in search.before.open() if _is_generator(node.instruction)]
    if not former or any(_is_generator(node.instruction) for node in search.after.open()):
        return
    joins = group_by_key(
        (node.instruction.shape.element_count, node)
        for node in search.after.open()
        if node.instruction.opcode == _JOIN and _is_inline(search, node)
    )
    for number, generators in group_by_key((_words(node), node) for node in former).items():
        for generator, results in _owners(generators, number, joins):
            parts = dict.fromkeys(part for node in results for part in _arrays(search, node))
            if parts:
                search.without_origin.update(parts)
                search.generated[generator] = tuple(parts)


def _is_generator(line: Instruction) -> bool:
    return line.opcode == _GENERATOR and bool(line.shape.elements)


def _is_inline(search: Search, node: Node) -> bool:
    """Return whether a node is in the entry or in a fusion, not in what an expander calls."""
    computation = node.frame.computation
    sites = search.after.graph.call_sites(computation.name)
    return all(call.instruction.opcode == "fusion" for _, call in sites)


def _words(generator: Node) -> int:
    """Return how many words of 32 bits a generator gives; 0 where that is not known."""
    bits = generator.instruction.shape.elements[-1]
    return (bits.element_count or 0) * max((bits_of(bits.element_type) or 0) // _WORD, 1)


def _owners(
    generators: Sequence[Node], words: int, joins: Mapping[int | None, Sequence[Node]]
) -> Iterator[tuple[Node, Sequence[Node]]]:
    """Yield generators of one size with the arrays of their words: the only one, or by their op."""
    sizes = dict.fromkeys(-(-words // block) * block for block in _BLOCKS)
    nodes = [node for size in sizes for node in joins.get(size, ())]
    for generator in generators:
        own = [node for node in nodes if origin(node) == origin(generator)]
        alone = len(generators) == 1 or len({*map(origin, generators)}) == len(generators)
        results = nodes if len(generators) == 1 else own
        if words and alone and results:
            yield generator, results


def _arrays(search: Search, result: Node) -> list[Node]:
    """Return the arrays that a result is computed of, itself first; empty if it is no generator."""
    total = result.instruction.shape.element_count or 0
    sizes = {total, *(total // block for block in _BLOCKS)}
    arrays = {result: None}
    waiting, known = [result], False
    for node in waiting:
        for read, path in search.after.graph.operands(node):
            line = read.instruction
            known |= line.opcode == "constant" and line.argument in _NUMBERS
            if path or read in arrays or not is_free(read) or len(waiting) > _MOST:
                continue
            if line.shape.element_count in sizes and line.shape.element_type in _INTEGERS:
                arrays[read] = None
                waiting.append(read)
    return [*arrays] if known else []
