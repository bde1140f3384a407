from pathlib import Path

import pytest
from tests.modules import parse_module

from xlareport.analysis.modules.module_origin import Origin, find_origin
from xlareport.dump.filename import parse
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact, ModuleFiles
from xlareport.dump.source import Entry
from xlareport.hlo.model import HloModule


def module(*names: str) -> ModuleFiles:
    artifacts = [Artifact(Entry(name, 1, None, Path()), parse(name)) for name in names]
    (found,) = group(artifacts).modules
    return found


def test_a_file_that_names_the_device_is_no_guess() -> None:
    files = module("module_0001.jit_f.sm_9.0a_gpu_after_optimizations.txt")

    assert find_origin(files, []) == Origin("gpu", "jax")


def test_a_topology_says_what_was_aimed_at() -> None:
    files = module("module_0001.jit_f.before_optimizations.txt")

    assert find_origin(files, [], " cpu").backend == "cpu"
    assert find_origin(files, [], "TPU v5 lite").backend == "tpu"
    assert find_origin(files, [], "cuda 12080").backend == "gpu"
    assert find_origin(files, []).backend is None


def test_passes_that_one_compiler_has_tell_the_backend_as_a_guess() -> None:
    origin = find_origin(
        module(
            "module_0001.jit_f.0034.hlo_normalization.after_pipeline-start.before_algsimp.txt",
            "module_0001.jit_f.0035.hlo_normalization.after_triton-gemm-rewriter"
            ".before_gemm-fusion-swap-operands.txt",
        ),
        [],
    )

    assert origin.backend == "gpu"
    assert origin.backend_reason == "2 passes that only GPU compilers have, and none of others"


def test_one_pass_is_too_little() -> None:
    files = module("module_0001.jit_f.0001.simplification.after_dce.before_priority-fusion.txt")

    assert find_origin(files, []).backend is None


def calling(*targets: str) -> HloModule:
    lines = "".join(
        f'  %c{at} = f32[8] custom-call(%x), custom_call_target="{target}"\n'
        for at, target in enumerate(targets)
    )
    entry = f"ENTRY %main {{\n  %x = f32[8] parameter(0)\n{lines}  ROOT %r = f32[8] copy(%x)\n}}\n"
    text = f"HloModule m\n\n{entry}"
    return parse_module(text)


@pytest.mark.parametrize(
    ("target", "backend"),
    [
        ("__cudnn$convForward", "gpu"),
        ("__cublas$lt$matmul", "gpu"),
        ("cusolver_getrf_ffi", "gpu"),
        ("tpu_custom_call", "tpu"),
        ("lapack_sgetrf_ffi", "cpu"),
        ("AwsNeuronSilu", "neuron"),
    ],
)
def test_a_custom_call_that_one_backend_has_tells_it_as_a_guess(target: str, backend: str) -> None:
    origin = find_origin(
        module("module_0001.f.before_optimizations.txt"), [calling("Sharding", target)]
    )

    assert origin.backend == backend
    assert origin.backend_reason == f"it calls {target}, which programs for no other backend do"


def test_custom_calls_of_two_backends_tell_nothing() -> None:
    files = module("module_0001.f.before_optimizations.txt")

    assert find_origin(files, [calling("__cudnn$convForward", "lapack_sgetrf_ffi")]).backend is None
    assert find_origin(files, [calling("Sharding", "mine")]).backend is None
