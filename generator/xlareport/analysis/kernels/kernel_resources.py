"""The resources of a kernel, from all files that state them, each figure with its source."""

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from xlareport.analysis.kernels.kernel_occupancy import Unit, most_registers
from xlareport.analysis.kernels.record import FigureSource
from xlareport.knowledge.multiprocessors import WARP
from xlareport.readers.gpu_objects import ObjectKernel
from xlareport.readers.ptx import PtxKernel
from xlareport.readers.ptxas_output import CompiledKernel
from xlareport.readers.thunks import Launch


class KernelEvidence(Struct):
    """All information about one kernel in the files of a module."""

    name: str
    launches: dict[Launch, int] = field(default_factory=dict)
    """How the thunks launch it, and how often each."""
    named: int = 0
    """Thunks that name it."""
    ptx: PtxKernel | None = None
    compiled: CompiledKernel | None = None
    compiler: str = ""
    object: ObjectKernel | None = None
    file: str | None = None
    fault: str = ""
    """Why it could not be compiled."""

    @property
    def launch(self) -> Launch | None:
        """The launch that the thunks name most often, of several the first."""
        return max(self.launches, key=lambda launch: self.launches[launch], default=None)


class KernelNeeds(Struct, frozen=True):
    """The resources of a kernel; None if unknown."""

    threads: int | None = None
    blocks: int | None = None
    registers: int | None = None
    registers_at_most: int | None = None
    static_shared: int | None = None
    static_shared_at_most: int | None = None
    dynamic_shared: int | None = None
    stack_bytes: int | None = None
    spill_store_bytes: int | None = None
    spill_load_bytes: int | None = None
    threads_at_most: int | None = None
    scalar_registers: int | None = None
    spilled_registers: int | None = None
    spilled_scalars: int | None = None
    barriers: int = 1
    sources: tuple[FigureSource, ...] = ()

    @property
    def shared(self) -> int | None:
        """Bytes of shared memory of a block, static and dynamic."""
        if self.static_shared is None or self.dynamic_shared is None:
            return None
        return self.static_shared + self.dynamic_shared

    @property
    def shared_at_most(self) -> int | None:
        """Upper bound of static and dynamic shared memory."""
        if self.static_shared_at_most is None or self.dynamic_shared is None:
            return None
        return self.static_shared_at_most + self.dynamic_shared


def find_resources(evidence: KernelEvidence, unit: Unit | None) -> KernelNeeds:
    """Return the resources of a kernel: from machine code, else from the assembler, else bounds."""
    launch, ptx = evidence.launch, evidence.ptx
    threads = launch.threads if launch else ptx.threads_required if ptx else None
    machine, source = _machine(evidence)
    values: dict[str, int | None] = {
        "threads": threads,
        "blocks": launch.blocks if launch else None,
        "dynamic_shared": _dynamic(evidence),
        "threads_at_most": _threads_at_most(evidence),
        **machine,
    }
    if machine.get("static_shared") is None and ptx is not None:
        values["static_shared_at_most"] = ptx.shared_bytes
    if machine.get("registers") is None and unit is not None and (ptx or threads):
        values["registers_at_most"] = _most_registers(threads, ptx, unit)
    barriers = values.pop("barriers", None)
    sources = tuple(_sources(evidence, values, machine, source))
    return KernelNeeds(**values, barriers=1 if barriers is None else barriers, sources=sources)


def _machine(evidence: KernelEvidence) -> tuple[Mapping[str, int | None], str]:
    """Return the figures of the machine code, and where they come from."""
    machine_code, compiled = evidence.object, evidence.compiled
    if machine_code is not None:
        return {
            "registers": machine_code.registers,
            "static_shared": machine_code.shared_bytes,
            "stack_bytes": machine_code.stack_bytes,
            "spill_store_bytes": None,
            "spill_load_bytes": None,
            "scalar_registers": machine_code.scalar_registers,
            "spilled_registers": machine_code.spilled_registers,
            "spilled_scalars": machine_code.spilled_scalars,
            "barriers": None,
        }, machine_code.source
    if compiled is not None:
        return {
            "registers": compiled.registers,
            "static_shared": compiled.shared_bytes,
            "stack_bytes": compiled.stack_bytes,
            "spill_store_bytes": compiled.spill_store_bytes,
            "spill_load_bytes": compiled.spill_load_bytes,
            "barriers": compiled.barriers,
        }, f"{evidence.compiler} for {compiled.target}"
    return {}, ""


def _threads_at_most(evidence: KernelEvidence) -> int | None:
    """Return the largest block that the code was compiled for."""
    if evidence.ptx is not None and evidence.ptx.threads_at_most:
        return evidence.ptx.threads_at_most
    return evidence.object.threads_at_most if evidence.object else None


def _dynamic(evidence: KernelEvidence) -> int | None:
    """Return the dynamic shared memory of launches; 0 if unstated and the code cannot use any."""
    launch = evidence.launch
    if launch is not None and launch.dynamic_shared is not None:
        return launch.dynamic_shared
    return 0 if evidence.ptx is not None and not evidence.ptx.shared_is_dynamic else None


def _most_registers(threads: int | None, ptx: PtxKernel | None, unit: Unit) -> int:
    """Return the upper bound of registers for which a block fits and directives hold."""
    threads = threads or (ptx.threads_at_most if ptx else None) or WARP
    fitting = most_registers(threads, unit)
    asked = ptx.registers_at_most if ptx else None
    return min(fitting, asked or fitting)


_SEQUENCE = "thunk sequence"
_TEXT = "PTX"


def _sources(
    evidence: KernelEvidence,
    values: Mapping[str, int | None],
    machine: Mapping[str, int | None],
    source: str,
) -> Iterator[FigureSource]:
    """Yield where each figure that is known comes from."""
    launch = evidence.launch
    alone = len(evidence.launches) <= 1
    if values.get("threads") is not None:
        by_launch = launch is not None
        grade = "exact" if alone else "matched"
        yield FigureSource("threads", grade, _SEQUENCE if by_launch else ".reqntid of the PTX")
    if launch is not None:
        yield FigureSource("blocks", "exact" if alone else "matched", _SEQUENCE)
    if values.get("dynamic_shared") is not None:
        launch_states_it = launch is not None and launch.dynamic_shared is not None
        yield FigureSource(
            "dynamic_shared_bytes", "exact", _SEQUENCE if launch_states_it else _TEXT
        )
    names = {"static_shared": "shared_bytes"}
    for name, value in machine.items():
        if value is not None and name != "barriers":
            yield FigureSource(names.get(name, name), "exact", source)
    if values.get("static_shared_at_most") is not None:
        yield FigureSource("shared_bytes_at_most", "exact", _TEXT)
    if values.get("registers_at_most") is not None:
        yield FigureSource("registers_at_most", "exact", "block size and registers of an SM")
