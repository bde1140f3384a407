"""One kernel as a record: its resources, its occupancy, and what would change that."""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil

from msgspec.structs import replace

from xlareport.analysis.kernels.card import Card
from xlareport.analysis.kernels.kernel_occupancy import (
    BlockNeeds,
    KernelOccupancy,
    find_occupancy,
    registers_for,
)
from xlareport.analysis.kernels.kernel_resources import KernelEvidence, KernelNeeds, find_resources
from xlareport.analysis.kernels.record import (
    BlockSizeOccupancy,
    CardOccupancy,
    FigureSource,
    KernelRecord,
    ResourceLimit,
)
from xlareport.knowledge.compute_units import ComputeUnit, amd_target_of
from xlareport.knowledge.grades import Grade, weakest

BLOCK_SIZES = (64, 128, 256, 512, 1024)
_NO_COMPILER = "Registers are allocated by ptxas: build with --ptxas to know them."
_NO_CODE = "No file of code defines it."


def kernel_record(
    evidence: KernelEvidence,
    places: Sequence[tuple[str, str, str]],
    card: Card | None,
    cards: Iterable[Card],
) -> KernelRecord:
    """Return a kernel's record; `places` are (computation, instruction, grade) of its launches."""
    card = card.running(evidence.object) if card else None
    resources = find_resources(evidence, card.unit if card else None)
    spills = [resources.spill_store_bytes, resources.spill_load_bytes]
    record = KernelRecord(
        name=evidence.name,
        instructions=tuple((computation, name) for computation, name, _ in places),
        launches=evidence.named or None,
        file=evidence.file,
        target=_target(evidence),
        device=(card.key or None) if card else None,
        warp_threads=card.unit.warp if card is not None else None,
        shared_bytes=resources.shared,
        shared_bytes_at_most=resources.shared_at_most,
        dynamic_shared_bytes=resources.dynamic_shared,
        spill_bytes=None if None in spills else sum(spill for spill in spills if spill),
        is_on_pairs=evidence.object is not None and evidence.object.in_pairs,
        matrix=evidence.ptx.matrix if evidence.ptx else "",
        grade=weakest((grade for *_, grade in places), default=Grade.GUESSED),
        note=_missing_resources(evidence, resources),
        threads=resources.threads,
        threads_at_most=resources.threads_at_most,
        blocks=resources.blocks,
        registers=resources.registers,
        registers_at_most=resources.registers_at_most,
        scalar_registers=resources.scalar_registers,
        stack_bytes=resources.stack_bytes,
        spill_store_bytes=resources.spill_store_bytes,
        spill_load_bytes=resources.spill_load_bytes,
        spilled_registers=resources.spilled_registers,
        spilled_scalars=resources.spilled_scalars,
        sources=resources.sources,
    )
    others = [other.running(evidence.object) for other in cards]
    return _with_occupancy(record, resources, card, others) if card else record


def _with_occupancy(
    record: KernelRecord, resources: KernelNeeds, card: Card, others: Iterable[Card]
) -> KernelRecord:
    """Return the record with what a card's limits make of the kernel's needs."""
    needs = _needs(resources)
    occupancy = find_occupancy(needs, card.unit) if needs else None
    least, most = _bounds(resources, card)
    if occupancy is None and least is not None and most is not None and least.share == most.share:
        occupancy = replace(most, limits=_common(least, most))
    if occupancy is None:
        return replace(
            record,
            occupancy_at_least=least.share if least else None,
            occupancy_at_most=most.share if most else None,
        )
    waves = _waves(resources, occupancy, card)
    following = _following(needs, occupancy, card)
    return replace(
        record,
        occupancy=occupancy.share,
        limited_by=occupancy.limited_by,
        limits=tuple(ResourceLimit(*limit) for limit in occupancy.limits.items()),
        resident_blocks=occupancy.blocks,
        waves=waves,
        wave_efficiency=waves / ceil(waves) if waves else None,
        registers_for_next=following[0] if following else None,
        occupancy_of_next=following[1] if following else None,
        block_sizes=tuple(_block_sizes(needs, card)),
        elsewhere=tuple(_elsewhere(needs, resources.blocks, card, others)),
        sources=(*resources.sources, *_derived(waves, resources, card)),
    )


def _needs(resources: KernelNeeds) -> BlockNeeds | None:
    threads, registers, shared = resources.threads, resources.registers, resources.shared
    if threads is None or registers is None or shared is None:
        return None
    scalars = resources.scalar_registers or 0
    return BlockNeeds(threads, registers, shared, resources.barriers, scalars)


def _target(evidence: KernelEvidence) -> str:
    if evidence.ptx is not None:
        return evidence.ptx.target
    return amd_target_of(evidence.object.target) if evidence.object else ""


def _bounds(
    resources: KernelNeeds, card: Card
) -> tuple[KernelOccupancy | None, KernelOccupancy | None]:
    """Return the occupancy with the most and with the least that the kernel can need."""
    if resources.threads is None or resources.registers is not None:
        return None, None
    fewest = BlockNeeds(resources.threads, 0, resources.dynamic_shared or 0)
    registers, shared = resources.registers_at_most, resources.shared_at_most
    if registers is None or shared is None:
        return None, find_occupancy(fewest, card.unit)
    most = replace(fewest, registers=registers, shared_bytes=shared)
    return find_occupancy(most, card.unit), find_occupancy(fewest, card.unit)


def _common(least: KernelOccupancy, most: KernelOccupancy) -> dict[str, int]:
    """Return the limits that are the same for any number of registers."""
    return {name: limit for name, limit in least.limits.items() if most.limits.get(name) == limit}


def _waves(resources: KernelNeeds, known: KernelOccupancy, card: Card) -> float | None:
    blocks = resources.blocks
    if blocks is None or not card.count or not known.blocks:
        return None
    return blocks / (known.blocks * card.count)


def _following(
    needs: BlockNeeds | None, known: KernelOccupancy, card: Card
) -> tuple[int, float] | None:
    """Return how many registers would leave room for a block more, and the occupancy then."""
    if needs is None or "registers" not in known.limited_by:
        return None
    wanted = known.blocks + 1
    registers = registers_for(needs, card.unit, wanted)
    if registers is None:
        return None
    then = find_occupancy(replace(needs, registers=registers), card.unit)
    return (registers, then.share) if then.blocks > known.blocks else None


def _block_sizes(needs: BlockNeeds | None, card: Card) -> Iterator[BlockSizeOccupancy]:
    if needs is not None:
        for threads in BLOCK_SIZES:
            if threads != needs.threads:
                then = find_occupancy(replace(needs, threads=threads), card.unit)
                yield BlockSizeOccupancy(threads, then.share)


def _elsewhere(
    needs: BlockNeeds | None, blocks: int | None, own: Card, cards: Iterable[Card]
) -> Iterator[CardOccupancy]:
    """Yield the same launch with the same registers on each other card."""
    for card in cards:
        if needs is None or card.name == own.name or not card.could_run(own):
            continue
        there = find_occupancy(needs, card.unit)
        resident = there.blocks * (card.count or 0)
        waves = blocks / resident if blocks is not None and resident else None
        yield CardOccupancy(card.key, card.name, there.share, there.limited_by, there.blocks, waves)


def _derived(waves: float | None, resources: KernelNeeds, card: Card) -> Iterator[FigureSource]:
    """Yield the sources of occupancy and waves, with the weakest grade of their inputs."""
    graded = {source.figure: source.grade for source in resources.sources}
    grade = graded.get("threads", Grade.EXACT)
    is_amd = isinstance(card.unit, ComputeUnit)
    source = f"limits of {'' if is_amd else 'compute capability '}{card.unit.capability}"
    if card.is_hypothetical:
        grade = Grade.GUESSED
        source += "; the registers are those for the dump's own target"
    yield FigureSource("occupancy", grade, source)
    if waves is not None:
        units = "compute units or pairs of them" if is_amd else "multiprocessors"
        yield FigureSource("waves", grade, f"{card.count} {units} ({card.count_source})")


def _missing_resources(evidence: KernelEvidence, resources: KernelNeeds) -> str:
    if resources.registers is not None:
        return ""
    if evidence.fault:
        return f"{evidence.compiler}: {evidence.fault}"
    return _NO_COMPILER if evidence.ptx is not None else _NO_CODE
