"""Spilled registers in a log, assigned to kernels.

A log may also name rejected candidates of the autotuner, under the name of the kernel that was
chosen: so the figures are guesses, and count only if no code file has more.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from xlareport.analysis.findings.rules import merge_findings
from xlareport.analysis.kernels.kernel_findings import find_spills
from xlareport.analysis.kernels.record import FigureSource, KernelRecord
from xlareport.analysis.module import ModuleAnalysis
from xlareport.readers.spill_log import LoggedSpill

_SOURCE = "log of the compiler"


def assign_spills(
    modules: Sequence[ModuleAnalysis], spills: Sequence[LoggedSpill]
) -> Iterator[ModuleAnalysis]:
    """Yield the modules, each with the spills of its kernels.

    A kernel is found by its name in the module that the log names, else where it is the only one of
    its name. Lines that name an LLVM module alone count where a kernel has that name.
    """
    owners = Counter(
        kernel.name
        for module in modules
        for kernel in (module.kernels.kernels if module.kernels else ())
    )
    for module in modules:
        yield _with_spills(module, _about(module, spills, owners))


def _about(
    module: ModuleAnalysis, spills: Sequence[LoggedSpill], owners: Mapping[str, int]
) -> Mapping[str, LoggedSpill]:
    """Return the largest spill in the log for each kernel of a module, by name."""
    worst: dict[str, LoggedSpill] = {}
    for spill in spills:
        name = spill.kernel or spill.llvm_module.removesuffix("_consts")
        is_own = bool(spill.kernel) and spill.llvm_module == module.summary.files.name
        if (is_own or owners.get(name) == 1) and (
            name not in worst or _spilled_bytes(spill) > _spilled_bytes(worst[name])
        ):
            worst[name] = spill
    return worst


def _spilled_bytes(spill: LoggedSpill) -> int:
    return (spill.vectors or 0) + (spill.store_bytes or 0) + (spill.load_bytes or 0)


def _with_spills(module: ModuleAnalysis, about: Mapping[str, LoggedSpill]) -> ModuleAnalysis:
    kernels = module.kernels
    if kernels is None:
        return module
    records = tuple(_with_spill(kernel, about.get(kernel.name)) for kernel in kernels.kernels)
    if records == kernels.kernels:
        return module
    module = replace(module, kernels=replace(kernels, kernels=records))
    if module.cost is None:
        return module
    pairs = zip(kernels.kernels, records, strict=True)
    findings = find_spills(record for old, record in pairs if old != record)
    return replace(
        module,
        cost=replace(module.cost, findings=merge_findings((*module.cost.findings, *findings))),
    )


def _with_spill(kernel: KernelRecord, spill: LoggedSpill | None) -> KernelRecord:
    """Return the kernel with the spill of the log, if nothing else states it."""
    if spill is None or kernel.spill_bytes is not None or kernel.spilled_registers is not None:
        return kernel
    stores, loads = spill.store_bytes, spill.load_bytes
    figure = "spilled_registers" if spill.vectors is not None else "spill_bytes"
    return replace(
        kernel,
        spilled_registers=spill.vectors,
        spilled_scalars=spill.scalars,
        spill_store_bytes=stores,
        spill_load_bytes=loads,
        spill_bytes=None if stores is None or loads is None else stores + loads,
        sources=(*kernel.sources, FigureSource(figure, "guessed", _SOURCE)),
    )
