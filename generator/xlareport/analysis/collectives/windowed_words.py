"""Sentences on a permute of a collective matmul: of which product, of which value, which hop."""

from collections.abc import Sequence

from xlareport.analysis.collectives.argument_values import describe_value
from xlareport.analysis.collectives.partitioning import Counterpart, PartitioningStep
from xlareport.analysis.collectives.windowed_rings import Ring
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.opcode_groups import CONTRACTIONS
from xlareport.hlo.shardings.written import local_dimensions
from xlareport.knowledge.grades import Grade
from xlareport.runtime import english

_MOST_HOPS = 3
_DIRECTIONS = {1: ", to the next device", -1: ", to the previous device", 0: ""}
ZERO = "sends the zero accumulator"


def find_product(step: PartitioningStep, ring: Ring) -> Counterpart | None:
    """Return the product before partitioning that a loop computes; a guess if several may be it."""
    metadata = ring.loop.metadata
    named = [line for line in step.named(metadata.op_name) if line[1].opcode in CONTRACTIONS]
    alike = [line for line in named if line[1].metadata == metadata] or named
    fitting = [line for line in alike if _fits(step, ring, *line)] or alike
    if not fitting:
        return None
    return Counterpart(*fitting[0], Grade.MATCHED if len(fitting) == 1 else Grade.GUESSED)


def describe_ring(step: PartitioningStep, ring: Ring, product: Counterpart | None) -> str:
    """Return what a permute of a collective matmul sends, for which product, as which hop."""
    op = product.instruction if product is not None else None
    of = f" of `{op.name}` ({op.opcode})" if op is not None else ""
    what = "reduce-scatter of its result"
    if not ring.is_scatter:
        what = f"all-gather of {_operand_words(step, ring, product)}"
    return (
        f"Collective matmul (windowed einsum){of}: {what}, {_hop_words(ring)}"
        f"{_DIRECTIONS[ring.direction]}{_use_words(ring)}."
    )


def _fits(step: PartitioningStep, ring: Ring, home: Computation, product: Instruction) -> bool:
    """Return whether the value that goes around has the shape of a part of operand or result."""
    values = [product] if ring.is_scatter else home.operands(product)
    return any(_is_part(step, ring, value) for value in values if value is not None)


def _is_part(step: PartitioningStep, ring: Ring, value: Instruction) -> bool:
    """Return whether what is sent has the size of a part; reshapes add dimensions of size 1."""
    local = local_dimensions(step.sharding(value), value.shape.dimensions)
    return local is not None and _long(local) == _long(ring.sent_dimensions)


def _long(dimensions: Sequence[int | None]) -> Sequence[int | None]:
    return [size for size in dimensions if size != 1]


def _operand_words(step: PartitioningStep, ring: Ring, product: Counterpart | None) -> str:
    """Return the operand that is gathered: an argument by its name."""
    home = product.home if product is not None else None
    operands = home.operands(product.instruction) if home and product else ()
    parts = [value for value in operands if value is not None and _is_part(step, ring, value)]
    if home is not None and len(parts) == 1:
        return describe_value(step.before, home, parts[0])
    counterpart = step.counterpart(ring.home, ring.start) if ring.start is not None else None
    if counterpart is None:
        return "an operand"
    return describe_value(step.before, counterpart.home, counterpart.instruction)


def _hop_words(ring: Ring) -> str:
    """Return which hop of how many a permute is, in its only iteration or in each."""
    if not ring.hops:
        return "one hop of its ring (which is not known)"
    first, last = ring.hops[0], ring.hops[-1]
    of = f" of {ring.count:,}" if ring.count is not None and ring.count >= last else ""
    if len(ring.hops) == 1:
        return f"hop {first:,}{of}"
    names = [f"{hop:,}" for hop in ring.hops]
    if len(names) > _MOST_HOPS:
        step = ring.hops[1] - first
        names = [f"{first:,} to {last:,}" + (f" in steps of {step}" if step > 1 else "")]
    return f"hops {english.listing(names)}{of}, by iteration of its loop"


def _use_words(ring: Ring) -> str:
    """Return what a sentence adds about a hop: the last sum, zeros, a result that nothing reads."""
    if ring.is_after:
        return ", which brings the two partial sums of the ring together"
    if ring.sends_zero:
        first = "first hop of the reduce-scatter ring: " if len(ring.hops) == 1 else "the first "
        return f"; {first}{ZERO}"
    if ring.count is not None and ring.hops and ring.hops[-1] > ring.count:
        return f"; nothing reads what hop {ring.hops[-1]:,} sends"
    return ""
