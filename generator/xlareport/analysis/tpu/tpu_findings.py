"""Rules about what instructions run as on a TPU; each names the figures that it rests on."""

from collections.abc import Callable, Iterator

from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.findings.rules import merge_findings
from xlareport.analysis.tpu.core_units import LATENCY, PARTS
from xlareport.analysis.tpu.program_record import TpuModule, TpuProgram
from xlareport.runtime import units

_SHARE = 0.05
"""Part of the time of all programs that one has to take to be worth a word."""
_SPILLED = 0.1
"""Part of the load or store slots that spilled registers take."""
_FULL, _IDLE = 0.8, 0.3
_WASTE = 1.5
_NEAR = 0.9
"""Part of the VMEM."""
_EMPTY = 1 / 3
_REGISTERS = 64
"""Vector registers of a core."""

TpuRule = Callable[[TpuProgram, TpuModule], str | None]
"""Returns the figures that a finding rests on; None where there is nothing to say."""


def find_tpu_findings(tpu: TpuModule) -> tuple[Finding, ...]:
    """Return the findings about the programs of a module, the largest effect first."""
    total = sum(_time(program) for program in tpu.programs if program.instruction)
    heavy = [
        program
        for program in tpu.programs
        if program.instruction and _time(program) >= _SHARE * total > 0
    ]
    return merge_findings(finding for program in heavy for finding in _findings(program, tpu))


def _time(program: TpuProgram) -> float:
    return (program.run_seconds or 0.0) * (program.runs or 1)


def _findings(program: TpuProgram, tpu: TpuModule) -> Iterator[Finding]:
    for key, (rule, title, grade, severity, suggestion) in _RULES.items():
        evidence = rule(program, tpu)
        if evidence:
            yield Finding(
                rule=key,
                title=title,
                places=((program.computation or "", program.instruction or ""),),
                evidence=f"`{program.instruction}`: {evidence}.",
                suggestion=suggestion,
                grade=grade,
                weight=_time(program),
                severity=severity,
            )


def _spills(program: TpuProgram, _: TpuModule) -> str | None:
    """Report registers spilled inside of a loop that runs more than once."""
    stores, loads = program.units.get("VSTORE:SPILL"), program.units.get("VLOAD:FILL")
    shares = [unit.dynamic_share for unit in (stores, loads) if unit and unit.dynamic_share]
    looped = any(loop.runs is not None and loop.runs > 1 for loop in program.loops)
    if not looped or max(shares, default=0.0) < _SPILLED:
        return None
    pressure = program.register_pressure
    needed = f", {pressure} vector registers needed of {_REGISTERS}" if pressure else ""
    return (
        f"{units.count(program.spill_stores or 0)} spill stores and "
        f"{units.count(program.fill_loads or 0)} fill loads in the code, "
        f"up to {units.share(max(shares))} of the slots of a run{needed}"
    )


def _full_unit(program: TpuProgram, _: TpuModule) -> str | None:
    """Report a unit that is nearly full in a program whose MXU mostly waits."""
    mxu = program.units.get("MXU")
    if not program.vmatmul or mxu is None or mxu.share is None or mxu.share >= _IDLE:
        return None
    others = {name: unit for name, unit in program.units.items() if name not in {*PARTS, "MXU"}}
    full = {name: unit.share for name, unit in others.items() if unit.share and unit.share >= _FULL}
    if not full:
        return None
    name = max(full, key=lambda unit: full[unit])
    return f"{name} is used {units.share(full[name])}, the MXU {units.share(mxu.share)}"


def _padding(program: TpuProgram, _: TpuModule) -> str | None:
    """Report matrix units that multiply mostly padding."""
    work = program.matrix
    if work is None or work.waste is None or work.waste <= _WASTE or not work.wanted:
        return None
    return (
        f"{units.count(work.executed or 0)} multiply-adds executed on each of {work.cores or 1} "
        f"cores for {units.count(work.wanted)} asked for: {work.waste:.1f} times as many"
    )


def _vmem(program: TpuProgram, tpu: TpuModule) -> str | None:
    """Report scratch that nearly fills the VMEM."""
    capacity, used = tpu.summary.vmem_capacity, program.vmem_bytes
    if not capacity or not used or used < _NEAR * capacity:
        return None
    return f"{units.byte_size(used)} of {units.byte_size(capacity)} VMEM"


def _dma_waits(program: TpuProgram, _: TpuModule) -> str | None:
    """Report a loop that waits for DMA while no unit is busy for long."""
    waiting = [loop for loop in program.loops if loop.dma_waits and (loop.runs or 0) > 1]
    if not waiting or program.bottleneck != LATENCY:
        return None
    busy = max((unit.share or 0.0 for unit in program.units.values()), default=0.0)
    loop = max(waiting, key=lambda loop: loop.runs or 0)
    return (
        f"{units.plural(loop.dma_waits, 'wait')} for DMA in a loop that runs "
        f"{units.plural(loop.runs or 0, 'time')}; the busiest unit is used {units.share(busy)}"
    )


def _empty(program: TpuProgram, _: TpuModule) -> str | None:
    """Report a schedule of which much starts nothing."""
    share = program.empty_share
    if share is None or share <= _EMPTY:
        return None
    return f"{units.share(share)} of {units.count(program.static_cycles or 0)} cycles start nothing"


_RULES: dict[str, tuple[TpuRule, str, str, str, str]] = {
    "tpu-spills": (
        _spills,
        "Spilled registers in a hot loop",
        "exact",
        "medium",
        (
            "Make the block that one iteration works on smaller, or split the kernel or fusion, so "
            "that fewer values live at once."
        ),
    ),
    "tpu-full-unit": (
        _full_unit,
        "Saturated unit and an idle MXU",
        "exact",
        "low",
        (
            "Reduce the work of that unit: fewer transposes, casts or elementwise operations "
            "around the matmul, and bf16 if the chip supports it."
        ),
    ),
    "tpu-padding-waste": (
        _padding,
        "MXU padding",
        "matched",
        "medium",
        (
            "Make the contracted and the minor dimension of the product multiples of the MXU's "
            "size, 128 up to v5p and 256 from v6e on, or merge small dimensions."
        ),
    ),
    "tpu-vmem": (
        _vmem,
        "VMEM nearly full",
        "exact",
        "low",
        "Use smaller blocks: data that is prefetched during the program also needs VMEM.",
    ),
    "tpu-dma-waits": (
        _dma_waits,
        "Loop that waits for DMA",
        "guessed",
        "low",
        (
            "Use larger blocks, or more of them in flight, so that more work shares each wait. "
            "Only a profile shows how long a wait takes."
        ),
    ),
    "tpu-empty-bundles": (
        _empty,
        "Empty bundles",
        "exact",
        "low",
        (
            "Give an iteration more independent work: a larger block, or an unrolled loop, fills "
            "the cycles that wait for a latency."
        ),
    ),
}
TPU_RULES = tuple(_RULES)
"""Their keys."""
