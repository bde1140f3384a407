"""Rules about GPU kernels; each names the figures that it rests on."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from xlareport.analysis.findings.finding import SHORTEST, Finding
from xlareport.analysis.findings.rules import merge_findings
from xlareport.analysis.kernels.record import KernelRecord, ModuleKernels
from xlareport.hlo.model import InstructionKey
from xlareport.knowledge.grades import weakest
from xlareport.runtime import units

LEAST_SHARE = 0.02
"""Of the module's roofline time: below that occupancy and tails are not worth a word."""
LOW = 0.25
"""Occupancy below which a kernel without matrix units has few warps to hide latencies with."""
TAIL = 0.8
"""Part of the blocks that could run, over all waves."""
MOST_WAVES = 4


class KernelTimes(Struct, frozen=True):
    """The roofline time of a module and the parts of its instructions."""

    seconds: float | None
    shares: Mapping[InstructionKey, float]

    def of(self, kernel: KernelRecord) -> float:
        """Return the roofline seconds of all that launch a kernel; 0 where they are not known."""
        share = sum(self.shares.get(place, 0.0) for place in kernel.instructions)
        return share * (self.seconds or 0.0)

    def is_noticeable(self, kernel: KernelRecord) -> bool:
        """Return whether a kernel takes a part of the time that is worth a word."""
        seconds = self.of(kernel)
        return seconds >= SHORTEST and seconds >= LEAST_SHARE * (self.seconds or 0.0)


KernelRule = Callable[[KernelRecord, KernelTimes], str | None]
"""Returns the figures of a finding; None if there is no finding."""


def find_kernel_findings(kernels: ModuleKernels, times: KernelTimes) -> tuple[Finding, ...]:
    """Return the findings about the kernels of a module, the largest effect first."""
    return merge_findings(
        finding for kernel in kernels.kernels for finding in _findings(kernel, times)
    )


def find_spills(kernels: Iterable[KernelRecord]) -> tuple[Finding, ...]:
    """Return the findings of kernels whose spills a log names."""
    times = KernelTimes(None, {})
    return merge_findings(
        finding
        for kernel in kernels
        for finding in _findings(kernel, times)
        if finding.rule == "kernel-spills"
    )


def _findings(kernel: KernelRecord, times: KernelTimes) -> Iterator[Finding]:
    for key, (rule, title, grade, suggestion) in _RULES.items():
        evidence = rule(kernel, times)
        if evidence and kernel.instructions:
            yield Finding(
                rule=key,
                title=title,
                places=kernel.instructions,
                evidence=f"Kernel `{kernel.name}`: {evidence}.",
                suggestion=suggestion,
                grade=weakest((grade, kernel.grade, *_spill_grades(kernel, key))),
                weight=times.of(kernel),
            )


_SPILL_FIGURES = ("spilled_registers", "spill_bytes")
"""Figures that only a log gives a source of their own."""


def _spill_grades(kernel: KernelRecord, rule: str) -> Iterator[str]:
    for source in kernel.sources:
        if rule == "kernel-spills" and source.figure in _SPILL_FIGURES:
            yield source.grade


def _spills(kernel: KernelRecord, _: KernelTimes) -> str | None:
    """Report every kernel that spills registers."""
    figures = (*_SPILL_FIGURES, "registers")
    source = next((source.source for source in kernel.sources if source.figure in figures), "")
    if kernel.spilled_registers:
        count = units.count(kernel.spilled_registers)
        return f"{count} vector registers spilled by each thread ({source})"
    if not kernel.spill_bytes:
        return None
    return (
        f"{units.byte_size(kernel.spill_store_bytes or 0)} of spill stores and "
        f"{units.byte_size(kernel.spill_load_bytes or 0)} of spill loads in the code of each "
        f"thread{f', {kernel.registers} registers' if kernel.registers else ''} ({source})"
    )


def _low_occupancy(kernel: KernelRecord, times: KernelTimes) -> str | None:
    """Report low occupancy by one resource, where more blocks wait and no matrix unit is used."""
    alone = len(kernel.limited_by) == 1
    waiting = kernel.waves is not None and kernel.waves > 1
    if kernel.occupancy is None or kernel.occupancy >= LOW or not (alone and waiting):
        return None
    # only PTX tells whether a kernel has matrix instructions: machine code is not disassembled
    is_without_matrix = kernel.target.startswith("sm_") and not kernel.matrix
    if not is_without_matrix or not times.is_noticeable(kernel):
        return None
    return (
        f"occupancy {units.precise_share(kernel.occupancy)}, limited by {kernel.limited_by[0]} "
        f"({_needs(kernel)}); {units.count(kernel.blocks or 0)} blocks run in "
        f"{kernel.waves:.1f} waves"
    )


def _needs(kernel: KernelRecord) -> str:
    if kernel.limited_by[0] == "shared memory":
        return f"{units.byte_size(kernel.shared_bytes or 0)} a block"
    if kernel.limited_by[0] == "registers":
        return f"{kernel.registers} a thread, {kernel.threads} threads a block"
    return f"{kernel.threads} threads a block"


def _tail(kernel: KernelRecord, times: KernelTimes) -> str | None:
    """Report a last wave that leaves much of the card idle, where there are few waves."""
    waves, efficiency = kernel.waves, kernel.wave_efficiency
    if waves is None or efficiency is None or waves >= MOST_WAVES or efficiency >= TAIL:
        return None
    if not times.is_noticeable(kernel):
        return None
    return (
        f"{units.count(kernel.blocks or 0)} blocks are {waves:.2f} waves: "
        f"{units.precise_share(efficiency)} of the blocks that the card can hold over all waves"
    )


_ON_SPILLS = (
    "Spilled registers go through local memory. Fewer values at once help: a smaller tile, "
    "fewer outputs of one fusion, or fewer operands of one reduction."
)
_ON_OCCUPANCY = (
    "Check in a profiler whether the kernel is bound by memory latency. The tab Kernels shows with "
    "how many registers another block would fit."
)
_ON_TAILS = "Another tile or block size changes the number of blocks; a larger batch adds waves."
_RULES: Mapping[str, tuple[KernelRule, str, str, str]] = {
    "kernel-spills": (_spills, "Kernel that spills registers", "exact", _ON_SPILLS),
    "kernel-occupancy": (_low_occupancy, "Kernel below 25% occupancy", "matched", _ON_OCCUPANCY),
    "kernel-tail": (_tail, "Kernel whose last wave leaves the card idle", "matched", _ON_TAILS),
}
