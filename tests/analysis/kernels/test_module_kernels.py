"""The kernels of whole dumps: each with its launch, its instructions, and bounds that hold."""

from collections import defaultdict
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.fixtures.dumps import Unpack
from tests.ptxas_listing import listed_kernels

from xlareport.analysis.code.module_code import read_code_files
from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.analysis.kernels.module_kernels import read_kernels, with_shares
from xlareport.analysis.kernels.record import BY_NCCL, ModuleKernels
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.knowledge.devices import devices
from xlareport.program import read_module
from xlareport.ptxas import Ptxas, PtxasError, find_ptxas


def kernels_of(
    folder: Path, options: CostOptions | None = None, ptxas: Ptxas | None = None
) -> dict[str, ModuleKernels]:
    """Return the kernels of each module by its name."""
    result = {}
    with open_source(folder) as source:
        for files in group(name_files(source)).modules:
            module = read_module(files)
            kernels = read_kernels(module, read_code_files(module), options or CostOptions(), ptxas)
            if kernels is not None:
                result[files.name] = kernels
    return result


@pytest.mark.parametrize("version", ["75", "89", "90", "120"])
def test_every_kernel_is_launched_and_linked(unpacked: Unpack, version: str) -> None:
    """Launches come from thunks, instructions from their metadata; bounds hold for `ptxas -v`."""
    folder = unpacked("gpu-kernels")
    listed = defaultdict(list)
    for compiled in listed_kernels(folder / f"ptxas/sm_{version}.txt"):
        listed[compiled.name].append(compiled)
    modules = kernels_of(folder / f"sm_{version}")
    assert set(modules) == {"jit_reduce_64_float64", "jit_attention_step"}
    for module in modules.values():
        assert module.capability == f"{version[:-1]}.{version[-1]}"
        assert module.multiprocessors_source == "core_count of gpu_target_config"
        for kernel in module.kernels:
            assert kernel.instructions
            assert kernel.grade == "exact"
            assert kernel.blocks
            assert kernel.registers is None
            assert kernel.registers_at_most is not None
            assert any(
                (each.registers or 0) <= kernel.registers_at_most
                and each.shared_bytes <= (kernel.shared_bytes_at_most or 0)
                for each in listed[kernel.name]
            )


def test_with_the_assembler(unpacked: Unpack) -> None:
    """Registers and spills are known, and lie between the bounds of the same dump without it."""
    try:
        ptxas = find_ptxas()
    except PtxasError:
        pytest.skip("needs ptxas: pip install 'xlareport[ptxas]'")
    folder = unpacked("gpu-kernels") / "sm_90"
    bounds, exact = kernels_of(folder), kernels_of(folder, ptxas=ptxas)
    (spilling,) = exact["jit_reduce_64_float64"].kernels
    assert spilling.spill_bytes
    assert spilling.registers == 255
    assert exact["jit_attention_step"].compiler == ptxas.label
    for name, module in exact.items():
        for kernel, bound in zip(module.kernels, bounds[name].kernels, strict=True):
            assert kernel.name == bound.name
            assert kernel.occupancy is not None
            least = (
                bound.occupancy if bound.occupancy_at_least is None else bound.occupancy_at_least
            )
            most = bound.occupancy if bound.occupancy_at_most is None else bound.occupancy_at_most
            assert least is not None
            assert most is not None
            assert least <= kernel.occupancy <= most


def test_another_card(unpacked: Unpack) -> None:
    """`--device` asks for another card."""
    options = CostOptions(device=devices()["nvidia-a100"])
    module = kernels_of(unpacked("gpu-kernels") / "sm_90", options)["jit_attention_step"]
    assert (module.capability, module.multiprocessors, module.is_hypothetical) == ("8.0", 108, True)


def test_an_amd_dump(data: Path) -> None:
    """Registers and spills come from the code object, occupancy from the limits of its target."""
    (module,) = kernels_of(data / "rocm-made").values()
    kernels = {kernel.name: kernel for kernel in module.kernels}
    reduction = kernels["input_reduce_fusion"]
    assert (reduction.registers, reduction.shared_bytes, reduction.threads) == (128, 4096, 1024)
    assert reduction.spilled_registers
    assert reduction.spill_bytes is None
    assert reduction.occupancy == 0.5
    assert reduction.limited_by == ("registers", "scalar registers")
    assert (reduction.resident_blocks, reduction.warp_threads, reduction.waves) == (1, 64, None)
    assert reduction.scalar_registers == 104
    there = {each.name: each.waves for each in reduction.elsewhere}
    assert there["AMD Instinct MI250X (one GCD)"] == 1024 / 110
    assert not any("NVIDIA" in name for name in there)
    assert reduction.instructions == (("main", "input_reduce_fusion"),)
    assert module.device == ""


def test_a_module_without_kernels(data: Path) -> None:
    """A CPU has no kernels of this kind."""
    assert kernels_of(data / "jax-cpu-train") == {}


def test_work_that_is_not_known_has_no_share(data: Path) -> None:
    """A kernel that two instructions launch has a share where both were counted."""
    (module,) = kernels_of(data / "rocm-made").values()
    first, second = (kernel.instructions[0] for kernel in module.kernels)
    shared = with_shares(module, {first: 0.75, second: 0.0})
    assert [kernel.share for kernel in shared.kernels] == [0.75, 0.0]
    shared = with_shares(module, {first: 0.75})
    assert [kernel.share for kernel in shared.kernels] == [0.75, None]


def test_a_kernel_of_a_collective_that_nccl_is_to_run_has_no_share(data: Path) -> None:
    (module,) = kernels_of(data / "rocm-made").values()
    first, second = module.kernels
    planned = replace(module, kernels=(replace(first, strategy=BY_NCCL), second))
    shares = {kernel.instructions[0]: 0.5 for kernel in planned.kernels}
    assert [kernel.share for kernel in with_shares(planned, shares).kernels] == [None, 0.5]


def test_a_kernel_has_the_strategy_of_its_collective(tmp_path: Path) -> None:
    config = '{"collective_backend_config":{"kernel_strategy":"KERNEL_STRATEGY_DEFAULT"}}'
    (tmp_path / "module_0001.f.sm_9.0a_gpu_after_optimizations.txt").write_text(
        "HloModule f, is_scheduled=true, num_partitions=2\n\n"
        "%sum (a: f32[], b: f32[]) -> f32[] {\n"
        "  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
        "  ROOT %s = f32[] add(%a, %b)\n}\n\n"
        "ENTRY %main (x: f32[8]) -> f32[8] {\n  %x = f32[8] parameter(0)\n"
        "  %all-reduce-start.3 = f32[8] all-reduce-start(%x), replica_groups={{0,1}}, "
        f"to_apply=%sum, backend_config={config}\n"
        "  ROOT %d = f32[8] all-reduce-done(%all-reduce-start.3)\n}\n"
    )
    (tmp_path / "module_0001.f.3.ptx").write_text(
        ".version 8.8\n.target sm_90a\n.address_size 64\n\n"
        ".visible .entry all_reduce_start_3_fusion()\n.reqntid 512, 1, 1\n{\n ret;\n}\n"
    )
    (module,) = kernels_of(tmp_path).values()
    (kernel,) = module.kernels
    assert kernel.instructions == (("main", "all-reduce-start.3"),)
    assert kernel.strategy == BY_NCCL
