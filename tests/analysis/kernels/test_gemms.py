"""Matrix products of real dumps and of texts: tile, split-K, and what tiles load, by hand."""

from collections.abc import Callable
from math import ceil, prod
from pathlib import Path

import pytest
from tests.modules import parse_module

from xlareport.analysis.kernels.gemms import ModuleGemms, read_gemms, tile_of_dot
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.program import read_module

DOT = "f32[4,8000,40]{1,2,0} dot(%l, %r), lhs_batch_dims={0}, lhs_contracting_dims={1}, \
rhs_batch_dims={1}, rhs_contracting_dims={2}"
BITCAST = "ROOT %b = f32[4,40,8000]{2,1,0} bitcast(%d)"
CONFIG = (
    'backend_config={"fusion_backend_config":{"kind":"__triton_nested_gemm_fusion",'
    '"block_level_fusion_config":{"num_warps":"4","output_tiles":[{"sizes":["1","32","64"]}],'
    '"num_stages":3}}}'
)
SPLIT = f"""HloModule m, is_scheduled=true

%add (x: f32[], y: f32[]) -> f32[] {{
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %z = f32[] add(%x, %y)
}}

%product (l: f32[256,4,196], r: f32[4,196,512]) -> f32[4,256,512] {{
  %l = f32[256,4,196] parameter(0)
  %r = f32[4,196,512] parameter(1)
  ROOT %dot = f32[4,256,512] dot(%l, %r), lhs_batch_dims={{1}}, lhs_contracting_dims={{2}}, \
rhs_batch_dims={{0}}, rhs_contracting_dims={{1}}
}}

ENTRY %main (a: f32[256,4,196], b: f32[4,196,512]) -> f32[256,512] {{
  %a = f32[256,4,196] parameter(0)
  %b = f32[4,196,512] parameter(1)
  %zero = f32[] constant(0)
  %gemm = f32[4,256,512] fusion(%a, %b), kind=kCustom, calls=%product, {CONFIG}
  ROOT %sum = f32[256,512] reduce(%gemm, %zero), dimensions={{0}}, to_apply=%add
}}
"""


def gemms_of(folder: Path) -> list[ModuleGemms]:
    with open_source(folder) as source:
        modules = [read_module(files) for files in group(name_files(source)).modules]
    return [parsed for module in modules if (parsed := read_gemms(module)) is not None]


def test_split_k_by_hand(tmp_path: Path) -> None:
    """802,816 bytes of the left for 512 / 64 tiles, 1,605,632 of the right for 256 / 32."""
    (tmp_path / "module_0001.m.sm_9.0_gpu_after_optimizations.txt").write_text(SPLIT)
    (found,) = gemms_of(tmp_path)
    (gemm,) = found.gemms
    assert (gemm.instruction, gemm.made_by, gemm.tile) == ("gemm", "Triton", (1, 32, 64))
    assert (gemm.result, gemm.contracted, gemm.split_k) == ((4, 256, 512), 196, 4)
    assert gemm.operand_bytes == 802_816 + 1_605_632
    assert gemm.loaded_bytes == 802_816 * 8 + 1_605_632 * 8
    assert gemm.partial_bytes == 2 * 4 * 4 * 256 * 512
    assert (gemm.warps, gemm.stages) == (4, 3)
    assert found.same_tile == ()


def test_without_a_device_every_tile_is_the_same(unpacked: Callable[[str], Path]) -> None:
    """The dump was compiled ahead of time: nothing was measured."""
    (found,) = gemms_of(unpacked("gpu-kernels") / "sm_90")
    assert len(found.gemms) > 2
    assert found.same_tile == (16, 8)
    assert all(gemm.loaded_bytes for gemm in found.gemms)


@pytest.mark.parametrize("version", ["75"])
def test_library_products(unpacked: Callable[[str], Path], version: str) -> None:
    """On SM 7.5 products go to cuBLAS, with the number of an algorithm."""
    (found,) = gemms_of(unpacked("gpu-kernels") / f"sm_{version}")
    assert {gemm.made_by for gemm in found.gemms} == {"__cublas$lt$matmul"}
    assert {gemm.algorithm for gemm in found.gemms} == {"0"}
    assert all(gemm.loaded_bytes is None and gemm.operand_bytes for gemm in found.gemms)


def test_no_products(data: Path) -> None:
    assert gemms_of(data / "rocm-made") == []


def tile(after: str, sizes: tuple[int, ...], dot: str = DOT) -> tuple[int, ...]:
    text = (
        "HloModule m\n\n%gemm (l: bf16[4,512,8000], r: bf16[40,4,512]) -> f32[1] {\n"
        "  %l = bf16[4,512,8000]{2,1,0} parameter(0)\n  %r = bf16[40,4,512]{2,1,0} parameter(1)\n"
        f"  %d = {dot}\n  {after}\n}}\n"
    )
    module = parse_module(text)
    (computation,) = module.computations
    return tile_of_dot(computation, computation.by_name["d"], sizes)


def test_a_bitcast_keeps_the_order_in_memory() -> None:
    """XLA launches 10,000 blocks for this dot: 4 x 5 x 500."""
    sizes = tile(BITCAST, (1, 8, 16))
    assert sizes == (1, 16, 8)
    counts = (ceil(size / step) for size, step in zip((4, 8000, 40), sizes, strict=True))
    assert prod(counts) == 10_000


@pytest.mark.parametrize(
    ("after", "sizes", "expected"),
    [
        ("ROOT %t = f32[4,40,8000] transpose(%d), dimensions={0,2,1}", (1, 8, 16), (1, 16, 8)),
        ("ROOT %c = bf16[4,8000,40]{1,2,0} convert(%d)", (1, 8, 16), (1, 8, 16)),
        ("ROOT %b = f32[4,1,40,8000]{3,2,1,0} bitcast(%d)", (1, 1, 8, 16), (1, 16, 8)),
        ("ROOT %b = f32[160,8000]{1,0} bitcast(%d)", (8, 16), ()),
        ("ROOT %r = f32[4,8000] reduce(%d, %d), dimensions={2}", (1, 16), ()),
        (BITCAST, (8, 16), ()),
    ],
)
def test_other_roots(after: str, sizes: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert tile(after, sizes) == expected
