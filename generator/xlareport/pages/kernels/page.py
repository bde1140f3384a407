"""The page on GPU kernels: a ranked table, and for the heaviest kernels the reasons in words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import quote

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from xlareport import reader_table
from xlareport.analysis.kernels.command_buffers import CommandBuffer
from xlareport.analysis.kernels.record import KernelRecord, ModuleKernels
from xlareport.pages import navigation
from xlareport.pages.kernels.gemms import describe_gemm, tabulate_gemms, tabulate_tuning
from xlareport.pages.kernels.kernel_sentences import describe_kernel, describe_occupancy
from xlareport.pages.large_figures import Figure
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import Cell, Column, PartPage, Table, tabulate
from xlareport.pages.tabs import ModuleTab, ShownModule
from xlareport.readers.autotune_results import TuningResult
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units

_DESCRIBED = 40
"""Kernels that are described in words; the table has all."""
_CARDS = 200
"""Limit on kernels for which the table shows every card."""


class KernelView(Struct, frozen=True):
    """A kernel in words."""

    name: str
    summary: str
    sentences: tuple[Markup, ...]


class KernelsPage(PartPage, frozen=True):
    """Everything on the page."""

    lead: str
    card: str
    compiler: Markup
    figures: tuple[Figure, ...]
    kernels: tuple[KernelView, ...]
    more: int
    """Kernels that are in the table alone."""
    unit: str
    """`multiprocessor` or `compute unit`."""
    gemms: str
    """The summary of all matmuls; empty if there are none."""


def kernels_page(
    record: ModuleRecord, kernels: ModuleKernels, tuning: Sequence[TuningResult] | None = None
) -> KernelsPage:
    """Return the page of one module; `tuning` is what the autotuner wrote."""
    ranked = sorted(kernels.kernels, key=lambda kernel: -(kernel.share or 0.0))
    tables = {"kernels": _table(record, ranked)}
    if any(kernel.elsewhere for kernel in ranked):
        tables["kernel-cards"] = _cards(ranked, kernels)
    if kernels.command_buffers:
        tables["command-buffers"] = _command_buffers(kernels.command_buffers)
    if kernels.gemms is not None:
        tables["gemms"] = tabulate_gemms(record, kernels.gemms)
    if tuning:
        tables["tuning"] = tabulate_tuning(tuning)
    return KernelsPage(
        tables=tables,
        lead=_lead(ranked),
        card=_card(kernels),
        compiler=prose(" ".join(filter(None, [_compiler(kernels), same_range(ranked)]))),
        figures=tuple(_figures(ranked)),
        kernels=tuple(
            KernelView(
                candidate.name,
                describe_occupancy(candidate),
                tuple(map(prose, describe_kernel(candidate, kernels))),
            )
            for candidate in ranked[:_DESCRIBED]
        ),
        more=max(0, len(ranked) - _DESCRIBED),
        unit=kernels.unit,
        gemms=describe_gemm(kernels.gemms, tuning) if kernels.gemms else "",
    )


def _kernels(shown: ShownModule) -> tuple[ModuleKernels, Sequence[TuningResult] | None] | None:
    kernels, side = shown.analysis.kernels, shown.analysis.side
    return (kernels, side.of(reader_table.AUTOTUNE_RESULTS)) if kernels else None


TAB = ModuleTab(
    "kernels", _kernels, lambda record, value: kernels_page(record, *value), wide=True, place=70
)


def _lead(ranked: Sequence[KernelRecord]) -> str:
    heavy = [kernel for kernel in ranked[:3] if kernel.share]
    named = ", ".join(f"{kernel.name} ({units.share(kernel.share or 0.0)})" for kernel in heavy)
    most = f" Largest shares of roofline time: {named}." if heavy else ""
    uncounted = sum(kernel.share is None and bool(kernel.instructions) for kernel in ranked)
    left = f" The work of {units.plural(uncounted, 'kernel')} is not known." if uncounted else ""
    return f"{units.plural(len(ranked), 'GPU kernel')}.{most}{left}"


def _card(kernels: ModuleKernels) -> str:
    if not kernels.capability:
        return "Occupancy is not calculated: the dump names no GPU whose limits are known."
    is_amd = kernels.unit == "compute unit"
    kind = "target" if is_amd else "compute capability"
    name, count = kernels.device or "the device", kernels.multiprocessors
    many = (
        f"{units.count(count)} {kernels.unit}s" if count else f"number of {kernels.unit}s unknown"
    )
    source = f" ({kernels.multiprocessors_source})" if kernels.multiprocessors_source else ""
    start = f"{name}, {kind} {kernels.capability}, {many}{source}."
    by = (
        " Calculated as LLVM's AMDGPU backend does, for whole work-groups; not measured."
        if is_amd
        else " Calculated as NVIDIA's cuda_occupancy.h does; not measured."
    )
    if not kernels.is_hypothetical:
        ignored = kernels.ignored_device
        reason = (
            f" --device {ignored} is ignored: these kernels cannot run on it." if ignored else ""
        )
        return f"Occupancy is theoretical, for {start}{by}{reason}"
    return (
        f"Hypothetical, by --device: {start} Launches and registers are those that the dump has "
        f"for its own device.{by}"
    )


def _compiler(kernels: ModuleKernels) -> str:
    if kernels.compiler:
        return (
            f"Registers, spills and static shared memory are what {kernels.compiler} allocates for "
            "the dumped PTX. XLA may have used another version."
        )
    if any(
        kernel.registers is None and kernel.target.startswith("sm_") for kernel in kernels.kernels
    ):
        return (
            "The dump has PTX, in which registers are not allocated yet. Registers are upper "
            "bounds, and occupancy is a range. `xlareport build DUMP --ptxas` compiles the PTX."
        )
    return ""


def _figures(kernels: Sequence[KernelRecord]) -> Iterator[Figure]:
    with_occupancy = [kernel for kernel in kernels if kernel.occupancy is not None]
    yield Figure("Kernels", units.count(len(kernels)), "with code or a launch")
    if with_occupancy:
        many = f"of {units.count(len(kernels))}; the others as a range or not at all"
        yield Figure("Occupancy known", units.count(len(with_occupancy)), many)
    counted = [kernel for kernel in kernels if kernel.spill_bytes is not None]
    spilling = [kernel for kernel in kernels if kernel.spill_bytes or kernel.spilled_registers]
    if counted or spilling:
        yield Figure("Spilling", units.count(len(spilling)), "kernels with spilled registers")
    shared = sum(len(kernel.instructions) > 1 for kernel in kernels)
    yield Figure("Shared", units.count(shared), "kernels launched by several instructions")


_COLUMNS: Mapping[Column, Callable[[KernelRecord], Cell]] = {
    Column(
        "Share", "percent", "of the roofline time of the module, all that launch it"
    ): lambda kernel: kernel.share,
    Column(
        "Occupancy",
        "precise",
        "resident warps / warps that a multiprocessor or compute unit can hold",
    ): lambda kernel: kernel.occupancy,
    Column("Occupancy from", "precise", "lower bound"): lambda kernel: kernel.occupancy_at_least,
    Column("Occupancy to", "precise", "upper bound"): lambda kernel: kernel.occupancy_at_most,
    Column("Limited by", "text", "resources that allow no further block"): lambda kernel: (
        ", ".join(kernel.limited_by) or None
    ),
    Column("Registers", "int", "per thread"): lambda kernel: kernel.registers,
    Column("Scalar registers", "int", "of a wavefront, on AMD GPUs"): lambda kernel: (
        kernel.scalar_registers
    ),
    Column(
        "Spills", "bytes", "stores and loads of spilled registers in the code of a thread"
    ): lambda kernel: kernel.spill_bytes,
    Column(
        "Spilled registers", "int", "vector registers of a thread, on AMD GPUs"
    ): lambda kernel: kernel.spilled_registers,
    Column("Spilled scalars", "int", "scalar registers, on AMD GPUs"): lambda kernel: (
        kernel.spilled_scalars
    ),
    Column("Threads", "int", "of a block"): lambda kernel: kernel.threads,
    Column("Blocks", "int", "of the launch"): lambda kernel: kernel.blocks,
    Column("Waves", "float", "blocks / blocks resident on the whole card"): lambda kernel: (
        kernel.waves
    ),
    Column("Wave efficiency", "precise", "waves / waves rounded up"): lambda kernel: (
        kernel.wave_efficiency
    ),
    Column("Shared memory", "bytes", "of a block, static and dynamic"): lambda kernel: (
        kernel.shared_bytes
    ),
    Column("Dynamic shared memory", "bytes", "the part that the launch adds"): lambda kernel: (
        kernel.dynamic_shared_bytes
    ),
    Column("Stack", "bytes", "of a thread"): lambda kernel: kernel.stack_bytes,
    Column(
        "Registers at most", "int", "bound from the block size, where not allocated"
    ): lambda kernel: kernel.registers_at_most,
    Column(
        "Threads at most", "int", "of a block, by .maxntid or .reqntid of the code"
    ): lambda kernel: kernel.threads_at_most,
    Column("Instructions", "int", "that launch it"): lambda kernel: len(kernel.instructions),
    Column("Launches", "int", "in the thunk sequence; loops repeat them"): lambda kernel: (
        kernel.launches
    ),
    Column("Matrix", "code", "first matrix instruction of the PTX"): lambda kernel: (
        kernel.matrix or None
    ),
    Column("Link", "text", "grade of the link with the instructions"): lambda kernel: kernel.grade,
    Column("Note"): lambda kernel: kernel.note or None,
}
"""The columns of the table, besides the name."""


def _table(record: ModuleRecord, kernels: Sequence[KernelRecord]) -> Table:
    page = navigation.module_address(record.slug, "code")

    def link(kernel: KernelRecord) -> Cell:
        place = kernel.instructions[0][1] if kernel.instructions else ""
        return [kernel.name, f"{page}#unit={quote(place)}"] if place else kernel.name

    table = tabulate(kernels, {Column("Kernel", "link", "its code"): link, **_COLUMNS}, (1, "desc"))
    same = _RANGE if same_range(kernels) else ()
    used = [
        at
        for at, column in enumerate(table.columns)
        if at <= 1 or (column.title not in same and any(row[at] is not None for row in table.rows))
    ]
    return replace(
        table,
        columns=tuple(table.columns[at] for at in used),
        rows=[[row[at] for at in used] for row in table.rows],
    )


_RANGE = ("Occupancy from", "Occupancy to")


def same_range(kernels: Sequence[KernelRecord]) -> str:
    """Return the range of occupancy that all kernels share; empty where they differ."""
    ranges = {(kernel.occupancy_at_least, kernel.occupancy_at_most) for kernel in kernels}
    least, most = ranges.pop() if len(ranges) == 1 else (None, None)
    if least is None or most is None or len(kernels) == 1:
        return ""
    return f"Occupancy of every kernel: {units.share(least)} to {units.share(most)}."


def _command_buffers(buffers: Sequence[CommandBuffer]) -> Table:
    return tabulate(
        buffers,
        {
            Column("Command buffer", "int", "in the order of the thunk sequence"): lambda row: (
                row.number
            ),
            Column("Members", "int", "ops behind one launch"): lambda row: row.total,
            Column("Kernels", "int", "members that launch a kernel"): lambda row: row.kernels,
            Column("Instructions", "text", "in order"): lambda row: " ".join(row.members),
        },
    )


def _cards(kernels: Sequence[KernelRecord], module: ModuleKernels) -> Table:
    shown = [kernel for kernel in kernels if kernel.elsewhere][:_CARDS]
    names = list(dict.fromkeys(card.name for kernel in shown for card in kernel.elsewhere))
    columns = (
        Column("Kernel", "code"),
        Column(module.device or "This device", "precise", "the card of the other table"),
        *(Column(name, "precise", "hypothetical: same launch and registers") for name in names),
    )
    rows: list[list[Cell]] = []
    for kernel in shown:
        there = {card.name: card.occupancy for card in kernel.elsewhere}
        rows.append([kernel.name, kernel.occupancy, *(there.get(name) for name in names)])
    return Table(columns, rows)
