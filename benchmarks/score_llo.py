"""Checks figures of TPU programs against a table of facts.

Usage: `python benchmarks/score_llo.py FACTS.tsv DUMPS`, where FACTS has the columns dump, program,
fact and value, and DUMPS is the folder of the dumps (`NAME/NAME/...` or `NAME/...`). Prints each
fact that differs and how many agree; the exit status is 1 where one differs.
"""

import csv
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import xlareport.api
from xlareport.analysis.tpu.program_record import TpuProgram

_FACTS: Mapping[str, Callable[[TpuProgram], object]] = {
    "scheduled_bundles_final": lambda it: it.code_bundles,
    "nonempty_bundles_final": lambda it: it.nonempty_bundles,
    "static_cycles(pre-delay rows)": lambda it: it.static_cycles,
    "dynamic_cycles(scalar simulation)": lambda it: it.dynamic_cycles,
    "loop_limits": lambda it: ",".join(map(str, sorted(_limits(it)))),
    "capacity_row": lambda it: " ".join(str(unit.capacity) for unit in it.units.values()),
    "vmatmul_ops": lambda it: it.vmatmul,
    "smem_spill/fill": lambda it: f"{it.scalar_spills}/{it.scalar_fills}",
    "vector_fill_loads": lambda it: it.fill_loads,
    "vector_spill_stores": lambda it: it.spill_stores,
    "vmem_spill_slots": lambda it: it.spill_slots,
    "vreg_pressure": lambda it: it.register_pressure,
    "used_scoped_vmem_bytes": lambda it: it.vmem_bytes,
    "emitted_bundle_range(last hlo-details)": lambda it: "..".join(
        map(hex, it.emitted_range or ())
    ),
    "dma_hbm_to_vmem/vmem_to_hbm/done_wait ops": lambda it: (
        it.dma and f"{it.dma.hbm_to_vmem}/{it.dma.vmem_to_hbm}/{it.dma.waits}"
    ),
}


def main() -> None:
    """Print what differs."""
    table, dumps = Path(sys.argv[1]), Path(sys.argv[2])
    with table.open(encoding="utf-8", newline="") as file:
        facts = [*csv.DictReader(file, delimiter="\t")]
    programs = {name: _programs(dumps / name) for name in sorted({fact["dump"] for fact in facts})}
    right = 0
    for fact in facts:
        values = [
            str(_value(program, fact["fact"]))
            for program in programs[fact["dump"]]
            if program.program == fact["program"]
        ]
        right += fact["value"] in values
        if fact["value"] not in values:
            print(*fact.values(), "but here:", *values)
    print(f"{right} of {len(facts)} facts agree")
    sys.exit(right < len(facts))


def _value(program: TpuProgram, fact: str) -> object:
    kind, _, unit = fact.partition(" sum ")
    if unit and unit in program.units:
        use = program.units[unit]
        return use.used_final if kind == "final" else use.used
    return _FACTS[fact](program) if fact in _FACTS else "no such fact"


def _limits(program: TpuProgram) -> list[int]:
    return [loop.limit for loop in program.loops if loop.limit is not None]


def _programs(dump: Path) -> list[TpuProgram]:
    folder = dump / dump.name if (dump / dump.name).is_dir() else dump
    with xlareport.api.read(folder) as report:
        return [program for module in report.modules for program in module.tpu_programs]


if __name__ == "__main__":
    main()
