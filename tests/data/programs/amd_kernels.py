"""Asks LLVM for the occupancy of kernels of AMD GPUs: `amd_kernels.py LLC > amd_occupancy.tsv`.

Each kernel claims vector registers, scalar registers and LDS by its text; what LLVM says of it
stands in the comments of its assembly (llc 19.1.7).
"""

import re
import subprocess
import sys

TARGETS = ("gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1101", "gfx1200")
THREADS = (64, 128, 192, 256, 512, 1024)
VECTORS = (1, 24, 25, 33, 40, 48, 64, 72, 84, 96, 100, 113, 128, 129, 168, 192, 255)
SCALARS = (10, 76, 84, 90, 96)
SHARED = (0, 512, 4096, 10_240, 16_384, 21_504, 32_768, 65_536)
WANTED = {
    "vectors": r"\.vgpr_count: +(\d+)",
    "scalars": r"\.sgpr_count: +(\d+)",
    "shared": r"\.group_segment_fixed_size: (\d+)",
    "warp": r"\.wavefront_size: (\d+)",
    "occupancy": r"; Occupancy: (\d+)",
}


def kernel(threads, vectors, scalars, shared):
    claims = [f"~{{v{vectors - 1}}}", f"~{{s{scalars - 1}}}"]
    memory = f"@l = internal addrspace(3) global [{shared} x i8] undef" if shared else ""
    store = "store volatile i8 1, ptr addrspace(3) @l" if shared else ""
    size = f'"amdgpu-flat-work-group-size"="{threads},{threads}"'
    return f"""target triple = "amdgcn-amd-amdhsa"
{memory}
define amdgpu_kernel void @k() #0 {{
  call void asm sideeffect "", "{",".join(claims)}"()
  {store}
  ret void
}}
attributes #0 = {{ {size} "amdgpu-no-implicitarg-ptr" }}
"""


def cases():
    for vectors in VECTORS:
        for threads in THREADS:
            yield threads, vectors, 10, 0
    for shared in SHARED:
        for threads in THREADS:
            yield threads, 8, 10, shared
    for scalars in SCALARS:
        yield 64, 8, scalars, 0
        yield 256, 64, scalars, 8192


def main(llc):
    print("target", "mode", "threads", *WANTED, sep="\t")
    for target in TARGETS:
        forms = {"": []}
        if len(target) > len("gfx906"):
            wide = "-mattr=+wavefrontsize64"
            forms = {"pair": [], "alone": ["-mattr=+cumode"], "pair64": [wide]}
        for mode, options in forms.items():
            for case in cases():
                command = [llc, f"-mcpu={target}", *options, "-o", "-", "-"]
                done = subprocess.run(
                    command, input=kernel(*case), capture_output=True, text=True, check=False
                )
                found = {name: re.search(each, done.stdout) for name, each in WANTED.items()}
                if all(found.values()):
                    print(target, mode or "-", case[0], *(f[1] for f in found.values()), sep="\t")


if __name__ == "__main__":
    main(*sys.argv[1:])
