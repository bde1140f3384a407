from msgspec.structs import replace

from xlareport.analysis.tpu.core_units import LATENCY
from xlareport.analysis.tpu.program_record import (
    MatrixWork,
    TpuLoop,
    TpuModule,
    TpuProgram,
    TpuSummary,
    UnitUse,
)
from xlareport.analysis.tpu.tpu_findings import TPU_RULES, find_tpu_findings

SUMMARY = TpuSummary(100, 100, "tpu-v5e", 1.5e9, 1_000_000, ())
LOOP = TpuLoop(4, 90, 1, 0, 1, 10, 10)
QUIET = TpuProgram(
    program="fusion.1",
    instruction="fusion.1",
    computation="main",
    code_bundles=100,
    nonempty_bundles=90,
    static_cycles=100,
    dynamic_cycles=1000,
    dynamic_reason="",
    loops=(LOOP,),
    units={},
    bottleneck="VALU",
    spill_stores=0,
    fill_loads=0,
    spill_slots=0,
    scalar_spills=0,
    scalar_fills=0,
    register_pressure=None,
    vmatmul=4,
    dma=None,
    matrix=None,
    seconds=1e-6,
)


def use(share: float) -> UnitUse:
    return UnitUse(1, 1, share, None, share)


def rules(program: TpuProgram) -> list[str]:
    return [finding.rule for finding in find_tpu_findings(TpuModule((program,), SUMMARY))]


CASES = {
    "tpu-spills": replace(QUIET, units={"VSTORE:SPILL": use(0.4)}, spill_stores=7),
    "tpu-full-unit": replace(QUIET, units={"MXU": use(0.1), "VALU": use(0.9)}),
    "tpu-padding-waste": replace(QUIET, matrix=MatrixWork(200, 100, 1, 2.0)),
    "tpu-vmem": replace(QUIET, vmem_bytes=950_000),
    "tpu-dma-waits": replace(QUIET, loops=(replace(LOOP, dma_waits=2),), bottleneck=LATENCY),
    "tpu-empty-bundles": replace(QUIET, nonempty_bundles=50),
}


def test_each_rule_finds_its_case_alone() -> None:
    assert set(CASES) == set(TPU_RULES)
    for rule, program in CASES.items():
        assert rules(program) == [rule]


def test_nothing_is_said_without_figures() -> None:
    assert rules(QUIET) == []
    unknown = replace(QUIET, static_cycles=None, nonempty_bundles=None, seconds=None, loops=())
    assert rules(unknown) == []
    for program in CASES.values():
        assert rules(replace(program, seconds=None)) == []


def test_what_takes_little_time_is_left_out() -> None:
    long = replace(QUIET, program="fusion.2", instruction="fusion.2", seconds=1e-3)
    module = TpuModule((CASES["tpu-vmem"], long), SUMMARY)
    assert find_tpu_findings(module) == ()
