"""Our own dump for a v5e, read, joined and counted; the counts are those of grep and awk."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import xlareport.api
from xlareport.analysis.tpu.program_record import TpuProgram
from xlareport.api import Module


@pytest.fixture(scope="module")
def modules(unpacked: Callable[[str], Path]) -> dict[str, Module]:
    with xlareport.api.read(unpacked("tpu-v5e-machine")) as report:
        return {module.name.partition(".")[0]: module for module in report.modules}


def programs(module: Module) -> dict[str, TpuProgram]:
    return {program.program: program for program in module.tpu_programs}


def test_every_call_is_attributed(modules: dict[str, Module]) -> None:
    for module in modules.values():
        assert module.problems == ()
        assert module.tpu is not None
        assert module.tpu.called_cycles
        assert module.tpu.called_cycles == module.tpu.attributed_cycles
        assert module.tpu.core == "tpu-v5e"


def test_counts_are_those_of_other_files(
    modules: dict[str, Module], unpacked: Callable[[str], Path]
) -> None:
    dump = unpacked("tpu-v5e-machine")
    for module in modules.values():
        for name, program in programs(module).items():
            if program.instruction is None:
                continue
            (final,) = dump.glob(f"*-{name}-*-final_bundles.txt")
            text = re.sub(r"/\*.*?\*/", "", final.read_text(), flags=re.DOTALL)
            bundles = re.findall(r"^ *(?:0x[0-9a-f]+|0) [^:]*:", text, flags=re.MULTILINE)
            assert program.code_bundles == len(bundles)
            assert program.vmatmul == len(re.findall(r"\bvmatmul", text))
            (table,) = dump.glob(f"*-{name}-*-pre-delay_hlo-static-per-bundle-utilization.txt")
            assert program.static_cycles == len(table.read_text().splitlines()) - 4


def test_a_kernel_with_a_grid_runs_it(modules: dict[str, Module]) -> None:
    kernel = programs(modules["jit_layers"])["product.1"]
    assert kernel.instruction == "product.1"
    assert (kernel.static_cycles, kernel.dynamic_cycles) == (243, 999)
    assert [(loop.limit, loop.runs) for loop in kernel.loops] == [(6, 6)]
    assert kernel.matrix is not None
    assert kernel.matrix.executed == 128 * 256 * 128


def test_padding_waste_divides_by_passes(modules: dict[str, Module]) -> None:
    (program,) = (it for it in modules["jit_train"].tpu_programs if it.matrix)
    assert program.runs == 5
    assert program.matrix is not None
    assert program.matrix.wanted == 32 * 96 * 96 * 6
    assert program.matrix.waste == pytest.approx((128 / 96) ** 2)


def test_cycles_become_seconds_with_the_assumed_clock(modules: dict[str, Module]) -> None:
    program = programs(modules["jit_layers"])["fusion.27"]
    assert program.dynamic_cycles is not None
    assert program.seconds == pytest.approx(program.dynamic_cycles / 1.5e9)
    assert program.hbm_seconds is not None
