"""The kernels of a module: every one that a file of code defines or a thunk launches."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport import reader_table
from xlareport.analysis.code.instruction_products import ModuleCode
from xlareport.analysis.code.module_code import CodeFiles
from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.analysis.kernels.card import Card, card_of, find_card, known_cards
from xlareport.analysis.kernels.command_buffers import list_command_buffers
from xlareport.analysis.kernels.estimates import read_estimates
from xlareport.analysis.kernels.gemms import read_gemms
from xlareport.analysis.kernels.kernel import kernel_record
from xlareport.analysis.kernels.kernel_resources import KernelEvidence
from xlareport.analysis.kernels.record import BY_NCCL, ModuleKernels
from xlareport.hlo.backend_config import read_kernel_strategy
from xlareport.knowledge.devices import Device
from xlareport.program import ParsedModule
from xlareport.ptxas import Ptxas, compile_ptx
from xlareport.readers.gpu_objects import read_gpu_object
from xlareport.readers.ptx import read_ptx
from xlareport.readers.thunks import read_launch

MOST_KERNELS = 5_000
"""Limit on described kernels of one module."""
_LAUNCHING = ("Kernel", "CustomKernel")
_UNOPTIMIZED = "xla_gpu_disable_gpuasm_optimizations"


class _Gathered(Struct):
    """The kernels of a module by name, in order of appearance."""

    kernels: dict[str, KernelEvidence] = field(default_factory=dict)

    def named(self, name: str) -> KernelEvidence:
        """Return the evidence about a kernel so far."""
        return self.kernels.setdefault(name, KernelEvidence(name))


def read_kernels(
    module: ParsedModule, code: CodeFiles, options: CostOptions, ptxas: Ptxas | None = None
) -> ModuleKernels | None:
    """Return the kernels of a GPU module; None where it has none.

    With an assembler the PTX of the dump is compiled, else registers are known as bounds alone.
    """
    if code.code is None:
        return None
    gathered = _Gathered()
    _add_launches(gathered, code.code)
    for link in code.code.links:
        content = code.contents.get(link.file.path, b"")
        if link.file.kind == "ptx":
            _add_ptx(gathered, content, link.file.path, ptxas, _ptxas_options(module))
        elif link.file.kind == "object":
            _add_object(gathered, content, link.file.path)
    kernels = {name: kernel for name, kernel in gathered.kernels.items() if _is_kernel(kernel)}
    if not kernels:
        return None
    card = _card(module, kernels.values(), options)
    places = _launch_places(code.code, kernels)
    records = (
        replace(
            kernel_record(kernel, places.get(name, ()), card, known_cards()),
            strategy=_strategy(module, places.get(name, ())),
        )
        for name, kernel in list(kernels.items())[:MOST_KERNELS]
    )
    return ModuleKernels(
        kernels=tuple(records),
        device=card.name if card else "",
        capability=card.unit.capability if card else "",
        multiprocessors=card.count if card else None,
        multiprocessors_source=card.count_source if card else "",
        is_hypothetical=card.is_hypothetical if card else False,
        compiler=ptxas.label if ptxas else "",
        gemms=read_gemms(module),
        command_buffers=list_command_buffers(code.code.thunks),
        estimates=read_estimates(module.final.hlo) if module.final else {},
        ignored_device=_ignored_device(card, options.device),
    )


def _ignored_device(card: Card | None, chosen: Device | None) -> str:
    """Return the name of the user's device where the kernels are shown on another card."""
    if card is None or chosen is None:
        return ""
    other = card_of(chosen)
    return "" if other is not None and other.key == card.key else chosen.name


def with_shares(kernels: ModuleKernels, shares: Mapping[tuple[str, str], float]) -> ModuleKernels:
    """Return the kernels with their shares of the roofline time, by those of instructions.

    An instruction whose work could not be counted has no share, nor has its kernel, nor has one of
    a collective that NCCL is to carry out.
    """
    return replace(
        kernels,
        kernels=tuple(
            replace(kernel, share=sum(shares[place] for place in kernel.instructions))
            if kernel.strategy != BY_NCCL
            and kernel.instructions
            and all(place in shares for place in kernel.instructions)
            else kernel
            for kernel in kernels.kernels
        ),
    )


def _strategy(module: ParsedModule, places: Sequence[tuple[str, str, str]]) -> str:
    """Return the `kernel_strategy` of the collective that a kernel is for; else empty."""
    final = module.final
    lines = (final.hlo.find(*place[:2]) for place in places) if final is not None else ()
    return next((read_kernel_strategy(line) for line in lines if line is not None), "")


def _is_kernel(evidence: KernelEvidence) -> bool:
    return bool(evidence.launches or evidence.ptx or evidence.object or evidence.named)


def _add_launches(gathered: _Gathered, code: ModuleCode) -> None:
    for run in code.thunks:
        thunk = run.thunk
        launch = read_launch(thunk.description)
        if thunk.kind.removeprefix("k") in _LAUNCHING and thunk.name not in ("", thunk.kind):
            evidence = gathered.named(thunk.name)
            evidence.named += 1
            if launch is not None:
                evidence.launches[launch] = evidence.launches.get(launch, 0) + 1


def _add_ptx(
    gathered: _Gathered, content: bytes, path: str, ptxas: Ptxas | None, options: tuple[str, ...]
) -> None:
    texts = read_ptx(content)
    compiled = compile_ptx(content, ptxas, options) if ptxas and texts else None
    exact = {kernel.name: kernel for kernel in compiled.kernels} if compiled else {}
    for kernel in texts:
        evidence = gathered.named(kernel.name)
        evidence.ptx, evidence.file = kernel, path
        evidence.compiled = exact.get(kernel.name)
        evidence.compiler = ptxas.label if ptxas else ""
        evidence.fault = compiled.fault if compiled else ""


def _add_object(gathered: _Gathered, content: bytes, path: str) -> None:
    for kernel in read_gpu_object(content):
        evidence = gathered.named(kernel.name)
        evidence.object = kernel
        evidence.file = evidence.file or path


def _ptxas_options(module: ParsedModule) -> tuple[str, ...]:
    """Return the ptxas options that XLA itself passes with the flags of the dump."""
    settings = {setting.name: setting.value for setting in module.settings}
    return ("-O0",) if settings.get(_UNOPTIMIZED) == "true" else ()


def _card(
    module: ParsedModule, kernels: Iterable[KernelEvidence], options: CostOptions
) -> Card | None:
    targets = (
        kernel.ptx.target if kernel.ptx else kernel.object.target if kernel.object else ""
        for kernel in kernels
    )
    target = next((target for target in targets if target), "")
    cores = module.side.of(reader_table.GPU_CORES)
    return find_card(module.device_words, target, cores, options.device)


def _launch_places(
    code: ModuleCode, kernels: Mapping[str, KernelEvidence]
) -> Mapping[str, tuple[tuple[str, str, str], ...]]:
    """Return (computation, instruction, grade) of all that launch each kernel."""
    grades: dict[str, dict[tuple[str, str], str]] = {name: {} for name in kernels}
    for name, place, grade in _links(code):
        if name in grades:
            grades[name].setdefault(place, grade)
    return {
        name: tuple((*place, grade) for place, grade in places.items())
        for name, places in grades.items()
    }


def _links(code: ModuleCode) -> Iterator[tuple[str, tuple[str, str], str]]:
    for run in code.thunks:
        if run.place is not None and run.place.instruction:
            yield run.thunk.name, (run.place.computation, run.place.instruction), run.place.grade
    for link in code.links:
        for place in link.places:
            if place.instruction:
                yield place.kernel, (place.computation, place.instruction), place.grade
