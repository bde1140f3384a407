"""Makes the dumps of tests/data that no program of ours can make: `derive.py NAME...`.

`ipu-dot-only` needs Graphcore's compiler, so real dot files of ours get the names that it gives;
`truncated` is what remains when the disk is full: files cut in the middle. `rocm-made`
has the names of a ROCm dump and a text of ours; its machine code is LLVM's (llc 14, gfx90a).
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).parents[1]
TRAIN = "module_0001.jit_train_step"
PIPELINE_START = "sharding-removal.after_pipeline-start.before_sharding-remover.dot"
BEFORE = "IPU.after_allocation-finder.before_forward-allocation.dot"
AFTER = "IPU.after_forward-allocation.before_hlo-memory-scheduler.dot"

IPU_NAMES = {
    f"module_0000.0001.{BEFORE}": f"module_0000.jit_init_params.0000.{PIPELINE_START}",
    f"module_0001.0001.{BEFORE}": f"{TRAIN}.0000.{PIPELINE_START}",
    f"module_0001.0002.{AFTER}": f"{TRAIN}.cpu_after_optimizations.dot",
    f"module_0002.0001.{BEFORE}": f"module_0002.jit_fn.0000.{PIPELINE_START}",
}
"""The name of a file of a TensorFlow 1.15 build for the IPU, and whose content it gets here."""

STEP = "module_0002.jit_train_step"
KEPT = {
    f"{STEP}.before_optimizations.txt": 1.0,
    f"{STEP}.before_optimizations.hlo.pb": 0.6,
    f"{STEP}.cpu_after_optimizations.txt": 0.55,
    f"{STEP}.cpu_after_optimizations.hlo.pb": 0.0,
    f"{STEP}.cpu_after_optimizations.dot": 0.4,
    f"{STEP}.cpu_after_optimizations-buffer-assignment.txt": 0.5,
    f"{STEP}.debug_options": 0.5,
    "module_0004.jit_add.before_optimizations.txt": 0.0,
}
"""The share of each file that reached the disk."""


def unpack(name: str, folder: Path) -> Path:
    archive = DATA / f"{name}.tar.zst"
    subprocess.run(
        ["tar", "--use-compress-program=zstd -d --long=27", "-xf", archive, "-C", folder],
        check=True,
    )
    return folder / name


def empty_folder(name: str) -> Path:
    folder = DATA / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def ipu_dot_only(scratch: Path) -> None:
    source, target = unpack("jax-0.4.13-cpu-train", scratch), empty_folder("ipu-dot-only")
    for name, content in IPU_NAMES.items():
        shutil.copyfile(source / content, target / name)


def truncated(scratch: Path) -> None:
    source, target = unpack("jax-cpu-train-allformats", scratch), empty_folder("truncated")
    for name, share in KEPT.items():
        content = (source / name).read_bytes()
        (target / name).write_bytes(content[: int(len(content) * share)])


ROCM = "module_0003.jit_sums"
ROCM_HLO = """\
HloModule jit_sums, is_scheduled=true, entry_computation_layout={(f32[1048576]{0})->f32[1024]{0}}

%fused_add (param_0: f32[1048576]) -> f32[1048576] {
  %param_0 = f32[1048576]{0} parameter(0)
  %one = f32[] constant(1)
  %ones = f32[1048576]{0} broadcast(%one), dimensions={}
  ROOT %add = f32[1048576]{0} add(%param_0, %ones)
}

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add.1 = f32[] add(%x, %y)
}

%sums (param_0.1: f32[1048576]) -> f32[1024] {
  %param_0.1 = f32[1048576]{0} parameter(0)
  %zero = f32[] constant(0)
  %rows = f32[1024,1024]{1,0} bitcast(%param_0.1)
  ROOT %reduce = f32[1024]{0} reduce(%rows, %zero), dimensions={1}, to_apply=%sum
}

ENTRY %main (p: f32[1048576]) -> f32[1024] {
  %p = f32[1048576]{0} parameter(0)
  %loop_add_fusion = f32[1048576]{0} fusion(%p), kind=kLoop, calls=%fused_add
  ROOT %input_reduce_fusion = f32[1024]{0} fusion(%loop_add_fusion), kind=kInput, calls=%sums
}
"""
ROCM_THUNKS = "".join(
    f"{order} {name} grid: [{blocks}, 1, 1] threads: [{threads}, 1, 1]  shared_memory: 0 bytes\n"
    for order, name, blocks, threads in (
        ("001: kCustomKernel [source       | next=002 (1)]", "loop_add_fusion", 4096, 256),
        ("002: kCustomKernel [prev=001 (1) | sink        ]", "input_reduce_fusion", 1024, 1024),
    )
)
LIVE = 160
"""Values that a thread of the reduction keeps: more than the 128 registers of 1,024 threads."""


def rocm_made(scratch: Path) -> None:
    target = empty_folder("rocm-made")
    (target / f"{ROCM}.gfx90a_gpu_after_optimizations.txt").write_text(ROCM_HLO)
    (target / f"{ROCM}.thunk_sequence.txt").write_text(ROCM_THUNKS)
    text = scratch / "kernels.ll"
    text.write_text("\n".join(amd_kernels()) + "\n")
    options = ["-opaque-pointers", "-mcpu=gfx90a", "-filetype=obj"]
    code = target / f"{ROCM}.hsaco"
    subprocess.run(["llc", *options, "-o", code, text], check=True)


def amd_kernels() -> list[str]:
    """Return two kernels as LLVM IR; the second one keeps more values than it has registers."""
    arguments = "(ptr addrspace(1) %a, ptr addrspace(1) %b)"
    loads = [
        line.replace("#", str(number)).replace("@", str(number * 977))
        for number in range(LIVE)
        for line in (
            "%i# = add i32 %tid, @",
            "%p# = getelementptr float, ptr addrspace(1) %a, i32 %i#",
            "%v# = load volatile float, ptr addrspace(1) %p#",
        )
    ]
    stores = [
        line.replace("#", str(number)).replace("@", str(LIVE - 1 - number))
        for number in range(LIVE)
        for line in (
            "%o# = getelementptr float, ptr addrspace(1) %b, i32 %i#",
            "store volatile float %v@, ptr addrspace(1) %o#",
        )
    ]
    return [
        'target triple = "amdgcn-amd-amdhsa"',
        "@lds = internal addrspace(3) global [1024 x float] undef, align 16",
        "declare i32 @llvm.amdgcn.workitem.id.x()",
        f"define amdgpu_kernel void @loop_add_fusion{arguments} #0 {{",
        "%x = load float, ptr addrspace(1) %a",
        "%y = fadd float %x, 1.0",
        "store float %y, ptr addrspace(1) %b",
        "ret void",
        "}",
        f"define amdgpu_kernel void @input_reduce_fusion{arguments} #1 {{",
        "%tid = call i32 @llvm.amdgcn.workitem.id.x()",
        *loads,
        "%q = getelementptr [1024 x float], ptr addrspace(3) @lds, i32 0, i32 %tid",
        "store volatile float %v0, ptr addrspace(3) %q",
        "%w = load volatile float, ptr addrspace(3) %q",
        "store volatile float %w, ptr addrspace(1) %b",
        *stores,
        "ret void",
        "}",
        'attributes #0 = { "amdgpu-flat-work-group-size"="1,256" }',
        'attributes #1 = { "amdgpu-flat-work-group-size"="1,1024" }',
    ]


MAKERS = {"ipu-dot-only": ipu_dot_only, "truncated": truncated, "rocm-made": rocm_made}


def main() -> None:
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as scratch:
            MAKERS[name](Path(scratch))


if __name__ == "__main__":
    main()
